#!/usr/bin/env bash
# Builds what goes to PyPI: the sdist and a wheel for this machine's system, smaller by the profile `dist`. Needs maturin (pip install maturin).
#   scripts/release_wheels.sh [FOLDER]       default: target/release-wheels
# A wheel runs on systems at least as new as the one it was built on: build in the manylinux image of the oldest that counts.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-target/release-wheels}")
maturin sdist -m python/Cargo.toml -o "$out"
maturin build --profile dist --locked -m python/Cargo.toml -o "$out"
ls -l "$out"
