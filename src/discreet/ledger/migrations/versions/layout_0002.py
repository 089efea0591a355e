"""One table more: heads that are signed with a private key, for auditors who have the public one."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make it, empty; nothing that was there is touched."""
    op.create_table(
        "discreet_public_heads",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
    )
