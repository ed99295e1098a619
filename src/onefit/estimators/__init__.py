"""The scikit-learn faces: validation and manners, no mathematics."""
