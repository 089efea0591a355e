"""Release plans: a file that says what will be published, checked, forecast and composed before any data is read."""
