"""A table, its people, its ledger: every question is charged before the data is read."""

from discreet.session.private import Session, open  # noqa: A004  as people call it: discreet.open

__all__ = ["Session", "open"]
