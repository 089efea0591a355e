"""Measurements: `make bench` and `make audit`."""
