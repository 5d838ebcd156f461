#!/usr/bin/env bash
# The page of `lfield paint` in a real browser with the real program. Installs Debian's Chromium and, outside of the tree's own
# files, playwright-core where they are missing. LFIELD names a program built elsewhere, LFIELD_PAGE a folder with other files of the page; arguments go to scripts/browser/run.mjs.
set -euo pipefail
cd "$(dirname "$0")/.."
export BROWSER_TOOLS=${BROWSER_TOOLS:-$PWD/target/browser}
export CHROMIUM=${CHROMIUM:-$(command -v chromium || echo /usr/bin/chromium)}
if [ ! -x "$CHROMIUM" ]; then
    echo "installing chromium"
    (apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q chromium) >/dev/null
fi
if [ ! -d "$BROWSER_TOOLS/node_modules/playwright-core" ]; then
    echo "installing playwright-core into $BROWSER_TOOLS"
    mkdir -p "$BROWSER_TOOLS"
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-audit --no-fund --prefix "$BROWSER_TOOLS" playwright-core@1
fi
if [ -z "${LFIELD:-}" ]; then
    cargo build --release --quiet
    LFIELD=${CARGO_TARGET_DIR:-$PWD/target}/release/lfield
fi
export LFIELD
exec node scripts/browser/run.mjs "$@"
