"""The catalog: schema, build, reading, user facts, import."""
