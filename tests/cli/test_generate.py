"""`pathcast generate`: formats, options, statistics, and no partial files after errors."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lxml import etree

from pathcast.files import read_subscriptions
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.presets import PRESETS
from tests.cli.running import COMMAND, Result, run, write

TINY = "<!ELEMENT list (item*)><!ELEMENT item (#PCDATA)><!ATTLIST item n CDATA #IMPLIED>"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generate(*arguments: object) -> Result:
    return run("generate", *map(str, arguments))


def bodies(path: Path) -> list[bytes]:
    """Return the documents of an output, read without pathcast."""
    if path.is_dir():
        return [file.read_bytes() for file in sorted(path.iterdir())]
    if path.suffix == ".parquet":
        return [row["body"] for row in pq.read_table(path).to_pylist()]
    return [json.loads(line)["body"].encode() for line in path.read_text().splitlines()]


# documents


def test_every_document_format_has_the_same_documents(here: Path) -> None:
    bodies_by_target = {}
    for name in ("folder", "a.jsonl", "a.parquet"):
        result = generate("documents", "book", "-n", 12, "--seed", 7, "-o", name)
        assert (result.code, result.stderr) == (0, "")
        assert result.stdout.splitlines()[0].split() == ["documents", "12"]
        bodies_by_target[name] = bodies(here / name)
    result = generate("documents", "book", "-n", 12, "--seed", 7)
    assert result.code == 0
    assert result.stderr.startswith("documents ")
    bodies_by_target["stdout"] = [row["body"].encode() for row in result.rows]
    first, *others = bodies_by_target.values()
    assert all(other == first for other in others)
    assert [row["id"] for row in result.rows][:2] == ["0000001", "0000002"]
    for body in first:
        assert bundled_schema("book").faults(body) == []
    assert sorted(os.listdir(here)) == ["a.jsonl", "a.parquet", "folder"]


def test_seed_determines_the_documents(here: Path) -> None:
    first, same, other = (
        generate("documents", "news", "-n", 5, "--size", 900, "--seed", seed).stdout
        for seed in (1, 1, 2)
    )
    assert first == same != other


def test_document_options_are_applied(here: Path) -> None:
    arguments = ["--repeat", "book=40", "--max-depth", "9", "--values", "integers:5-6"]
    result = generate("documents", "bib", "-n", 9, *arguments, "-o", "a.jsonl", "--json")
    figures = json.loads(result.stdout)
    assert (figures["schemas"], figures["documents"], figures["seed"]) == (["bib"], 9, 1)
    trees = [etree.fromstring(body) for body in bodies(here / "a.jsonl")]
    max_books = max(len(tree.findall(".//book")) for tree in trees)
    assert max_books >= 40
    texts = {element.text for tree in trees for element in tree.iter() if element.text}
    assert texts == {"5", "6"}
    assert figures["elements"]["most"] == max(sum(1 for _ in tree.iter()) for tree in trees)
    assert figures["bytes"]["total"] == sum(map(len, bodies(here / "a.jsonl")))


@pytest.mark.parametrize("size", ["3000", "4K"])
def test_mean_size_is_near_the_target(here: Path, size: str) -> None:
    result = generate("documents", "news", "-n", 20, "--size", size, "-o", "a", "--json")
    target = 4096 if size == "4K" else 3000
    assert abs(json.loads(result.stdout)["bytes"]["mean"] - target) < target / 5


@pytest.mark.parametrize("values", ["words", "words:2", "zipf:1.5"])
def test_value_domains_are_applied(here: Path, values: str) -> None:
    generate("documents", "book", "-n", 5, "--values", values, "--length", 4, "-o", "a")
    texts = [
        element.text for body in bodies(here / "a") for element in etree.fromstring(body).iter()
    ]
    words = [word for text in texts if text for word in text.split()]
    assert words
    assert all(word.isalpha() for word in words)
    assert values != "words:2" or len(set(words)) == 2


def test_dtd_file_and_root_are_accepted(here: Path) -> None:
    write(here, tiny__dtd=TINY)
    result = generate("documents", "tiny.dtd", "-n", 3, "-o", "a.jsonl")
    assert result.code == 0
    assert all(body.startswith(b"<list") for body in bodies(here / "a.jsonl"))
    result = generate("documents", "tiny.dtd", "--root", "item", "-n", 3, "-o", "b.jsonl")
    assert all(body.startswith(b"<item") for body in bodies(here / "b.jsonl"))


# subscriptions


def test_every_subscription_format_has_the_same_subscriptions(here: Path) -> None:
    texts_by_target = {}
    for name in ("a.txt", "a.tsv", "a.jsonl", "a.parquet", "a.txt.gz"):
        result = generate("subscriptions", "news", "-n", 50, "-o", name)
        assert (result.code, result.stderr) == (0, "")
        texts_by_target[name] = [row.xpath for row in read_subscriptions(name)]
    result = generate("subscriptions", "news", "-n", 50)
    assert result.stderr.startswith("subscriptions ")
    texts_by_target["stdout"] = result.stdout.splitlines()
    first, *others = texts_by_target.values()
    assert all(other == first for other in others)
    assert len(set(first)) == 50
    lines = generate("subscriptions", "news", "-n", 2, "--format", "jsonl").rows
    assert lines == [{"id": number + 1, "xpath": first[number]} for number in range(2)]


def test_subscription_options_are_applied(here: Path) -> None:
    arguments = ["--wildcard", 0, "--descendant", 1, "--max-depth", 3, "--duplicates"]
    result = generate("subscriptions", "news", "-n", 400, *arguments, "--json")
    figures = json.loads(result.stderr)
    texts = result.stdout.splitlines()
    assert "*" not in result.stdout
    assert sum(text.count("//") for text in texts) == figures["steps"] == figures["descendants"]
    assert (figures["wildcards"], figures["subscriptions"]) == (0, 400)
    assert figures["distinct"] == len(set(texts)) < 400
    assert max(map(int, figures["depths"])) <= 3
    arguments = ["--predicate", 1, "--predicates", 2, "--kind", "attribute", "--kind", "position=2"]
    result = generate("subscriptions", "news", "-n", 60, *arguments)
    assert "text()" not in result.stdout
    assert "[@" in result.stdout
    assert "predicates  100.0% (120 predicates)" in result.stderr
    arguments = ["--predicate", 1, "--values", "integers:900-901", "--operator", "="]
    result = generate("subscriptions", "news", "-n", 40, *arguments, "--kind", "value")
    assert set(re.findall(r" (\S+) (\d+)\]", result.stdout)) == {("=", "900"), ("=", "901")}
    result = generate(
        "subscriptions", "weather", "-n", 50, "--disjoint", 3, "--duplicates", "--json"
    )
    assert json.loads(result.stderr)["distinct"] == 3
    arguments = ["--branch", 1, "--branches", 3, "--branching", "query", "--min-depth", 3]
    result = generate("subscriptions", "auction", "-n", 30, *arguments, "--json")
    figures = json.loads(result.stderr)
    assert figures["branched"] == 30


def test_count_all_writes_every_distinct_subscription(here: Path) -> None:
    write(here, tiny__dtd=TINY)
    arguments = ["tiny.dtd", "--wildcard", 0, "--descendant", 0]
    result = generate("subscriptions", *arguments, "-n", "all")
    assert (result.code, sorted(result.stdout.splitlines())) == (0, ["/list", "/list/item"])
    result = generate("subscriptions", *arguments, "-n", 3, "-o", "a.txt")
    assert result.code == 2
    assert "exhausted" in result.stderr
    assert sorted(os.listdir(here)) == ["tiny.dtd"]


# feeds


def test_weather_rows_and_messages_agree(here: Path) -> None:
    arguments = ["--day", "calm", "--from", "9:00", "--until", "10:00", "--cities", "2"]
    result = generate("feed", "weather", *arguments, "-o", "a.csv", "--json")
    assert result.code == 0
    figures = json.loads(result.stdout)
    with Path("a.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert figures["rows"] == len(rows) == 120
    assert (figures["first"], figures["last"]) == (rows[0]["time"], rows[-1]["time"])
    distinct = {tuple(value for name, value in row.items() if name != "time") for row in rows}
    assert figures["repeated"] == len(rows) - len(distinct)
    assert generate("feed", "weather", *arguments).stdout == Path("a.csv").read_text()
    for name in ("folder", "a.jsonl", "a.parquet"):
        result = generate("feed", "weather", *arguments, "-o", name)
        assert result.code == 0
        assert len(bodies(here / name)) == 120
        assert all(bundled_schema("weather").faults(body) == [] for body in bodies(here / name)[:5])
        assert f"duplicates  {figures['repeated']} " in result.stdout
    ids = [json.loads(line)["id"] for line in Path("a.jsonl").read_text().splitlines()]
    assert ids[:2] == ["0000001-2011-08-03T09:00:00", "0000002-2011-08-03T09:00:30"]
    assert sorted(os.listdir("folder")) == [f"{message_id}.xml" for message_id in ids]
    result = generate("feed", "a.csv", "--sheet", "weather", "--format", "jsonl")
    assert [row["body"].encode() for row in result.rows] == bodies(here / "a.jsonl")


def test_stock_feed_skips_weekends_and_uses_arrival_times(here: Path) -> None:
    arguments = ["--days", 2, "--symbols", 3, "--period", 3600, "--start", "2024-03-08"]
    result = generate("feed", "stock", *arguments)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 2 * 7 * 3
    assert {row["time"][:10] for row in rows} == {"2024-03-08", "2024-03-11"}
    result = generate("feed", "stock", *arguments, "--format", "jsonl", "--arrivals", "fixed:2.5")
    assert [row["id"] for row in result.rows][:2] == ["0000001-2.500", "0000002-5.000"]
    assert len(result.rows) == 14
    assert all(bundled_schema("stock").faults(row["body"].encode()) == [] for row in result.rows)


def test_day_kinds_take_turns(here: Path) -> None:
    arguments = ["--day", "calm", "--day", "1.0", "--days", 3, "--period", 3600]
    result = generate("feed", "weather", *arguments, "--cities", "Oslo, Cork", "--together")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 3 * 24 * 2
    assert {row["city"] for row in rows} == {"Oslo", "Cork"}


# presets


def test_presets_are_listed(here: Path) -> None:
    result = generate("presets")
    assert result.code == 0
    words = {line.split()[0] for line in result.stdout.splitlines()}
    assert words >= {*PRESETS, *SCHEMA_NAMES}
    (row,) = generate("presets", "--json").rows
    assert set(row["presets"]) == set(PRESETS)
    assert set(row["schemas"]) == set(SCHEMA_NAMES)
    (row,) = generate("presets", "cao2012-peer", "--json").rows
    assert (row["arrival"], row["schemas"]) == ("poisson:0.85", ["book"])
    assert PRESETS["cao2012-peer"].notes in generate("presets", "cao2012-peer").stdout


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_can_be_generated(here: Path, name: str) -> None:
    result = generate("subscriptions", "--preset", name, "-n", 20, "--json")
    assert result.code == 0, result.stderr
    figures = json.loads(result.stderr)
    assert (figures["preset"], figures["subscriptions"]) == (name, 20)
    assert figures["schemas"] == list(PRESETS[name].schemas)
    result = generate("documents", "--preset", name, "-n", 10, "--json")
    assert result.code == 0, result.stderr
    schemas = [bundled_schema(schema_name) for schema_name in PRESETS[name].schemas]
    for number, row in enumerate(result.rows):
        assert schemas[number % len(schemas)].faults(row["body"].encode()) == []


def test_arrivals_come_from_the_preset_or_the_option(here: Path) -> None:
    rows = generate("documents", "--preset", "cao2012-peer", "-n", 200).rows
    times = [float(row["id"].partition("-")[2]) for row in rows]
    assert times == sorted(times)
    assert 100 < times[-1] < 400  # 200 at 0.85 a second
    arguments = ["-n", 2, "--arrivals", "fixed:3"]
    rows = generate("documents", "--preset", "cao2012-peer", *arguments).rows
    assert [row["id"] for row in rows] == ["0000001-3.000", "0000002-6.000"]


def test_options_change_a_preset(here: Path) -> None:
    result = generate("subscriptions", "--preset", "li2008-a", "-n", 30, "--wildcard", 0)
    assert "*" not in result.stdout


# errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["documents"], "there is no DTD"),
        (["documents", "nwes"], "news"),
        (["documents", "none/such.dtd"], "No such file"),
        (["documents", "bad.dtd"], "bad.dtd"),
        (["documents", "news", "--root", "nwes"], "near names: news"),
        (["documents", "--preset", "li2008"], "li2008-a"),
        (["documents", "news", "--max-depth", "1"], "depth"),
        (["documents", "news", "--max-depth", "0"], "depth"),
        (["documents", "news", "--size", "5"], "the smallest document"),
        (["documents", "news", "--size", "many"], "is not a size"),
        (["documents", "news", "--optional", "2"], "optional"),
        (["documents", "news", "--repeat", "p"], "is not ELEMENT=N"),
        (["documents", "news", "--repeat", "nope=3"], "repeat names nope"),
        (["documents", "news", "--values", "numbers"], "is not integers:LOW-HIGH"),
        (["documents", "news", "--values", "integers:9-1"], "no integer from 9 to 1"),
        (["documents", "news", "--arrivals", "now"], "is no arrival process"),
        (["presets", "cao"], "there is no preset 'cao'"),
        (["documents", "news", "-o", "a.txt"], "format of 'a.txt' is not known"),
        (["documents", "news", "--format", "folder"], "not for standard output"),
        (["documents", "news", "--format", "csv", "-o", "a"], "is not one of folder, jsonl"),
        (["documents", "news", "-o", "full"], "is not empty"),
        (["documents", "news", "-o", "none/a.jsonl"], "No such file"),
        (["documents", "--preset", "li2008-a", "--root", "news"], "need a DTD"),
        (["subscriptions", "news", "-n", "many"], "neither a number nor 'all'"),
        (["subscriptions", "news", "-n", "all", "--duplicates"], "have no end"),
        (["subscriptions", "news", "--wildcard", "1.5"], "wildcard"),
        (["subscriptions", "news", "--min-depth", "7"], "depth"),
        (["subscriptions", "news", "--branching", "tree"], "branching"),
        (["subscriptions", "news", "--kind", "colour=1"], "is not one of attribute, value"),
        (["subscriptions", "news", "--kind", "value=x"], "is no number"),
        (["subscriptions", "news", "--operator", "~"], "operators are some of"),
        (["subscriptions", "news", "--values", "dates"], "is not integers:LOW-HIGH"),
        (["subscriptions", "news", "--format", "parquet"], "not for standard output"),
        (["subscriptions", "news", "-o", "a.xml"], "format of 'a.xml' is not known"),
        (["subscriptions", "news", "-o", "none/a.txt"], "No such file"),
        (["subscriptions", "news", "-o", "full/x/a.txt"], "cannot write"),
        (["feed", "tides"], "there is no feed 'tides'"),
        (["feed", "weather", "--day", "odd"], "is no kind of day"),
        (["feed", "weather", "--symbols", "3"], "--symbols is not for the weather feed"),
        (["feed", "stock", "--day", "calm"], "--day is not for the stock feed"),
        (["feed", "stock", "--start", "soon"], "is no date"),
        (["feed", "stock", "--from", "noon"], "is no time of day"),
        (["feed", "weather", "--period", "0"], "period"),
        (["feed", "weather", "--arrivals", "fixed:3", "-o", "a.csv"], "are for messages"),
        (["feed", "weather", "--arrivals", "never", "-o", "a"], "is no arrival process"),
        (["feed", "weather", "--sheet", "none.xsl", "-o", "a"], "No such file"),
        (["feed", "weather", "--format", "txt"], "is not one of csv, folder"),
        (["feed", "none.csv"], "No such file"),
        (["feed", "good.csv", "-o", "a.jsonl"], "which style sheet"),
        (["feed", "bad.csv", "-o", "b.csv"], "bad.csv:1: csv: the header has no field time"),
        (["feed", "weather", "-o", "a.txt"], "format of 'a.txt' is not known"),
        (["feed", "weather", "-o", "none/a.csv"], "No such file"),
    ],
)
def test_errors_are_reported_and_leave_no_files(
    here: Path, arguments: list[str], message: str
) -> None:
    write(here, bad__dtd="<!ELEMENT a (b,>", bad__csv="a,b\n", good__csv="time,b\n")
    (here / "full").mkdir()
    (here / "full" / "x").touch()
    result = generate(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr
    assert sorted(os.listdir(here)) == ["bad.csv", "bad.dtd", "full", "good.csv"]
    assert os.listdir(here / "full") == ["x"]


def test_existing_file_survives_a_failed_generation(here: Path) -> None:
    write(here, tiny__dtd=TINY, a__txt="//old\n")
    result = generate("subscriptions", "tiny.dtd", "-n", 1000, "-o", "a.txt")
    assert result.code == 2
    assert Path("a.txt").read_text() == "//old\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder_is_reported(here: Path) -> None:
    (here / "closed").mkdir(mode=0o500)
    result = generate("documents", "bib", "-o", "closed/a.jsonl")
    assert result.code == 2
    assert "Permission denied" in result.stderr


def test_interruption_exits_with_130_and_leaves_no_files(here: Path) -> None:
    """The data goes to a pipe, so that the command is at work when the signal arrives."""
    start = (  # the test runner may ignore SIGINT, and its children inherit that
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from pathcast.cli import main; main()"
    )
    arguments = ["generate", "documents", "news", "-n", "1000000"]
    command = [sys.executable, "-c", start, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b'{"id": "0000001"')
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert os.listdir(here) == []


def test_closed_stdout_exits_with_141_without_a_message(here: Path) -> None:
    command = [*COMMAND, "generate", "subscriptions", "news", "-n", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"/")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141
