"""The page Catalog: facts, who states them, and the user's own beside them."""
