"""The tree of lines that explains a selected figure."""
