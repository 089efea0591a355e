"""What is promised: neighbours, losses, guarantees, releases and their intervals; pure values."""
