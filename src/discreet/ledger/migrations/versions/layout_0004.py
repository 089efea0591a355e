"""One table more: the sources that data stewards have added to the service."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make it, empty; nothing that was there is touched."""
    op.create_table(
        "discreet_sources",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("entry", sa.BigInteger, nullable=False),
    )
