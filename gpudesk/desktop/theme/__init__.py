"""How the window looks: colours, type, icons, and what is painted the same on screen and on paper."""
