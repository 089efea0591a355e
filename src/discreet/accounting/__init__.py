"""Numbers out of losses: composition, conversion, calibration, amplification, budgets."""
