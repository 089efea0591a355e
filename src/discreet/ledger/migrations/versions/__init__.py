"""The layouts, oldest first. A file that was released is never changed: a new layout is a new file."""
