#!/usr/bin/env bash
# Packs the crate as for a registry, unpacks it elsewhere and runs its tests there: whatever they read must be packed too.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
cargo package --locked --no-verify --allow-dirty --quiet --target-dir "$target"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -xzf "$target/package/lfield-$version.crate" -C "$place"
cd "$place/lfield-$version"
# Dependencies are compiled already; the crate itself is built anew because it is elsewhere.
CARGO_TARGET_DIR=$target cargo test --locked "$@"
CARGO_TARGET_DIR=$target cargo test --locked --benches --no-run
