"""The pages of the window: each shows the desk's answer from one side."""
