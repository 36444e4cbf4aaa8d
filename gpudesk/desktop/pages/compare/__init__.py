"""The page Compare: headline answers, and everything that is known of the parts side by side."""
