"""Item models of Qt: what tables and lists of the window show, without how it is painted."""
