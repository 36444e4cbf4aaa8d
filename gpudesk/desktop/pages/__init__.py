"""The pages of the window: each shows one view of the desk's answer."""
