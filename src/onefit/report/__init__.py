"""Reports: what searches and studies have found, as pages and files."""
