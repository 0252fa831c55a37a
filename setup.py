"""Builds the compiled core; everything else about the package is in pyproject.toml.

The core reads libxml2's trees through the headers that lxml ships, and never links libxml2: lxml's
copy is the only one in the process. `--only NAME` builds one module, for development.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lxml
from Cython.Build import cythonize
from setuptools import Extension, setup

CORES = [
    Path("src/pathcast/covering/core"),
    Path("src/pathcast/covering/published_indexes"),
    Path("src/pathcast/matching/compiled/core"),
]


def _sources() -> list[Path]:
    sources = sorted(path for core in CORES for path in core.rglob("*.pyx"))
    if "--only" in sys.argv:
        at = sys.argv.index("--only")
        sources = [path for path in sources if path.stem == sys.argv[at + 1]]
        del sys.argv[at : at + 2]
    return sources


def _module(source: Path) -> str:
    return ".".join(source.relative_to("src").with_suffix("").parts)


setup(
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
    ext_modules=cythonize(
        [
            Extension(
                _module(source),
                [source.as_posix()],
                include_dirs=lxml.get_include(),
                extra_compile_args=["-O3", "-fno-strict-aliasing"],
            )
            for source in _sources()
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": False,
        },
    ),
)
