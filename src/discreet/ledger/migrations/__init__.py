"""How the ledger's tables came to be: one file in `versions` a layout, run by `discreet.ledger.layout`."""
