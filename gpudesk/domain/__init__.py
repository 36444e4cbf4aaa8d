"""Value types: scenarios and catalog entries, and answers, costs and decisions."""
