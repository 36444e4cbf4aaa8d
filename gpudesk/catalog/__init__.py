"""The SQLite catalog: built from the files of `data/`, opened read-only, answered in domain objects."""
