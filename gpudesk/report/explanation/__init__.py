"""Explanations of single figures: working, limiter, measured runs, claims and sources."""
