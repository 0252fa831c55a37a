"""Checks of names and prose: the rules of CONTRIBUTING.md that a program can check.

`findings(path, text)` returns one line per breach of a rule in one file:

- **words**: words that personify a component or replace a standard term (`BANNED`), in Markdown and
  in every docstring, comment and string of the code.
- **participles**: functions named by a participle (`told`, `loaded`), not by a verb or a noun.
- **locals**: variables and parameters whose name says nothing (`VAGUE`).
- **width**: lines of more than `WIDTH` columns in Cython and Markdown (ruff checks Python).

`duplicate_types(root)` returns the type names that two modules define.

Run as a program, it lists the findings below the given paths:

    python -m tests.project.language src/pathcast/covering tests/covering
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["duplicate_types", "findings", "sources"]

WIDTH: Final = 100

# Each phrase, and what to write instead.
BANNED: Final = {
    r"nobody|somebody|anybody|everybody|whoever|whomever": "name the component",
    r"in vain": "wasted",
    r"(is|are|was|were|be|been) told": "name the sender: 'the broker sends', 'the caller passes'",
    r"hang together": "join",
    r"go(es)? round": "flood",
    r"(it|he|she|they) lives?": "runs",
    r"\bhis\b|\bhim\b|\bhe\b": "it; a component is a thing",
    r"seed 00\d": "cite author and year",
    r"minds?\b(?! the gap)": "name the check",
}

# Phrases that a file may contain, with the reason.
ALLOWED: Final = {
    ("language.py", ".*"): "defines the rules",
    ("test_language.py", ".*"): "plants breaches",
    ("expectation_parser.py", "nobody"): "a deprecated word of the scenario language",
    ("test_parser.py", "nobody|in vain"): "tests the deprecated words",
    ("scenario-language.md", "nobody|in vain"): "documents the deprecated words",
}

GENERATED: Final = frozenset({"commands.md"})  # program output may be wide

VAGUE: Final = frozenset({"found", "known", "one", "what", "whole"})

IRREGULAR: Final = frozenset(
    "told met found given taken known made kept sent held lost done seen shown written chosen"
    " drawn built brought gone grown heard laid led meant paid begun broken said sorted"
    " thrown understood worn wound stood stolen sought spoken spelt shaken sold".split()
)
NOT_PARTICIPLES: Final = frozenset(
    "bed bleed bred breed embed exceed feed fed greed heed need proceed reed seed shed shred sled"
    " speed succeed weed indeed red unneeded".split()
)
PREFIXES: Final = frozenset({"is", "has", "was", "are", "were", "can", "on", "test", "not", "if"})


def sources(root: Path) -> Iterator[Path]:
    """Yield the files under a folder that the rules apply to."""
    for path in sorted(root.rglob("*") if root.is_dir() else [root]):
        if path.suffix in {".py", ".pyx", ".pxd", ".pyi", ".md"} and path.is_file():
            yield path


def findings(path: Path, text: str) -> list[str]:
    """Return the breaches in one file, as `path:line: rule: message`."""
    breaches = [*_words(path, text)]
    if path.suffix == ".py":
        tree = ast.parse(text)
        breaches += _participles(tree)
        breaches += _locals(tree)
    elif path.suffix != ".md":
        breaches += _cython_names(text)
    if path.suffix != ".py":
        breaches += _width(path, text)
    return [f"{path}:{line}: {message}" for line, message in sorted(breaches)]


def is_participle(name: str) -> bool:
    """Whether a function name is, or ends with, a participle.

    >>> [is_participle(name) for name in ("told", "_load", "rows_loaded", "is_closed", "feed")]
    [True, False, True, False, False]
    """
    words = name.strip("_").split("_")
    if name != name.lower():  # another library chose the name
        return False
    if len(words) > 1 and words[0] in PREFIXES:
        return False
    last = words[-1]
    return last in IRREGULAR or (
        last.endswith("ed") and len(last) > 3 and last not in NOT_PARTICIPLES
    )


def _words(path: Path, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        for phrase, advice in BANNED.items():
            if match := re.search(rf"\b(?:{phrase})\b", line, re.IGNORECASE):
                if not _is_allowed(path.name, match[0].lower()):
                    yield number, f"word: {match[0]!r}; {advice}"


def _is_allowed(file: str, phrase: str) -> bool:
    return any(file == name and re.fullmatch(allowed, phrase) for name, allowed in ALLOWED)


def _participles(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
            if not _is_bool_property(node):
                yield node.lineno, f"participle: {node.name}()"


def _is_bool_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A property that answers yes or no is an adjective: `connection.closed`."""
    decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    return (
        bool(decorators & {"property", "cached_property"})
        and isinstance(node.returns, ast.Name)
        and node.returns.id == "bool"
    )


def _locals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
            yield node.lineno, f"local: {node.id}"
        elif isinstance(node, ast.arg) and node.arg in VAGUE:
            yield node.lineno, f"parameter: {node.arg}"
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name in VAGUE:
            yield node.lineno, f"local: {node.name}"


_CYTHON_FUNCTION = re.compile(r"^\s*(?:cp?def|def)\s+(?:inline\s+)?[^=#\n]*?(\w+)\s*\(")
_CYTHON_LOCAL = re.compile(rf"^\s*cdef\s+[^(]*\b({'|'.join(sorted(VAGUE))})\b(?!\()")


def _cython_names(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if (function := _CYTHON_FUNCTION.match(line)) and is_participle(function[1]):
            yield number, f"participle: {function[1]}()"
        if local := _CYTHON_LOCAL.match(line):
            yield number, f"local: {local[1]}"


def _width(path: Path, text: str) -> Iterator[tuple[int, str]]:
    fenced = False
    if path.name in GENERATED:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if path.suffix == ".md" and line.lstrip().startswith("```"):
            fenced = not fenced
        if len(line) <= WIDTH or "://" in line:
            continue
        if path.suffix == ".md" and (fenced or line.lstrip().startswith("|")):
            continue
        yield number, f"width: {len(line)} columns"


_TYPE = re.compile(r"^(?:cdef\s+)?(?:class|struct|enum)\s+(\w+)", re.MULTILINE)


def duplicate_types(root: Path) -> dict[str, list[str]]:
    """Return the type names that more than one module under the folder defines."""
    modules: dict[str, set[str]] = defaultdict(set)
    for path in sources(root):
        if path.suffix in {".py", ".pyx", ".pxd"}:
            for match in _TYPE.finditer(path.read_text(encoding="utf-8")):
                modules[match[1]].add(str(path.relative_to(root).with_suffix("")))
    return {name: sorted(where) for name, where in sorted(modules.items()) if len(where) > 1}


def _main(arguments: list[str]) -> int:
    breaches: list[str] = []
    for argument in arguments:
        for path in sources(Path(argument)):
            breaches += findings(path, path.read_text(encoding="utf-8"))
    sys.stdout.writelines(f"{breach}\n" for breach in breaches)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
