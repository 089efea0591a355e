"""The tables of the first ledgers: who it is, entries, accounts, answers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them; a ledger that has them already is stamped instead."""
    op.create_table(
        "discreet_ledger",
        sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1"), primary_key=True, autoincrement=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("ledger", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("accounts", sa.Text, nullable=False),
    )
    op.create_table(
        "discreet_entries",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("population", sa.Text, nullable=False),
        sa.Column("analyst", sa.Text),
        sa.Column("request", sa.Text, unique=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
    )
    op.create_index("discreet_entries_of", "discreet_entries", ["population", "number"])
    op.create_table(
        "discreet_accounts",
        sa.Column("population", sa.Text, primary_key=True),
        sa.Column("analyst", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
    )
    op.create_table(
        "discreet_answers",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("entry", sa.BigInteger, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
    )
