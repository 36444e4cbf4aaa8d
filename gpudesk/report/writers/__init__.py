"""Writers of files: HTML, Markdown, CSV, XLSX, JSON and aligned text."""
