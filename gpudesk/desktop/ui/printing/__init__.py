"""Sheets on paper: layout, drawing, PDF and printer."""
