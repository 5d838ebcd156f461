#!/usr/bin/env python3
"""Compares `lfield segment` at its defaults with three peers on the same strokes; prints one Markdown table per data set.

    python3 scripts/compare_peers.py [--data DIR] [--sets coopcut,gsc] [--limit N] [--methods dense-crf,…]

The first run makes a venv of its own, `.venv-peers`, and installs the peers there:

- GrabCut (OpenCV): 5 iterations; strokes are definite, other pixels start where the unaries point.
- random walker (scikit-image): default settings, on strokes and photo alone.
- dense CRF (pydensecrf2): 5 iterations of mean field with the kernels of its documentation, on the unaries, strokes held fixed.

The unaries are lfield's own, `--method unary --seeds soft`, twice: all that lfield starts from, colour mixtures, stroke
distance and context, and the colour mixtures alone (`--geodesic 0 --context 0`), which is what these peers are usually given.
AUC and IoU are over pixels that carry no stroke and are not marked "ignore" (128) in the truth. Seconds are processor time on one
thread, which a busy machine does not distort, from files to mask: the whole run of lfield, the library call of a peer, and for
a peer that takes unaries the run of lfield that makes them.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-peers"
NEEDS = ["numpy", "pillow", "scipy", "scikit-image", "opencv-python-headless", "pydensecrf2"]
# The name on the command line, and the rows it fills.
METHODS = {
    "lfield": ["lfield defaults"],
    "unary": ["unaries alone", "colour unaries alone"],
    "grabcut": ["GrabCut", "GrabCut, colour unaries"],
    "random-walker": ["random walker"],
    "dense-crf": ["dense CRF", "dense CRF, colour unaries"],
}


def enter_venv():
    """Starts again inside the venv, which is made when missing."""
    if Path(sys.prefix) == VENV:
        return
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    if subprocess.run([python, "-c", "import cv2, skimage, pydensecrf.densecrf, PIL"], capture_output=True).returncode != 0:
        print("installing the peers into", VENV, file=sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS], check=True)
    os.execv(python, [str(python), *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder that holds the sets")
    parser.add_argument("--sets", default="coopcut,gsc", help="comma-separated folder names")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"comma-separated, from {', '.join(METHODS)}")
    parser.add_argument("--limit", type=int, help="only the first N photos of each set")
    parser.add_argument("--lfield", type=Path, help="program to use instead of building one")
    options = parser.parse_args()
    # Numerical libraries read this when they are loaded.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    enter_venv()
    import cv2
    from accuracy import build

    cv2.setNumThreads(1)
    program = options.lfield or build()
    for name in options.sets.split(","):
        folder = options.data / name
        photos = sorted(p for p in (folder / "images").iterdir() if p.is_file())[: options.limit]
        methods = options.methods.split(",")
        scores = {row: [] for method in methods for row in METHODS[method]}
        for count, photo in enumerate(photos, 1):
            for row, score in compare(program, folder, photo, methods):
                scores[row].append(score)
            if sys.stderr.isatty():
                print(f"\r{name}: {count} of {len(photos)}", end="", file=sys.stderr)
        print_table(name, scores)


def compare(program, folder, photo, methods):
    """Yields every method's row, scores and seconds on one photo."""
    import numpy as np
    from accuracy import auc, grey
    from PIL import Image, ImageOps

    strokes = folder / "scribbles" / f"{photo.stem}.png"
    labels, truth = grey(strokes), grey(folder / "masks" / f"{photo.stem}.png")
    rgb = np.array(ImageOps.exif_transpose(Image.open(photo)).convert("RGB"))
    judged = (truth != 128) & (labels == 0)
    wanted = truth[judged] > 128

    def score(p, mask, seconds):
        union = np.count_nonzero(mask[judged] | wanted)
        return {
            "auc": auc(p[judged], wanted) if p is not None else None,
            "iou": np.count_nonzero(mask[judged] & wanted) / union if union else 1.0,
            "seconds": seconds,
        }

    if "lfield" in methods:
        run = lfield(program, photo, strokes, "mask,marginals.npy")
        yield "lfield defaults", score(run["marginals"], run["mask"], run["seconds"])
    if "random-walker" in methods:
        p, seconds = timed(lambda: random_walk(rgb, labels))
        yield "random walker", score(p, p > 0.5, seconds)
    for kind, extra in enumerate(([], ["--geodesic", "0", "--context", "0"])):
        run = lfield(program, photo, strokes, "s", "--method", "unary", "--seeds", "soft", *extra)
        s, before = run["s"], run["seconds"]
        if "unary" in methods:
            yield METHODS["unary"][kind], score(-s, s < 0, before)
        if "grabcut" in methods:
            mask, seconds = timed(lambda: grab_cut(rgb, s, labels))
            yield METHODS["grabcut"][kind], score(None, mask, before + seconds)
        if "dense-crf" in methods:
            p, seconds = timed(lambda: dense_crf(rgb, s, labels))
            yield METHODS["dense-crf"][kind], score(p, p > 0.5, before + seconds)


