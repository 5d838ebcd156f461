#!/usr/bin/env bash
# A batch on a real Slurm, started on this host for the purpose: installs Debian's packages if they are missing, starts munge,
# slurmctld and slurmd with a configuration of its own, submits scripts/slurm_array.sh over copies of the samples, kills one task
# half-way with SIGKILL, requeues it, merges, and checks that the result equals a run on one machine.
# Needs root, Debian and Python 3. LFIELD=path/to/lfield uses that program instead of building one. Nothing outside a temporary
# folder is touched, and the daemons end with the script.
set -euo pipefail
[ -z "${LFIELD:-}" ] || LFIELD=$(realpath "$(command -v "$LFIELD")")
cd "$(dirname "$0")/.."
if [ -z "${LFIELD:-}" ]; then
    cargo build --release --quiet
    LFIELD=$(realpath "${CARGO_TARGET_DIR:-target}/release/lfield")
fi
export LFIELD
shards=4 victim=2

say() { printf '== %s\n' "$*"; }

if ! command -v slurmctld slurmd sbatch munged >/dev/null; then
    say "installing Slurm"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null
fi
export PATH=$PATH:/usr/sbin

home=$(mktemp -d)
chmod 755 "$home"
pids=()
finish() {
    code=$?
    [ "$code" -eq 0 ] || tail -n 20 "$home"/*.log "$home"/task-*.out 2>/dev/null || true
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$home"
    exit "$code"
}
trap finish EXIT

# Runs a probe until it succeeds.
await() {
    local what=$1 tries=$2
    shift 2
    for _ in $(seq "$tries"); do
        if "$@"; then return 0; fi
        sleep 0.2
    done
    echo "gave up waiting for $what"
    return 1
}

say "starting munge, slurmctld, slurmd"
mkdir -m 711 "$home/munge"
head -c 1024 /dev/urandom >"$home/munge/key"
chmod 400 "$home/munge/key"
munged --foreground --key-file="$home/munge/key" --socket="$home/munge/socket" --pid-file="$home/munge/pid" \
    --seed-file="$home/munge/seed" --log-file="$home/munged.log" --force >"$home/munged.out" 2>&1 &
pids+=($!)
await "munge" 100 test -S "$home/munge/socket"

node=$(hostname -s)
mkdir "$home/state" "$home/spool"
cat >"$home/slurm.conf" <<CONF
ClusterName=smoke
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$home/munge/socket
CredType=cred/munge
StateSaveLocation=$home/state
SlurmdSpoolDir=$home/spool
SlurmctldPidFile=$home/slurmctld.pid
SlurmdPidFile=$home/slurmd.pid
SlurmctldLogFile=$home/slurmctld.log
SlurmdLogFile=$home/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
JobRequeue=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024)) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$home/slurm.conf
slurmctld -D -i >"$home/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D >"$home/slurmd.out" 2>&1 &
pids+=($!)
is_ready() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
await "an idle node" 150 is_ready
sbatch --version
sinfo

say "a folder of photos, and what one machine makes of it"
for i in 1 2 3; do
    mkdir -p "$home/photos/day-$i"
    cp data/{beetle,lamp,poppy,tree}{,.scribbles}.png "$home/photos/day-$i/"
done
cd "$home"
"$LFIELD" batch "$home/photos" -o single

say "an array of $shards tasks"
array=$(sbatch --parsable --array=1-$shards --cpus-per-task=1 --mem=1G --output="$home/task-%a.out" \
    "$OLDPWD/scripts/slurm_array.sh" "$home/photos" "$home/out" $shards)
echo "array $array"

in_shard() { "$LFIELD" batch "$home/photos" -o "$home/out" --shard "$victim/$shards" --dry-run 2>/dev/null; }
share=$(in_shard | grep -c '^segment')
done_now() { in_shard | grep -c '^done' || true; }
is_half_way() { local n; n=$(done_now); [ "$n" -ge 1 ] && [ "$n" -lt "$share" ]; }
await "task $victim to be half-way" 1500 is_half_way
say "killing task $victim after $(done_now) of $share photos"
squeue -r
for process in /proc/[0-9]*; do
    if grep -qzx "SLURM_ARRAY_TASK_ID=$victim" "$process/environ" 2>/dev/null \
        && [ "$(realpath "$process/exe" 2>/dev/null)" = "$LFIELD" ] && grep -q "$home" "$process/cmdline"; then
        kill -KILL "${process#/proc/}"
    fi
done
state() { scontrol show job "${array}_$1" 2>/dev/null | sed -n 's/^ *JobState=\([A-Z_]*\).*/\1/p'; }
is_dead() { case $(state $victim) in FAILED) ;; *) return 1 ;; esac; }
await "task $victim to be dead" 150 is_dead
echo "task $victim: $(state $victim); $(done_now) of $share photos are done; its report $([ -e "$home/out/summary.$victim-of-$shards.json" ] && echo exists || echo is missing)"
if "$LFIELD" merge "$home/out"; then
    echo "merge should have refused"
    exit 1
fi

say "requeueing it"
scontrol requeue "${array}_$victim"
is_over() {
    local task
    for task in $(seq $shards); do [ "$(state "$task")" = COMPLETED ] || return 1; done
}
await "all tasks" 3000 is_over
for task in $(seq $shards); do
    echo "task $task: $(state "$task"), restarts $(scontrol show job "${array}_$task" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')"
done
sed 's/^/    /' "$home/task-$victim.out"

say "merging, and comparing with one machine"
"$LFIELD" merge "$home/out"
python3 "$OLDPWD/scripts/compare_batches.py" "$home/single" "$home/out"
say "ok"
