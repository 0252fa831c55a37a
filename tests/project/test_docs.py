"""The documentation agrees with the code: links, commands, error kinds, examples, notebooks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from pathcast import errors
from pathcast.documents.parse_errors import ERROR_KINDS
from pathcast.generators.presets import PRESETS
from tests.project.readme import blocks, run

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
ERROR_NAMES = frozenset(errors.__all__)


def _prose(text: str) -> str:
    """Return the text without fenced blocks and inline code, in which brackets are no links."""
    lines = text.splitlines()
    for block in blocks(text):
        for number in range(block.line - 1, block.line - 1 + block.text.count("\n")):
            lines[number] = ""
    return re.sub(r"`[^`\n]*`", "``", "\n".join(lines))


def _anchor(heading: str) -> str:
    """Return a heading's anchor as GitHub and mkdocs make it."""
    text = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s", "-", text)


def broken_links(page: Path) -> list[str]:
    """Return the relative links of a page that lead to no file or no heading."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(page.read_text(encoding="utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists():
            broken.append(target)
        elif anchor and file.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            if anchor not in {_anchor(heading) for heading in headings}:
                broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_a_target(page: Path) -> None:
    assert broken_links(page) == []


def test_broken_link_is_reported(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A b\n[x](#a-b) [y](#c) [z](other.md) `[w](none.md)`\n", encoding="utf-8")
    assert broken_links(page) == ["#c", "other.md"]


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [*(ROOT / "docs").rglob("*.md"), *NOTEBOOKS]
    missing = [str(page.relative_to(ROOT / "docs")) for page in pages]
    assert [page for page in missing if f" {page}\n" not in navigation] == []


def test_command_reference_is_current() -> None:
    command = [sys.executable, "-m", "typer", "pathcast.cli.app", "utils", "docs"]
    done = subprocess.run(
        [*command, "--name", "pathcast", "--title", "Commands"],
        capture_output=True,
        text=True,
        check=True,
    )
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert page.strip() == done.stdout.strip(), "run: make reference"


def _raised_kinds() -> set[str]:
    """Return the literal kinds of all errors that the code constructs."""
    kinds = set(ERROR_KINDS)
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
                kind = node.args[0]
                if node.func.id in ERROR_NAMES and isinstance(kind, ast.Constant):
                    kinds.add(str(kind.value))
    return kinds


def test_every_error_kind_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([a-z-]+)`", page))
    assert sorted(_raised_kinds() - documented) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    content = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(content, timeout=300, kernel_name="python3", resources=resources).execute()
    assert any(cell.get("outputs") for cell in content.cells)


# The pages whose examples need neither Spark nor a file of the repository.
EXAMPLES = [
    "guide/advertisements.md",
    "guide/covering.md",
    "guide/library.md",
    "guide/schemas.md",
    "guide/workloads.md",
    "reference/files.md",
    "reference/language.md",
]


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    markdown = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert {block.language for block in blocks(markdown)} & {"python", "console"}
    complaints = run(markdown, tmp_path)
    assert not complaints, "\n\n".join(complaints)


def test_guide_to_workloads_names_the_presets() -> None:
    markdown = (ROOT / "docs" / "guide" / "workloads.md").read_text(encoding="utf-8")
    table = markdown.partition("## Presets")[2].partition("## ")[0]
    assert re.findall(r"`([a-z]+[0-9]{4}-?[a-z]*)`", table) == list(PRESETS)
