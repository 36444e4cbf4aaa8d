"""Views of the Decide page about buying: when, from whom, on what terms."""
