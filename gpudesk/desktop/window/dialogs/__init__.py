"""Dialogs of the window, each loaded when it is first opened."""
