"""The decision on an answered scenario, and what would change it."""
