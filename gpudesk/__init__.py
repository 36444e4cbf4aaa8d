"""GPU Desk: which accelerators can serve a model, how many, how fast and at what cost, with the sources."""

__version__ = "0.1.0"
