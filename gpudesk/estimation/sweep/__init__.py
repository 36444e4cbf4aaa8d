"""Sweeps over a grid of deployments and loads, written block by block."""
