"""Sheets on paper: laid out, drawn, written as PDF, previewed and printed, all with the same code."""
