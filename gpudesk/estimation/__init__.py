"""Estimates of deployments: plan search, curves, pools, sizing, sweeps and derivations."""
