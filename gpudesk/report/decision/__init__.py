"""Texts of the guided decision: questions, rules, verdict, and advice on buying."""
