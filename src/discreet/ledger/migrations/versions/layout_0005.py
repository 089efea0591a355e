"""One table more: codes with which people choose a password, once."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make it, empty; nothing that was there is touched."""
    op.create_table(
        "discreet_codes",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
        sa.Column("entry", sa.BigInteger, nullable=False),
    )
