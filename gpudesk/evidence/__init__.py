"""Measurements: who measured what, the constants that are fitted to it, and how far off the fit is."""
