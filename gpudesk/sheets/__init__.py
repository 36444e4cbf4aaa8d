"""What a comparison sheet says, and the forms in which it is written: HTML, Markdown, CSV, JSON."""
