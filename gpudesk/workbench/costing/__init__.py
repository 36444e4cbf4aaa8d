"""What a comparison costs: inputs with their sources, costs, and what is not known of them."""
