"""The tables of the service, kept in the ledger's database: people, sessions, tokens, requests, rules.

They hold who may ask and what was asked. What was decided and what was spent is in the chain of entries, which alone is
believed: an approval counts if its signed entry says so, and an answer is shown from where `store` put it.
"""

from typing import Final

import sqlalchemy as sa

from discreet.ledger.database import LOCK

SERVICE: Final = sa.MetaData()
PEOPLE: Final = sa.Table(
    "discreet_people",
    SERVICE,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("salt", sa.Text, nullable=False),
    sa.Column("password", sa.Text, nullable=False),  # scrypt of it
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("locked", sa.Float, nullable=False),  # until when
    sa.Column("made", sa.Float, nullable=False),
)
SESSIONS: Final = sa.Table(
    "discreet_sessions",
    SERVICE,
    sa.Column("token", sa.Text, primary_key=True),  # SHA-256 of it, here and below
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("csrf", sa.Text, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
)
TOKENS: Final = sa.Table(
    "discreet_tokens",
    SERVICE,
    sa.Column("token", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("scopes", sa.Text, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("made", sa.Float, nullable=False),
)
REQUESTS: Final = sa.Table(
    "discreet_requests",
    SERVICE,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("analyst", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),  # the analyst's plan
    sa.Column("plan", sa.Text, nullable=False),  # its digest, bound to data and analyst: what an approval signs
    sa.Column("question", sa.Text, nullable=False),  # the digest of what is asked, whoever asks and however it is named
    sa.Column("columns", sa.Text, nullable=False),
    sa.Column("foreseen", sa.Text, nullable=False),
    sa.Column("epsilon", sa.Float, nullable=False),
    sa.Column("delta", sa.Float, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("decided", sa.Float),
    sa.Column("decided_by", sa.Text),
    sa.Column("rule", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("entry", sa.BigInteger),  # of the chain, that approves it
    sa.Column("due", sa.Float),  # when the answer leaves
    sa.Column("slot", sa.Float),  # until when a worker is taken to be busy with it
    sa.Column("began", sa.Float),
    sa.Column("worker", sa.Text),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("said", sa.Text),  # why there is no answer, decided by public facts
    sa.Column("answered", sa.Text),  # the ledger's request that holds the answer
    sa.Column("published", sa.Float),
    sa.Index("discreet_requests_state", "state", "made"),
    sa.Index("discreet_requests_analyst", "analyst", "made"),
    sa.Index("discreet_requests_question", "question"),
)
RULES: Final = sa.Table(
    "discreet_rules",
    SERVICE,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("analyst", sa.Text),  # or everybody
    sa.Column("columns", sa.Text, nullable=False),
    sa.Column("epsilon", sa.Float, nullable=False),
    sa.Column("delta", sa.Float, nullable=False),
    sa.Column("days", sa.Float, nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
)


def create_service_tables(connection: sa.Connection) -> None:
    """Make the tables that are not there; of several processes at once, one does."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
    SERVICE.create_all(connection)
