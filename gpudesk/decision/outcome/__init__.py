"""The decision on an answered scenario, and changes that would alter it."""
