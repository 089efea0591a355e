"""What statistics are made of: locate, clip, frame, sum."""
