"""What is said about an answer, and the files it is written to: texts, tables, explanations, exports."""
