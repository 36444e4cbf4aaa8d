"""Fleets for a demand over the day: whole systems, racks, power, and what owning, renting or an API costs."""
