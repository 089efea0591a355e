"""`make compare`: our answers beside those of other private methods, of no privacy at all, and of what is possible."""
