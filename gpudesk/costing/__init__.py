"""The cost of serving a model: inputs, cost of ownership, rent, cost per token, break-even, uncertainty."""
