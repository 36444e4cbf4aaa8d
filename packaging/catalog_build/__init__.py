"""Building the shipped catalog from `data/`."""
