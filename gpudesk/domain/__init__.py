"""Value types: what a scenario asks, what the catalog knows, and what an answer, a cost and a decision are."""
