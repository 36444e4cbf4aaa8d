"""How many accelerators a model or a demand needs, and how they scale."""
