#!/usr/bin/env python3
"""lfield against proxTV's weighted 2-D total variation, in one run, on the same weights and the same unary.

    .venv-proxtv/bin/python scripts/bench_proxtv.py [--image data/beetle.png] [--lfield target/release/lfield] [--threads 2]

proxTV is what the paper used. Both minimise ½‖x + m‖² + β Σ w|x_p − x_q|; the yardstick is the largest error of a marginal
1/(1+exp(−x)) against lfield at tolerance 1e-12. lfield's time is its solve stage (`solve.seconds` of the report), proxTV's that of
the call; both include their own set-up, neither includes reading or weights. Each time is the best of three.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import prox_tv
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
THETA = 0.001


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", type=Path, default=ROOT / "data/beetle.png", help="a photo with strokes beside it")
    parser.add_argument("--lfield", type=Path, help="program to use instead of building one")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    program = options.lfield or build()
    rgb = np.asarray(Image.open(options.image).convert("RGB"), dtype=float)
    rows = np.exp(-THETA * ((rgb[:, 1:] - rgb[:, :-1]) ** 2).sum(axis=2))
    columns = np.exp(-THETA * ((rgb[1:] - rgb[:-1]) ** 2).sum(axis=2))
    with tempfile.TemporaryDirectory() as folder:
        unary = Path(folder) / "unary.npy"
        # Bounded colour log-odds without coupling: s is the unary itself.
        paper = ["--seeds", "soft", "--geodesic", "0", "--context", "0"]
        first, _ = run(program, options, folder, [*paper, "--method", "unary"])
        np.save(unary, first)
        print(f"{options.image.name}, {rgb.shape[1]}×{rgb.shape[0]}, {options.threads} threads\n")
        print("| β | method | largest marginal error | seconds | lfield is faster by |\n|---|---|---|---|---|")
        for beta in (1, 10):
            common = [*paper, "--unary", str(unary), "--beta", str(beta), "--gamma", "0", "--theta", str(THETA)]
            exact, _ = run(program, options, folder, [*common, "--tolerance", "1e-12", "--max-iterations", "20000"])
            results = [run(program, options, folder, common) for _ in range(3)]
            ours, seconds = results[0][0], min(seconds for _, seconds in results)
            target = error(ours, exact)
            print(f"| {beta} | lfield, default tolerance | {target:.2g} | {seconds:.3f} | |")
            default = compare(-first, columns * beta, rows * beta, 0, options.threads)
            report(beta, "proxTV, default run", default, exact, seconds)
            tolerance, coarse = coarsest(program, options, folder, common, exact, error(-default[0], exact))
            print(f"| {beta} | lfield, `--tolerance {tolerance:g}` (as exact as that run) | {error(coarse[0], exact):.2g} | {coarse[1]:.3f} | |")
            print(f"| {beta} | proxTV's default run against that | | | {default[1] / coarse[1]:.1f}× |")
            iterations = 50
            while True:
                matched = compare(-first, columns * beta, rows * beta, iterations, options.threads)
                if error(-matched[0], exact) <= target or iterations > 20_000:
                    break
                iterations = int(iterations * 1.4)
            report(beta, f"proxTV, {iterations} iterations (as exact as lfield)", matched, exact, seconds)


def coarsest(program, options, folder, common, exact, target):
    """The largest tolerance, by factors of three from the default, with which lfield is as exact as `target`; s and the best time of three."""
    tolerance, found = 1e-5, None
    while True:
        results = [run(program, options, folder, [*common, "--tolerance", str(tolerance)]) for _ in range(3)]
        if found and error(results[0][0], exact) > target:
            return found
        found = tolerance, (results[0][0], min(seconds for _, seconds in results))
        tolerance *= 3


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "lfield"


def run(program, options, folder, extra):
    """s and the seconds of the solve."""
    command = [program, "--quiet", "--threads", str(options.threads), "segment", options.image, "-o", folder]
    subprocess.run([*command, "--emit", "s.npy,report", *extra], check=True)
    stem = options.image.stem
    result = json.loads((Path(folder) / f"{stem}.report.json").read_text())
    return np.load(Path(folder) / f"{stem}.s.npy"), result["solve"]["seconds"]


def compare(x, columns, rows, iterations, threads):
    """proxTV's answer and its best time of three."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        answer = prox_tv.tv1w_2d(x, columns, rows, max_iters=iterations, n_threads=threads)
        best = min(best, time.perf_counter() - start)
    return answer, best


def error(s, exact):
    return np.abs(1 / (1 + np.exp(s)) - 1 / (1 + np.exp(exact))).max()


def report(beta, name, result, exact, seconds):
    print(f"| {beta} | {name} | {error(-result[0], exact):.2g} | {result[1]:.3f} | {result[1] / seconds:.1f}× |")


if __name__ == "__main__":
    main()
