"""Private statistics of one table."""
