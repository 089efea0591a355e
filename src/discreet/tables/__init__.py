"""Everything that turns what people have into rows of people."""
