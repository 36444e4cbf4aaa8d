"""Explanations of single figures: derivation, limiter, measured runs, claims and sources."""
