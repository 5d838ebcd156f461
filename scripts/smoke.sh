#!/usr/bin/env bash
# Segments every sample in data/ with default options and checks what came out: the files are there, the pictures have the
# photo's size, the report says the solver converged, the mask meets the truth (IoU at least 0.85).
# Needs the Rust toolchain and standard Unix tools. LFIELD=path/to/lfield tests that program instead of building one.
set -euo pipefail
[ -z "${LFIELD:-}" ] || LFIELD=$(realpath "$(command -v "$LFIELD")")
cd "$(dirname "$0")/.."
least=0.85

# Not a release build: `cargo test` has made this one, and examples would have the whole library built once more for release.
cargo build --quiet --example overlap
overlap=${CARGO_TARGET_DIR:-target}/debug/examples/overlap
if [ -z "${LFIELD:-}" ]; then
    cargo build --release --quiet
    LFIELD=${CARGO_TARGET_DIR:-target}/release/lfield
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Width and height of a PNG: two big-endian words from byte 16 on.
png_size() { od -An -tx1 -j16 -N8 "$1" | tr -d ' \n'; }

# Prints the first thing wrong with the sample's outputs; prints the IoU and succeeds when nothing is.
check() {
    local stem=$1 photo=data/$1.png file iou
    "$LFIELD" segment -q "$photo" -o "$out" >"$out/log" 2>&1 || { echo "lfield failed: $(tail -n 1 "$out/log")"; return 1; }
    for file in mask.png heatmap.png marginals.png report.json; do
        [ -s "$out/$stem.$file" ] || { echo "$stem.$file is missing"; return 1; }
    done
    for file in mask.png heatmap.png marginals.png; do
        [ "$(png_size "$out/$stem.$file")" = "$(png_size "$photo")" ] || { echo "$stem.$file has another size than the photo"; return 1; }
    done
    tr -d ' \n' <"$out/$stem.report.json" | grep -q '"converged":true' || { echo "the report does not say converged"; return 1; }
    iou=$("$overlap" "$out/$stem.mask.png" "data/$stem.truth.png" "$least") || { echo "IoU $iou is below $least"; return 1; }
    echo "IoU $iou"
}

passed=0 failed=0
for truth in data/*.truth.png; do
    stem=$(basename "$truth" .truth.png)
    if note=$(check "$stem"); then
        passed=$((passed + 1)) verdict=ok
    else
        failed=$((failed + 1)) verdict=FAIL
    fi
    printf '%-8s %-5s %s\n' "$stem" "$verdict" "$note"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
