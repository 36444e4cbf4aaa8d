"""Models from Hugging Face configurations and checkpoints."""
