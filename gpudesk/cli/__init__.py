"""The command line: the same functions without a window."""
