#!/usr/bin/env bash
# One batch over a Slurm array: every task takes a share of the photos, all write into one folder, the last job joins them.
#
#     N=8
#     array=$(sbatch --parsable --array=1-$N scripts/slurm_array.sh photos out $N --beta 20)
#     sbatch --dependency=afterany:$array --wrap "lfield merge out"
#
# Photos and output folder must be visible to all nodes. A task that is killed and requeued goes on where it stopped; a task that
# failed for good is submitted again alone with --array=3. Options behind N go to `lfield batch`.
#SBATCH --job-name=lfield
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail
photos=$1 out=$2 shards=$3
shift 3

# Nine tenths of what Slurm allows; the rest is for the system's own account of a process.
memory=()
[ -z "${SLURM_MEM_PER_NODE:-}" ] || memory=(--max-memory "$((SLURM_MEM_PER_NODE * 9 / 10))M")

exec "${LFIELD:-lfield}" batch "$photos" -o "$out" --shard "auto/$shards" --threads "${SLURM_CPUS_PER_TASK:-1}" "${memory[@]}" "$@"
