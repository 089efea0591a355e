"""Noise fitted to the data, safely."""
