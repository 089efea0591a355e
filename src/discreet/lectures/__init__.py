"""The algorithms of the lectures, under their own names."""
