"""FriendlyCore: find the rows that agree with each other, wherever they are, and answer from those."""
