"""A table, its people, its ledger: every question is charged before the data is read."""
