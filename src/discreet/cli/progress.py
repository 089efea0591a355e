"""What is being worked on, on a terminal's error stream; nothing where nobody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.promise.cells import clean


@contextmanager
def watching(total: int | None, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function to tell what begins. The bar leaves nothing behind; its steps are the plan's, not the data's."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    count = [MofNCompleteColumn()] if total is not None else []
    bar = Progress(
        SpinnerColumn(), BarColumn(), *count, TextColumn("{task.description}"), console=console, transient=True
    )
    with bar:
        task = bar.add_task("", total=total)
        begun = 0

        def watch(title: str) -> None:
            nonlocal begun
            bar.update(task, description=clean(title).replace("[", "\\["), completed=begun)
            begun += 1

        yield watch
