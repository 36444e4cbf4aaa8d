"""Charts: plots of curves with their own axes, labels and read-outs, and bars painted like tables."""
