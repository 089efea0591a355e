"""What Alembic runs: the missing migrations, in the transaction that it was given."""

from alembic import context

from discreet.ledger.database import LAYOUT

context.configure(connection=context.config.attributes["connection"], version_table=LAYOUT.name, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
