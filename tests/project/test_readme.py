"""The examples of README.md print what it shows, and failing examples are reported."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.project.readme import Block, blocks, commands, run, shows

README = Path(__file__).parents[2] / "README.md"


def test_readme_examples_print_what_it_shows(tmp_path: Path) -> None:
    assert README.is_file(), "README.md is missing"
    markdown = README.read_text(encoding="utf-8")
    languages = {block.language for block in blocks(markdown)}
    assert {"python", "console"} <= languages, "README.md has no examples"
    complaints = run(markdown, tmp_path)
    assert not complaints, "\n\n".join(complaints)


def test_blocks_have_their_lines() -> None:
    markdown = "# t\n\n```python\na = 1\n```\n````text\n```\nb\n````\n``` console\n$ c\n```\n"
    assert list(blocks(markdown)) == [
        Block("python", 4, "a = 1\n"),
        Block("text", 7, "```\nb\n"),
        Block("console", 11, "$ c\n"),
    ]


def test_unclosed_block_is_rejected() -> None:
    with pytest.raises(ValueError, match="line 2 is not closed"):
        list(blocks("```python\na\n"))


def test_commands_may_have_continuation_lines_and_output() -> None:
    parsed = commands(Block("console", 5, "$ cat <<E\n> a\n>\n> E\na\n\n$ true\n"))
    assert [(command.line, command.text, command.output) for command in parsed] == [
        (5, "cat <<E\na\n\nE", ("a", "")),
        (11, "true", ()),
    ]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ((), ""),
        (("a",), "a\n"),
        (("a", ""), "a  \n\n"),
        (("...",), ""),
        (("...",), "a\nb\n"),
        (("a", "...", "c"), "a\nc\n"),
        (("a", "...", "c"), "a\nb\nb\nc\n"),
        (("a.c",), "a.c"),
    ],
)
def test_output_matches(expected: tuple[str, ...], actual: str) -> None:
    assert shows(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ((), "a\n"),
        (("a",), ""),
        (("a",), "a\nb\n"),
        (("a", "...", "c"), "a\nb\n"),
        (("a", "...c"), "a\nbc\n"),
        (("a.c",), "abc\n"),
        (("a",), " a\n"),
    ],
)
def test_output_differs(expected: tuple[str, ...], actual: str) -> None:
    assert not shows(expected, actual)


GOOD = """
```console
$ printf 'one\\ntwo\\n' > made.txt
$ cat made.txt
one
...
$ cat absent.txt 2>/dev/null
$ echo $?
1
$ echo oops >&2
oops
```
```python
>>> from pathlib import Path
>>> Path("made.txt").read_text()
'one...two...'
```
```python
assert len(Path("made.txt").read_text()) == 8
```
```sh
not run
```
"""


def test_examples_share_folder_and_names(tmp_path: Path) -> None:
    assert run(GOOD, tmp_path) == []


@pytest.mark.parametrize(
    ("language", "example", "complaint"),
    [
        ("python", ">>> 1 + 1\n3\n", "Expected:"),
        ("python", ">>> 1 / 0\n", "ZeroDivisionError"),
        ("python", "x = 1\nassert x == 2\n", 'File "README.md", line 3'),
        ("python", "x =\n", "SyntaxError"),
        ("console", "$ echo a\nb\n", "--- printed\na"),
        ("console", "$ echo a\n", "--- printed\na"),
        ("console", "$ false\n", "fails with status 1"),
        ("console", "$ no-such-command-here\n...\n", "fails with status 127"),
    ],
)
def test_failing_examples_are_reported(
    tmp_path: Path, language: str, example: str, complaint: str
) -> None:
    complaints = run(f"```{language}\n{example}```\n", tmp_path)
    assert len(complaints) == 1
    assert complaint in complaints[0]


def test_commands_run_in_this_environment(tmp_path: Path) -> None:
    markdown = dedent("""\
        ```console
        $ python -c 'import pathcast; print(pathcast.__version__)'
        ...
        $ test "$(dirname "$(command -v pathcast)")" = "$(dirname "$(command -v python)")"
        ```
        """)
    assert run(markdown, tmp_path) == []
