"""Private hypothesis tests."""
