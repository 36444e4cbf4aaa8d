"""What serving a model costs: inputs, cost of ownership, rent, cost per token, break-even, uncertainty."""
