"""Readers of imported files: each makes a proposal and writes nothing."""