def lfield(program, photo, strokes, emit, *extra):
    """The files of a run, and the processor time it took."""
    import numpy as np
    from accuracy import grey

    with tempfile.TemporaryDirectory() as out:
        command = [program, "segment", photo, "--scribbles", strokes, "-o", out, "--emit", emit, "--threads", "1", "-q", *extra]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        at = lambda suffix: Path(out) / f"{photo.stem}.{suffix}"
        found = {name: np.load(at(f"{name}.npy")) for name in ("s", "marginals") if at(f"{name}.npy").exists()}
        if at("mask.png").exists():
            found["mask"] = grey(at("mask.png")) > 127
        found["seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return found


def timed(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def grab_cut(rgb, s, labels):
    import cv2
    import numpy as np

    mask = np.where(s < 0, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    mask[labels == 255], mask[labels == 128] = cv2.GC_FGD, cv2.GC_BGD
    cv2.setRNGSeed(0)
    bgr = np.ascontiguousarray(rgb[:, :, ::-1])
    cv2.grabCut(bgr, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    return (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)


def random_walk(rgb, labels):
    import numpy as np
    from skimage.segmentation import random_walker

    markers = np.select([labels == 255, labels == 128], [2, 1], 0)
    with warnings.catch_warnings():
        # Its solver's tolerance leaves probabilities a hair outside 0 to 1.
        warnings.simplefilter("ignore")
        return random_walker(rgb / 255.0, markers, channel_axis=-1, return_full_prob=True)[1]


def dense_crf(rgb, s, labels):
    import numpy as np
    import pydensecrf.densecrf as dcrf

    height, width = labels.shape
    s = np.select([labels == 255, labels == 128], [-50.0, 50.0], s)
    # -log p of background and foreground.
    energies = np.stack([np.logaddexp(0, -s), np.logaddexp(0, s)]).reshape(2, -1)
    crf = dcrf.DenseCRF2D(width, height, 2)
    crf.setUnaryEnergy(np.ascontiguousarray(energies, dtype=np.float32))
    crf.addPairwiseGaussian(sxy=3, compat=3)
    crf.addPairwiseBilateral(sxy=80, srgb=13, rgbim=rgb, compat=10)
    return np.array(crf.inference(5))[1].reshape(height, width)


def print_table(name, scores):
    from importlib.metadata import version

    import numpy as np

    count = max(len(rows) for rows in scores.values())
    print(f"\n### {name}: mean of {count} photos\n")
    print("| method | AUC | IoU | seconds |\n|---|---|---|---|")
    for row, found in scores.items():
        cells = []
        for key, digits in (("auc", 4), ("iou", 4), ("seconds", 2)):
            values = [score[key] for score in found]
            cells.append("–" if None in values else f"{np.nanmean(values):.{digits}f}")
        print(f"| {row} | {' | '.join(cells)} |")
    print("\n" + ", ".join(f"{package} {version(package)}" for package in NEEDS[3:]))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
