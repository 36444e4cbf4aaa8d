"""Unexpected errors and crashes: logged, shown once, offered as a report."""
