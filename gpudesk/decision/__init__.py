"""The recommendation and its reasons: rules of documents, facts, the decision, and purchasing."""
