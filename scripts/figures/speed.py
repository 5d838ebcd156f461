"""How fast: whole runs, kernels, size, peers; and how long the project takes to build and to check."""

import json
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .desk import ROOT, first_tables, program, run, table

RUNS = 3


def speed(desk):
    """`lfield segment` on every photo of coopcut, best of three, and one line for the README."""
    rows, totals, pixels = [], [], []
    for photo in sorted((desk.photo_set("coopcut") / "images").iterdir()):
        best = min((whole(desk, photo) for _ in range(RUNS)), key=lambda found: found[0])
        seconds, report = best
        totals.append(seconds)
        pixels.append(report["model"]["pixels"] / 1e6)
        rows.append([
            photo.stem, f"{report['input']['width']}×{report['input']['height']}", f"{report['model']['free_pixels']:,}",
            report["solve"]["iterations"], f"{report['timing']['solve']:.2f}", f"{seconds:.2f}",
        ])
    line = f"Median of {len(totals)} photos of {statistics.median(pixels):.2f} megapixels, from files to files: {statistics.median(totals):.2f} s."
    head = ["photo", "size", "free pixels", "sweeps", "solve, s", "whole `lfield segment`, s"]
    return {"speed": table(head, rows), "speed-line": line}


def whole(desk, photo):
    """Seconds on the clock, and the report."""
    with tempfile.TemporaryDirectory() as out:
        strokes = photo.parent.parent / "scribbles" / f"{photo.stem}.png"
        began = time.perf_counter()
        run([program(), "segment", photo, "--scribbles", strokes, "-o", out, "-q"])
        seconds = time.perf_counter() - began
        return seconds, json.loads((Path(out) / f"{photo.stem}.report.json").read_text())


def kernels(desk):
    return engine("kernels")


def scaling(desk):
    return engine("scaling")


def engine(name):
    head, *rows = first_tables(run(["cargo", "bench", "--quiet", "--bench", "engine", "--", name], cwd=ROOT))[0]
    return table(head, rows)


def proxtv(desk):
    return script(".venv-proxtv", "scripts/bench_proxtv.py", "--lfield", program())[0]


def meanshift(desk):
    return script(".venv-meanshift", "scripts/bench_meanshift.py", "--lfield", program(), "--data", desk.photo_set("coopcut"))[-1]


def large(desk):
    """Levels of detail against all at once, by size."""
    return script(".venv", "scripts/bench_large.py")[0]


def script(venv, *command):
    """The tables that a script prints."""
    python = ROOT / venv / "bin/python"
    if not python.exists():
        raise SystemExit(f"{venv} is missing; scripts/README.md says how to make it")
    return [table(head, rows) for head, *rows in first_tables(run([python, *command], cwd=ROOT))]


def build(desk):
    """Seconds from nothing and size of the program, by profile."""
    rows = []
    subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=ROOT, check=True)
    for profile in ("release", "dist"):
        with tempfile.TemporaryDirectory() as folder:
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            command = ["cargo", "build", "--quiet", "--locked", "--profile", profile]
            subprocess.run(command, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": folder}, check=True)
            seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            size = (Path(folder) / profile / "lfield").stat().st_size
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rows.append([f"`{profile}`", f"{seconds:.0f}", f"{processor:.0f}", f"{size / 1e6:.1f}"])
    return table(["profile", "seconds", "processor seconds", "MB"], rows)


def ci(desk):
    """The steps of `.ci/run` on a fresh clone."""
    with tempfile.TemporaryDirectory() as folder:
        run(["git", "clone", "--quiet", ROOT, f"{folder}/clone"])
        environment = {key: value for key, value in os.environ.items() if key not in ("CARGO_TARGET_DIR", "LFIELD")}
        began = time.perf_counter()
        printed = run([f"{folder}/clone/.ci/run"], env=environment)
        total = time.perf_counter() - began
    rows = [[f"`{step}`", seconds] for step, seconds in re.findall(r"^== (.+): (\d+) s$", printed, re.M)]
    return table(["step", "seconds"], [*rows, ["all", f"{total:.0f}"]])
