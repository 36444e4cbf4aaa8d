"""Worked examples: figures that documents print, worked out again from their own inputs."""
