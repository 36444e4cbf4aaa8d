"""How much memory a model takes and how fast it runs: vectorized, pure."""
