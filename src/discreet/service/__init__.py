"""`discreet serve`: a server that holds the data, the ledger and its key, for analysts, stewards and auditors."""
