"""Derivations of an estimate's figures as trees of terms."""
