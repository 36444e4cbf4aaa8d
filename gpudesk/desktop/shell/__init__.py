"""The frame around the pages: top bar, rail, scenario bar, status bar, command palette and dialogs."""
