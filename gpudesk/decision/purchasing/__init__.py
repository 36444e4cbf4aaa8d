"""Purchasing: buy or wait, routing over two accelerators, export control, procurement."""
