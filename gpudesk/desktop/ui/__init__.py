"""The UI kit: theme, widgets, tables, charts, panel and printing. It imports no page, desk or window."""
