"""The Performance page."""
