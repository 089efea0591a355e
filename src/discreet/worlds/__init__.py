"""Made-up worlds: what is assumed of data that nobody has read, so that a statistic can say how far off it will be."""
