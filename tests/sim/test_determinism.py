"""The same seed gives the same trace, byte for byte, in every process and with any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

from pathcast.sim.scenario import Overrides, read_scenario, run_scenario
from tests.sim.delivery_model import add_expectations
from tests.sim.random_scenarios import random_scenario

ROOT = Path(__file__).parents[2]
SEEDS = range(0, 48, 3)
PROGRAM = """
import sys
from pathcast.sim.scenario import run_scenario
from hashlib import blake2b
texts = sys.stdin.read().split("\\f")
for text in texts:
    print(blake2b("\\n".join(run_scenario(text).trace).encode()).hexdigest())
"""


def digest(text: str) -> str:
    return blake2b("\n".join(run_scenario(text).trace).encode()).hexdigest()


def test_traces_are_the_same_in_every_process() -> None:
    texts = [str(add_expectations(random_scenario(seed))) for seed in SEEDS]
    here = [digest(text) for text in texts]
    assert here == [digest(text) for text in texts]
    assert len(set(here)) == len(here)
    for hashes in ("1", "4711"):
        completed = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input="\f".join(texts),
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hashes},
        )
        assert completed.stdout.split() == here


def test_another_seed_is_another_trace() -> None:
    scenario = read_scenario(
        "topology line 3\nlose 50% everywhere\npublisher P at b1 advertises anything\n"
        "subscribe s1 at b3 /a\nuntil idle\n"
    )
    first, same, other = (
        run_scenario(scenario, overrides=Overrides(seed=seed)) for seed in (1, 1, 2)
    )
    assert first.trace == same.trace
    assert first.trace != other.trace
