"""Charts: curves over two axes and bars in rows, painted from plain data."""
