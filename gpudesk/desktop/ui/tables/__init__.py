"""Tables: one that paints its own cells, one of plain text, one of figures."""
