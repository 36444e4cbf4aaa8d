"""Readers of what the user brings: files to proposals, which write nothing."""
