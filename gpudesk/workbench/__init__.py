"""The use cases without a window: questions in, frozen answers out."""
