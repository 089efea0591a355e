"""Where blocks are worked on. Two methods each: `map` and `fold`."""
