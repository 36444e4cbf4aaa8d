"""The comparison of accelerators: rows, headline answers, the sheet, the effect of a change."""
