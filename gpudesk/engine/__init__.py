"""Memory and speed of a model on accelerators: vectorized pure functions."""
