"""From an answered scenario and what the user says in the dialogue to a decision."""
