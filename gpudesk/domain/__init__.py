"""What things are: accelerators, models, workloads, deployments, claims, scenarios, answers."""
