"""Write what follows from the declarations: faces.pyi and __init__.pyi, and the signatures in docs/reference.md.

python scripts/faces.py          # after a statistic was added or its options changed
"""

import ast
import builtins
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from discreet.faces import method_doc
from discreet.privacy.declaration import Statistic, declared, homes

ROOT = Path(__file__).parent.parent / "src" / "discreet"
HEAD = '"""{about}\n\nMade by scripts/faces.py from the declarations; do not edit."""\n\n'
OURS = (
    ("neighbours", "Neighbours | str", '"add_or_remove"'),
    ("unit", "Any", "None"),
    ("missing", "Any", '"drop"'),
    ("rng", "Randomness | None", "None"),
)
TERMS = (
    ("where", "str | None"),
    ("missing", "Any"),
    ("per_person", "Any"),
    ("max_rows", "int | None"),
    ("request", "str | None"),
)
ALWAYS = {
    "Any": "typing",
    "overload": "typing",
    "Sequence": "collections.abc",
    "Neighbours": "discreet.privacy.guarantee",
    "Randomness": "discreet.privacy.mechanism",
    "Release": "discreet.privacy.release",
    "Groups": "discreet.privacy.release",
}


class Source:
    """A module that declares statistics: its functions, and where the names in it come from."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.tree = ast.parse(inspect.getsource(importlib.import_module(module)))
        self.homes: dict[str, str] = {}
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom):
                self.homes |= {alias.asname or alias.name: str(node.module) for alias in node.names}
            elif isinstance(node, ast.ClassDef | ast.FunctionDef):
                self.homes[node.name] = module
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name):
                    self.homes[target.id] = module

    def function(self, name: str) -> ast.FunctionDef:
        """The declaration."""
        return next(node for node in self.tree.body if isinstance(node, ast.FunctionDef) and node.name == name)

    def released(self, function: ast.FunctionDef) -> str:
        """What the mechanism of a declaration releases."""
        returned = ast.unparse(function.returns) if function.returns is not None else "Any"
        found = re.fullmatch(r"Mechanism\[(.*)\]", returned)
        if found:
            return found[1]
        home = importlib.import_module(self.homes[returned])
        inner = Source(home.__name__)
        kind = next(node for node in inner.tree.body if isinstance(node, ast.ClassDef) and node.name == returned)
        release = next(node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name == "release")
        value = re.fullmatch(r"Release\[(.*)\]", ast.unparse(release.returns) if release.returns else "")
        assert value is not None, returned
        self.homes |= {name: home for name, home in inner.homes.items() if name not in self.homes}
        return value[1]


def parameters(function: ast.FunctionDef, columns: str, statistic: Statistic) -> tuple[list[str], list[str]]:
    """Positional and keyword-only parameters as text; columns are of the type that is given."""
    arguments = function.args

    def text(one: ast.arg, default: ast.expr | None) -> str:
        kind = columns if one.arg in statistic.columns else ast.unparse(one.annotation) if one.annotation else "Any"
        if one.arg in statistic.columns and default is not None and columns != "Any":
            kind += " | None"
        return f"{one.arg}: {kind}" + ("" if default is None else f" = {ast.unparse(default)}")

    own = arguments.args[1:]
    spare: list[ast.expr | None] = [None] * (len(own) - len(arguments.defaults))
    first = [text(one, default) for one, default in zip(own, [*spare, *arguments.defaults], strict=True)]
    if arguments.vararg is not None:
        first.append(f"*{arguments.vararg.arg}: {columns}")
    rest = [text(one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return first, rest


def stub(name: str, source: Source) -> tuple[str, str, set[str]]:
    """The function, the method, and the names that they use."""
    statistic, function = declared(name), source.function(name)
    value = source.released(function)
    first, rest = parameters(function, "Any", statistic)
    star = [] if any(one.startswith("*") for one in first) else ["*"]
    own = {one.split(":")[0] for one in [*first, *rest]}
    ours = [f"{key}: {kind} = {default}" for key, kind, default in OURS if key not in own]
    written = f"def {name}({', '.join([*first, *star, *rest, *ours])}) -> Release[{value}]:\n" + doc(
        inspect.cleandoc(statistic.make.__doc__ or ""), 4
    )
    if statistic.samples:
        return written, "", names_in(written)
    first, rest = parameters(function, "str | Sequence[str]", statistic)
    terms = [f"{key}: {kind} = None" for key, kind in TERMS if key not in own]
    grouped = ["groupby: str | Sequence[str]", "keys: Any = None"]
    head = ["self", *first, "*"]
    if statistic.groups:
        delta = [] if "delta" in own else ["delta: Any = 0.0"]
        method = (
            f"    @overload\n    def {name}({', '.join([*head, *rest, 'groupby: None = None', *terms])}) -> "
            f"Release[{value}]:\n{doc(method_doc(name), 8)}"
            f"    @overload\n    def {name}({', '.join([*head, *rest, *delta, *grouped, *terms])}) -> Groups: ...\n"
        )
    else:
        method = f"    def {name}({', '.join([*head, *rest, *terms])}) -> Release[{value}]:\n{doc(method_doc(name), 8)}"
    return written, method, names_in(written) | names_in(method)


def doc(text: str, indent: int) -> str:
    """A docstring."""
    blank = " " * indent
    lines = [f"{blank}{line}".rstrip() for line in text.rstrip().splitlines()]
    return "\n".join([f'{blank}"""{lines[0].strip()}', *lines[1:], f'{blank}"""']) + "\n"


def renamed(text: str, name: str, called: str) -> str:
    """A name in the signatures of a stub, under another one; docstrings stay."""
    parts = re.split(r'(""".*?""")', text, flags=re.DOTALL)
    return "".join(part if part.startswith('"""') else re.sub(rf"\b{name}\b", called, part) for part in parts)


