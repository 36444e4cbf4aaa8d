"""What to choose and why: rules of documents, facts, the decision, and purchasing."""
