"""Engines by address, for plans and the command line, and the engine of a frame that has one."""

from typing import Any

from discreet.errors import BadInput


def engine_of(given: Any, source: Any = None) -> Any:
    """The engine that was given, or is at an address; without one, that of a frame of Dask or Spark; else None.

    Addresses are dask://host:8786, spark://host:7077, sc://host:15002 (Spark Connect), and, for this machine,
    dask://local and spark://local[2].
    """
    if isinstance(given, str):
        scheme, sign, rest = given.partition("://")
        if not sign or not rest or scheme not in ("dask", "spark", "sc"):
            raise BadInput(
                f"engine is {given!r}; give an address, dask://host:8786, spark://host:7077 or sc://host:15002, or an "
                "engine, such as discreet.engines.Dask(client)"
            )
        if scheme == "dask":
            from discreet.engines.dask import Dask

            return Dask.at(rest)
        from discreet.engines.spark import Spark

        return Spark.at(rest if scheme == "spark" and rest.startswith("local") else given)
    if given is not None:
        if not all(callable(getattr(given, name, None)) for name in ("map", "fold")):
            raise BadInput(
                f"engine is of type {type(given).__name__}; give what has map and fold, for example "
                "discreet.engines.Dask(client), or an address, as 'dask://host:8786'"
            )
        return given
    library = type(source).__module__.partition(".")[0]
    if library == "pyspark" and hasattr(source, "mapInArrow"):
        from discreet.engines.spark import Spark

        return Spark(source.sparkSession)
    if library.startswith("dask") and hasattr(source, "to_delayed"):
        from dask.distributed import default_client

        from discreet.engines.dask import Dask

        try:
            return Dask(default_client())
        except ValueError:
            raise BadInput(
                "the table is a Dask data frame, and there is no client; start one, client = Client(...), or give "
                "engine=discreet.engines.Dask(client)"
            ) from None
    return None
