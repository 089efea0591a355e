"""The pages that are made of the sources: the API, from docstrings, and the proofs, from the modules."""

import ast
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import discreet
from discreet.privacy.declaration import homes

HERE = Path(__file__).parent
ROOT = HERE.parent
PACKAGE = ROOT / "src" / "discreet"
SECTIONS = ("Releases", "Promise", "Why", "Needs", "Accuracy", "Source")
TITLES = {
    "statistics": "Statistics",
    "hypotheses": "Hypothesis tests",
    "models": "Models",
    "subsample": "Estimators of your own",
}


def write_pages() -> None:
    """All of them, below docs/api and docs/proofs, which are not committed."""
    for folder, pages in (("api", _api()), ("proofs", _proofs())):
        home = HERE / folder
        home.mkdir(exist_ok=True)
        made = dict(pages)
        for old in home.glob("*.md"):
            if old.stem not in made:
                old.unlink()
        for name, text in made.items():
            path = home / f"{name}.md"
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


def _api() -> Iterator[tuple[str, str]]:
    """A page for each folder in which statistics are declared, one for sessions and the like, one for each module."""
    titles = []
    found: dict[str, list[str]] = defaultdict(list)
    for name, home in homes().items():
        found[home.split(".")[1]].append(name)
    for folder, title in TITLES.items():
        titles.append(folder)
        yield folder, _page(title, [f"discreet.{name}" for name in found[folder]])
    rest = [name for name in discreet.__all__ if name not in homes() and not name.startswith("_")]
    modules = [name for name in rest if inspect.ismodule(getattr(discreet, name))]
    own = [name for name in rest if name not in modules]
    titles.append("asking")
    yield "asking", _page("Sessions, forecasts, releases", [f"discreet.{name}" for name in own])
    for name in modules:
        module = getattr(discreet, name)
        public = getattr(module, "__all__", None) or [one for one in vars(module) if not one.startswith("_")]
        public = [one for one in public if callable(getattr(module, one, None))]
        titles.append(name)
        yield name, _page(f"discreet.{name}", [f"discreet.{name}.{one}" for one in sorted(public)])
    listed = "\n".join(titles)
    yield "index", f"# API\n\nEvery public name, from its docstring.\n\n```{{toctree}}\n{listed}\n```\n"


def _page(title: str, names: list[str]) -> str:
    lines = [f"# {title}", ""]
    for name in names:
        home, _, last = name.rpartition(".")
        thing = getattr(discreet, last) if home == "discreet" else getattr(getattr(discreet, home.split(".")[1]), last)
        directive = "autoclass" if inspect.isclass(thing) else "autofunction"
        if not callable(thing):
            continue
        lines += [f"## {last}", "", f"```{{eval-rst}}\n.. {directive}:: {name}"]
        if directive == "autoclass" and not issubclass(thing, BaseException):
            lines += ["   :members:", "   :undoc-members:", f"   :exclude-members: {', '.join(_routing(thing))}"]
        lines += ["```", ""]
    return "\n".join(lines)


def _routing(kind: type) -> list[str]:
    """The methods that scikit-learn adds, whose docstrings refer to its own pages."""
    return [name for name in dir(kind) if re.fullmatch(r"set_\w+_request", name)]


def _proofs() -> Iterator[tuple[str, str]]:
    """A page for each package: its modules' proof blocks, each claim with the tests that hold it."""
    tests = _tests()
    packages: dict[str, list[Path]] = defaultdict(list)
    claims: set[str] = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        if "\nPromise\n" in (text := ast.get_docstring(ast.parse(path.read_text())) or ""):
            packages[path.parent.name].append(path)
            claims |= set(_claims(text))
    for package, paths in packages.items():
        lines = [f"# {'discreet' if package == 'discreet' else package}", ""]
        for path in paths:
            lines += _module(path, tests, claims)
        yield package, "\n".join(lines)
    listed = "\n".join(sorted(packages))
    about = (
        "Each mechanism opens with its proof. Here they are, as they stand in the sources: what is promised, why it "
        "holds, and which tests would fail if the code did otherwise. Code that relies on a claim cites it."
    )
    yield "index", f"# Proofs\n\n{about}\n\n```{{toctree}}\n{listed}\n```\n"


def _module(path: Path, tests: dict[str, list[str]], known: set[str]) -> list[str]:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    head, *parts = re.split(rf"^({'|'.join(SECTIONS)})\n", text, flags=re.MULTILINE)
    lines = [f"## {path.stem}", "", _words(head, known), ""]
    todo = set(_claims(text))
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        lines += [f"### {name}", ""]
        for paragraph in _paragraphs(textwrap.dedent(body)):
            if name == "Promise" and (tag := re.match(r"\[([a-z_]+\.\d+)\]", paragraph)) and tag[1] in todo:
                lines += [f"({_label(tag[1])})="]
                todo.discard(tag[1])
            lines += [_words(paragraph, known), ""]
    lines += ["### Tests", "", "| claim | held by |", "|---|---|"]
    lines += [f"| {claim} | {', '.join(f'`{one}`' for one in tests[claim])} |" for claim in _claims(text)]
    return [*lines, ""]


def _claims(text: str) -> list[str]:
    """The tags of what a module promises, in their order."""
    promise = re.split(r"^\w+\n", text.partition("\nPromise\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return sorted(set(re.findall(r"^\s*\[([a-z_]+\.\d+)\]", promise, flags=re.MULTILINE)), key=_number)


def _label(claim: str) -> str:
    return f"claim-{claim}".replace(".", "-").replace("_", "-")


def _number(claim: str) -> tuple[str, int]:
    name, _, number = claim.rpartition(".")
    return name, int(number)


def _paragraphs(body: str) -> Iterator[str]:
    """A claim begins a paragraph, and so does an empty line."""
    current: list[str] = []
    for line in body.splitlines():
        if (not line.strip() or re.match(r"\s*\[[a-z_]+\.\d+\]", line)) and current:
            yield " ".join(current)
            current = []
        if line.strip():
            current.append(line.strip())
    if current:
        yield " ".join(current)


def _words(text: str, known: set[str]) -> str:
    """Markdown of plain text: claims as links, nothing else read as markup."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") and len(part) > 1 else _plain(part, known) for part in parts)


def _plain(text: str, known: set[str]) -> str:
    def link(found: re.Match[str]) -> str:
        shown = re.sub(r"_", r"\\_", found[1])
        return f"[\\[{shown}\\]](#{_label(found[1])})" if found[1] in known else f"\\[{shown}\\]"

    parts = re.split(r"(\[[a-z_]+\.\d+\])", text)
    done = [
        re.sub(r"([\\*_<>#|$~^\[\]])", r"\\\1", part) if index % 2 == 0 else part for index, part in enumerate(parts)
    ]
    return re.sub(r"(?<!\\)\[([a-z_]+\.\d+)\]", link, "".join(done))


def _tests() -> dict[str, list[str]]:
    """The tests that carry a claim's mark."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.claim":
                    for claim in mark.args:
                        found[str(ast.literal_eval(claim))].append(node.name)
    return found
