"""What is promised: neighbours, losses, guarantees and releases, as pure values."""
