"""Tables as people have them: files, frames and databases, read lazily, one row for each person."""
