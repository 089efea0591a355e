"""Mechanisms that fit the noise to the data: smooth sensitivity, propose-test-release, inverse sensitivity."""
