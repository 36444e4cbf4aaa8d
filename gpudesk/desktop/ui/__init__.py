"""The UI kit: theme, widgets, tables, charts, the panel's lines and printing. It knows no page, desk or window."""
