"""Randomness. All noise in discreet is drawn here, through one door, in integers."""
