#!/usr/bin/env bash
# Packs an environment for executors without pathcast, as an archive for Spark's `--archives`.
#
# usage: scripts/dist_env.sh PYTHON ARCHIVE      PYTHON: an interpreter that has `build` and `venv-pack`
#
# The archive holds pathcast with its compiled core and the packages of the extra `spark`, except
# pyspark, which every executor has from its own Spark, and matplotlib, which only the driver uses. It
# links to PYTHON instead of containing an interpreter: the machines that unpack it need the same
# Python at the same path. The wheel is built from a copy of the tree, without files of earlier builds.
set -eu -o pipefail

python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
archive=$(mkdir -p "$(dirname "$2")" && cd "$(dirname "$2")" && pwd)/$(basename "$2")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

quietly() {  # show the output of a step only if the step fails
    if ! "$@" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        echo "dist_env: failed: $*" >&2
        exit 1
    fi
}

mkdir "$work/tree" "$work/elsewhere"
tar -cf - --exclude=./.git --exclude='./.venv' --exclude='./.*_cache' --exclude='./.hypothesis' \
    --exclude='*.egg-info' --exclude='*.so' --exclude='*.c' --exclude=__pycache__ --exclude=./build --exclude=./dist . |
    tar -xf - -C "$work/tree"

quietly "$python" -m build --wheel --outdir "$work/dist" "$work/tree"
quietly "$python" -m venv --without-pip "$work/env"
install() {
    quietly "$python" -m pip --disable-pip-version-check --python "$work/env/bin/python" install "$@"
}
install "$work"/dist/pathcast-*.whl
"$work/env/bin/python" - >"$work/requirements" <<'PYTHON'
import importlib.metadata

for line in importlib.metadata.requires("pathcast") or ():
    requirement, _, marker = line.partition(";")
    if marker.strip() == 'extra == "spark"' and not requirement.startswith(("pyspark", "matplotlib")):
        print(requirement)
PYTHON
install --requirement "$work/requirements"

cd "$work/elsewhere"
quietly "$work/env/bin/python" -c 'import pathcast, pyarrow, nats; pathcast.Matcher(engine="core")'
quietly "$python" -m venv_pack --prefix "$work/env" --output "$work/packed.tar.gz"
mv "$work/packed.tar.gz" "$archive"
echo "dist_env: $archive ($(du -h "$archive" | cut -f1))"
