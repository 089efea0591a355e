"""`discreet explain`: the meaning of epsilon in the terminal."""

from discreet.promise.meaning import Meaning


def show(meaning: Meaning) -> None:
    """Sentences, one a line."""
    from rich.console import Console

    console = Console(highlight=False)
    for sentence in meaning.sentences:
        console.print(f"• {sentence}", soft_wrap=False)