def names_in(text: str) -> set[str]:
    """The names in signatures."""
    signatures = re.sub(r'""".*?"""', "...", text, flags=re.DOTALL)
    tree = ast.parse(signatures if signatures.startswith("def") else "class A:\n" + signatures)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - set(dir(builtins))


def written() -> dict[str, str]:
    """The two files, by name."""
    functions, methods, needed = [], [], dict[str, str]()
    for name, module in homes().items():
        source = Source(module)
        function, method, names = stub(name, source)
        for one in names:
            home, called = ALWAYS.get(one) or source.homes[one], one
            if needed.get(one, home) != home:  # another module has something else of this name
                called = f"{one}Of{''.join(word.title() for word in name.split('_'))}"
                function, method = (renamed(text, one, called) for text in (function, method))
                needed[f"{one} as {called}"] = home
            else:
                needed[one] = home
        functions.append(function)
        methods.append(method)
    by_home: dict[str, list[str]] = {}
    for one, home in needed.items():
        by_home.setdefault(home, []).append(one)
    imports = "\n".join(f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(by_home.items()))
    listed = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted([*homes(), "Asking"])) + "]\n"
    extra = "def method_doc(name: str) -> str: ...\ndef example(name: str) -> str: ...\n\n"
    faces = HEAD.format(about="The types of the declared statistics, as functions and as methods of a session.")
    faces += f"{imports}\n\n{listed}\n{extra}" + "\n".join(functions)
    faces += "\nclass Asking:\n    def ask(self, statistic: str, *columns: Any, **options: Any) -> Any: ...\n"
    faces += "\n".join(method for method in methods if method)
    package = HEAD.format(about="The public names of discreet, for type checkers.")
    package += "from discreet import audit as audit, datasets as datasets, engines as engines, friendly as friendly\n"
    package += "from discreet import lectures as lectures, sklearn as sklearn\n"
    package += "from discreet.errors import " + ", ".join(f"{name} as {name}" for name in ERRORS) + "\n"
    package += "".join(f"from {home} import {name} as {name}\n" for name, home in sorted(others().items()))
    package += "".join(f"from discreet.faces import {name} as {name}\n" for name in homes())
    package += "from discreet.version import __version__ as __version__\n"
    return {"faces.pyi": formatted(faces), "__init__.pyi": formatted(package)}


REFERENCE = ROOT.parent.parent / "docs" / "reference.md"
TABLES = {"statistics": "## Statistics\n", "hypotheses": "## Tests\n"}  # else models


def reference(page: str) -> str:
    """The page with the signatures as they are declared; a statistic that has no row gets one of its docstring."""
    for name, module in homes().items():
        shown = f"`{signature(declared(name))}`"
        if re.search(rf"^\| `{name}\(", page, flags=re.MULTILINE):
            page = re.sub(rf"^\| `{name}\([^`]*`", f"| {shown}", page, count=1, flags=re.MULTILINE)
            continue
        about = inspect.cleandoc(declared(name).make.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        table = page.index(TABLES.get(module.split(".")[1], "## Models"))
        wide = page[page.index("\n|", table) :].split("\n")[1].count("|") > 3
        privacy = "pure" if "Pure" in about else "(epsilon, delta)"
        end = page.index("\n\n", page.index("\n| `", table))
        page = page[:end] + f"\n| {shown} | {about} |" + (f" `.interval()` | {privacy} |" if wide else "") + page[end:]
    return page


def signature(statistic: Statistic) -> str:
    """As one would write it, with all that an option may be where that is a short list."""
    parts, named = [], False
    for one in statistic.signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not named and statistic.loose is None:
            parts.append("*")
        named = one.kind is one.KEYWORD_ONLY
        values = (
            [] if one.default is one.empty else [one.default, *(v for v in choices(one.annotation) if v != one.default)]
        )
        shown = " or ".join(f'"{value}"' if isinstance(value, str) else repr(value) for value in values)
        star = "*" if one.kind is one.VAR_POSITIONAL else ""
        parts.append(f"{star}{one.name}" + (f"={shown}" if shown else ""))
    return f"{statistic.name}({', '.join(parts)})"


def choices(kind: Any) -> tuple[Any, ...]:
    """What an option may be, where that is a short list."""
    parts = get_args(kind)
    return parts if get_origin(kind) is Literal else tuple(value for part in parts for value in choices(part))


ERRORS = ("BadInput", "DiscreetError", "NeedsBounds", "NotAnswered", "OverBudget", "Refused")


def others() -> dict[str, str]:
    """The public names that are not statistics, and their modules."""
    tree = ast.parse((ROOT / "__init__.py").read_text())
    home = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "_HOME"
    )
    found: dict[str, str] = ast.literal_eval(home)
    return found


def formatted(text: str) -> str:
    """As ruff formats it."""
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        made = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", "faces.pyi", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = made.stdout
    return text


if __name__ == "__main__":
    for name, text in written().items():
        (ROOT / name).write_text(text)
        print(f"{name}: {len(text.splitlines())} lines")
    REFERENCE.write_text(reference(REFERENCE.read_text()))
