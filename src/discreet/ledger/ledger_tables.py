"""The tables of the newest layout: those of the ledger, and those of the service on it.

The service's tables hold who may ask and what was asked. What was decided and what was spent is in the chain of
entries, which alone is believed: an approval counts if its signed entry says so, and an answer is shown from where
`store` put it.
"""

from typing import Final

import sqlalchemy as sa

METADATA: Final = sa.MetaData()
LEDGER: Final = sa.Table(
    "discreet_ledger",  # one row: who the ledger is, and its head
    METADATA,
    sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1"), primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("ledger", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
    sa.Column("accounts", sa.Text, nullable=False),  # the signature of all accounts as they are at this head
)
ENTRIES: Final = sa.Table(
    "discreet_entries",
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("population", sa.Text, nullable=False),
    sa.Column("analyst", sa.Text),
    sa.Column("request", sa.Text, unique=True),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),  # the head's, when this was the last
    sa.Index("discreet_entries_of", "population", "number"),
)
ACCOUNTS: Final = sa.Table(
    "discreet_accounts",  # what is spent, kept with the entries, so that a balance is one row however many there are
    METADATA,
    sa.Column("population", sa.Text, primary_key=True),
    sa.Column("analyst", sa.Text, primary_key=True),  # "" is the whole population
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
)
ANSWERS: Final = sa.Table(
    "discreet_answers",
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),  # of the charge
    sa.Column("entry", sa.BigInteger, nullable=False),  # that records the answer
    sa.Column("answer", sa.Text, nullable=False),
)
PUBLIC_HEADS: Final = sa.Table(
    "discreet_public_heads",  # heads that were signed for those who have no key: see public_seal.py
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
)
PEOPLE: Final = sa.Table(
    "discreet_people",
    METADATA,
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
    METADATA,
    sa.Column("token", sa.Text, primary_key=True),  # SHA-256 of it, here and below
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("csrf", sa.Text, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
)
TOKENS: Final = sa.Table(
    "discreet_tokens",
    METADATA,
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
    METADATA,
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
    METADATA,
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
IDENTITIES: Final = sa.Table(
    "discreet_identities",  # who an outside provider of identities means by a subject
    METADATA,
    sa.Column("issuer", sa.Text, primary_key=True),
    sa.Column("subject", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),  # of one of the people
    sa.Column("made", sa.Float, nullable=False),
)
SERVICE: Final = (PEOPLE, SESSIONS, TOKENS, REQUESTS, RULES, IDENTITIES)  # since layout 0003
SOURCES: Final = sa.Table(
    "discreet_sources",  # those that stewards have added
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("entry", sa.BigInteger, nullable=False),  # of the chain, that declares it as it is now
)
CODES: Final = sa.Table(
    "discreet_codes",  # with which people choose a password, once: after they were added, or somebody reset them
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),  # of one of the people
    sa.Column("code", sa.Text, nullable=False),  # SHA-256 of it
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("entry", sa.BigInteger, nullable=False),  # of the chain, that made it
)
LAYOUT: Final = sa.Table(
    "discreet_layout",  # which of migrations/versions the tables are; Alembic's own, under a name of ours
    METADATA,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="discreet_layout_pkc"),
)
LAYOUTS: Final = ("0001", "0002", "0003", "0004", "0005")  # all that were ever made, the newest last
