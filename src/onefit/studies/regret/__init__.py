"""Which criterion should I use? The study of our own: what the choice of every criterion costs on real data."""
