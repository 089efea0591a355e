"""Compiled passes: each gives the integers of its plain twin, and is loaded for large inputs only."""
