"""What Alembic runs: the missing migrations, in the transaction that it was given."""

from alembic import context

from discreet.ledger.ledger_tables import LAYOUT


def run() -> None:
    """All of it."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, version_table=LAYOUT.name, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # as Alembic calls it: to import this file runs nothing
    run()
