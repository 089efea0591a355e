"""Other people's code on private rows: cells that share nothing, cannot speak and end on time."""
