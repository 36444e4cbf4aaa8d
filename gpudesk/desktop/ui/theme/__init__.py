"""Colors, type, icons and the painter that screen and paper share."""
