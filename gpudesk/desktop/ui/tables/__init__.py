"""Tables: one painted in one pass, one of plain texts, one of figures."""
