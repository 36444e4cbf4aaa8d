"""Texts, tables, explanations and exported files of answers."""
