"""GPU Desk: which accelerators can serve a model, how many, how fast, at what cost, and on whose word."""

__version__ = "0.1.0"
