#!/usr/bin/env bash
# Fuzzes the readers, the kernels, small models, their certificates and the command line, each for MINUTES of processor time, and prints a table:
#   scripts/fuzz.sh MINUTES [TARGET…]
# Starts from tests/seeds and what earlier runs left in fuzz/corpus. A target stops at its first finding, which is kept in
# fuzz/artifacts. Exit code 1: there were findings. JOBS=2 fuzzes two targets at a time.
# Needs the nightly toolchain and cargo-fuzz (cargo install cargo-fuzz --locked).
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?usage: scripts/fuzz.sh MINUTES [TARGET…]}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(strokes npy label_map model certificate report command_line kernels)

cargo +nightly fuzz build >&2
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
logs=fuzz/logs
mkdir -p "$logs"

# One target, from its binary: cargo fuzz run would build again beside the others. On SIGUSR1 libFuzzer ends as after a full run. Its limit
# for one input is generous, because that one is by the clock on the wall, and the machine may be busy or the process stopped.
fuzz() {
    local target=$1 seeds=tests/seeds/$1 spent=0 now pid
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    "fuzz/target/$host/release/$target" "fuzz/corpus/$target" "$seeds" -artifact_prefix="fuzz/artifacts/$target/" \
        -timeout=3600 -report_slow_units=3600 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=4096 -print_final_stats=1 &
    pid=$!
    while now=$(ps -o cputimes= -p "$pid"); do
        spent=$((now))
        [ "$spent" -lt $((minutes * 60)) ] || kill -USR1 "$pid" 2>/dev/null || true
        sleep 2
    done
    echo "processor seconds: $spent"
    wait "$pid"
}

running=0
for target in "${targets[@]}"; do
    rm -f "$logs/$target.log" "$logs/$target.failed"
    (fuzz "$target" >"$logs/$target.log" 2>&1 || touch "$logs/$target.failed") &
    running=$((running + 1))
    if [ "$running" -ge "${JOBS:-1}" ]; then
        wait -n
        running=$((running - 1))
    fi
done
wait

failed=0
printf '%-14s %12s %8s %9s\n' target executions "cpu min" findings
for target in "${targets[@]}"; do
    log=$logs/$target.log
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    processor=$(sed -n 's/^processor seconds: *//p' "$log" | tail -n 1)
    findings=0
    if [ -e "$logs/$target.failed" ]; then
        findings=1 failed=1
    fi
    printf '%-14s %12s %8s %9s\n' "$target" "${executions:-0}" "$((${processor:-0} / 60))" "$findings"
done
exit "$failed"
