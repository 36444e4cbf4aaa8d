"""Formatting, units, translation and messages; imports nothing else of the project but paths."""
