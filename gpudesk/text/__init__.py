"""Formatting, units, translation and messages; imports no other package of the project except paths."""
