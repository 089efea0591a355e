"""The service's tables, which earlier releases made beside the layouts, and one for identities from outside."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make those that are not there; those that a service has made already are the same, and keep their rows."""
    op.create_table(
        "discreet_people",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("salt", sa.Text, nullable=False),
        sa.Column("password", sa.Text, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("locked", sa.Float, nullable=False),
        sa.Column("made", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "discreet_sessions",
        sa.Column("token", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("csrf", sa.Text, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "discreet_tokens",
        sa.Column("token", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
        sa.Column("made", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "discreet_requests",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("analyst", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
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
        sa.Column("entry", sa.BigInteger),
        sa.Column("due", sa.Float),
        sa.Column("slot", sa.Float),
        sa.Column("began", sa.Float),
        sa.Column("worker", sa.Text),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("said", sa.Text),
        sa.Column("answered", sa.Text),
        sa.Column("published", sa.Float),
        if_not_exists=True,
    )
    op.create_index("discreet_requests_state", "discreet_requests", ["state", "made"], if_not_exists=True)
    op.create_index("discreet_requests_analyst", "discreet_requests", ["analyst", "made"], if_not_exists=True)
    op.create_index("discreet_requests_question", "discreet_requests", ["question"], if_not_exists=True)
    op.create_table(
        "discreet_rules",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("analyst", sa.Text),
        sa.Column("columns", sa.Text, nullable=False),
        sa.Column("epsilon", sa.Float, nullable=False),
        sa.Column("delta", sa.Float, nullable=False),
        sa.Column("days", sa.Float, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.Column("made", sa.Float, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "discreet_identities",
        sa.Column("issuer", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("made", sa.Float, nullable=False),
        if_not_exists=True,
    )
