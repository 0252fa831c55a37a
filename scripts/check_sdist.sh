#!/usr/bin/env bash
# Checks that the sdist installs and runs in an empty environment.
#
# usage: scripts/check_sdist.sh PYTHON        PYTHON: an interpreter that has the package `build`
#
# The script builds the sdist from a copy of the tree, so that files of earlier builds cannot complete
# it and this build leaves none. It installs it without extras into a new environment and runs it from
# a folder without the sources.
set -eu -o pipefail

python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

quietly() {  # show the output of a step only if the step fails
    if ! "$@" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        echo "check_sdist: failed: $*" >&2
        exit 1
    fi
}

mkdir "$work/tree" "$work/elsewhere"
tar -cf - --exclude=./.git --exclude='./.venv' --exclude='./.*_cache' --exclude='./.hypothesis' \
    --exclude='*.egg-info' --exclude='*.so' --exclude='*.c' --exclude=__pycache__ --exclude=./build --exclude=./dist . |
    tar -xf - -C "$work/tree"

quietly "$python" -m build --sdist --outdir "$work/dist" "$work/tree"
quietly "$python" -m venv "$work/venv"
quietly "$work/venv/bin/pip" --disable-pip-version-check install "$work"/dist/pathcast-*.tar.gz

cd "$work/elsewhere"
quietly "$work/venv/bin/python" -c 'import pathcast; pathcast.Matcher(engine="core")'
quietly "$work/venv/bin/pathcast" generate documents book --count 3 --out documents
quietly "$work/venv/bin/pathcast" generate subscriptions book --count 9 --out subscriptions.txt
quietly "$work/venv/bin/pathcast" match subscriptions.txt documents
printf 'topology line 2\ncosts engine\npublisher P at b1 advertises dtd book\nsubscribe s at b2 //title\nquiet\n' >scenario.txt
quietly "$work/venv/bin/pathcast" simulate scenario.txt
if "$work/venv/bin/pathcast" demo >"$work/log" 2>&1 || ! grep -q 'pathcast\[spark\]' "$work/log"; then
    cat "$work/log" >&2
    echo "check_sdist: without Spark the demonstration should say what to install" >&2
    exit 1
fi
version=$("$work/venv/bin/pathcast" --version)
sdist=$(basename "$work"/dist/pathcast-*.tar.gz .tar.gz)
case $version in
    *"${sdist#pathcast-}"*) echo "check_sdist: $sdist installs and runs in an empty environment" ;;
    *)
        echo "check_sdist: $sdist says that its version is '$version'" >&2
        exit 1
        ;;
esac
