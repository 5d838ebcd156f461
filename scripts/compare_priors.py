#!/usr/bin/env python3
"""Compares `lfield segment --prior` at its defaults with dense CRF, GrabCut and guided filter on the outputs of simulated networks.

    python3 scripts/compare_priors.py [--data DIR] [--kinds NAME,…] [--limit N] [--cache FILE] [-- LFIELD OPTIONS]

Prints one Markdown table per data set: a row for every kind of network, IoU before and after beside the peers, Brier score and log loss before
and after. The networks are made from the truth, with errors drawn from a seed that is the photo's name; `KINDS` says what each does. Photos: all
of coopcut, every third of gsc. The first run makes a venv of its own, `.venv-peers`, and installs the peers there:

- dense CRF (pydensecrf2), 5 iterations of mean field: the kernels of its documentation ("usual"), and the best of a grid of four.
- GrabCut (OpenCV), 5 iterations: started from p > 1/2, and again with p beyond .02 and .98 held fixed; the better of the two.
- guided filter (He, Sun and Tang), written here: the best of three radii.

"Best" is chosen with hindsight, by the mean IoU of the kind on that set: no user could do better. IoU is that of p > 1/2 and of lfield's
written mask. For the log loss, p is held to 1e-6 … 1 − 1e-6. Pixels marked "ignore" (128) in the truth are not scored. `--cache FILE` keeps
all scores between runs, those of lfield by its build.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = {"coopcut": 1, "gsc": 3}
CRF = {"usual": (3, 3, 80, 13, 10), "narrow": (3, 3, 40, 10, 5), "weak": (1, 1, 60, 10, 3), "strong": (3, 5, 60, 20, 10)}
RADII = (4, 8, 16)
PEERS = {"dense CRF, usual": ["crf usual"], "dense CRF, best": [f"crf {name}" for name in CRF],
         "GrabCut": ["grabcut free", "grabcut held"], "guided filter": [f"guided {radius}" for radius in RADII]}


def main():
    from compare_peers import enter_venv

    own, extra = sys.argv[1:], []
    if "--" in own:
        own, extra = own[: own.index("--")], own[own.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder that holds the sets")
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated folder names")
    parser.add_argument("--kinds", help="comma-separated kinds of networks")
    parser.add_argument("--limit", type=int, help="only the first N photos of each set")
    parser.add_argument("--part", choices=["even", "odd"], help="only every second photo: what was tuned on, and the rest")
    parser.add_argument("--jobs", type=int, default=2, help="photos at a time, each on one thread")
    parser.add_argument("--cache", type=Path, help="keeps scores between runs, as JSON lines")
    parser.add_argument("--no-peers", action="store_true", help="lfield alone")
    parser.add_argument("--peers-only", action="store_true", help="fill the cache")
    parser.add_argument("--lfield", type=Path, help="program to use instead of building one")
    options = parser.parse_args(own)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    enter_venv()
    import cv2
    from accuracy import build

    cv2.setNumThreads(1)
    kinds = options.kinds.split(",") if options.kinds else list(KINDS)
    program = None if options.peers_only else options.lfield or build()
    known = Cache(options.cache)
    for name in options.sets.split(","):
        folder = options.data / name
        photos = sorted(p for p in (folder / "images").iterdir() if p.is_file())[:: SETS.get(name, 1)][: options.limit]
        if options.part:
            photos = photos[options.part == "odd" :: 2]
        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda photo: compare(program, folder, photo, kinds, known, options, extra), photos))
        if program:
            print_table(name, kinds, found, options.no_peers)


class Cache:
    """Scores by photo, kind and method."""

    def __init__(self, path):
        self.path, self.scores = path, {}
        if path and path.exists():
            self.scores = {tuple(key): score for key, score in map(json.loads, path.read_text().splitlines())}

    def get(self, key, work):
        if key not in self.scores:
            self.scores[key] = work()
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self.scores[key]]) + "\n")
        return self.scores[key]


def compare(program, folder, photo, kinds, known, options, extra):
    """The scores of every method on one photo, by kind and method."""
    import numpy as np
    from accuracy import grey
    from PIL import Image, ImageOps

    truth = grey(folder / "masks" / f"{photo.stem}.png")
    rgb = np.array(ImageOps.exif_transpose(Image.open(photo)).convert("RGB"))
    judged = truth != 128
    wanted = truth[judged] > 128

    def score(p, mask=None):
        p, mask = p[judged].astype(float), (p > 0.5 if mask is None else mask)[judged]
        union = np.count_nonzero(mask | wanted)
        held = np.clip(p, 1e-6, 1 - 1e-6)
        return {
            "iou": np.count_nonzero(mask & wanted) / union if union else 1.0,
            "brier": float(np.mean((p - wanted) ** 2)),
            "loss": float(-np.mean(np.log(np.where(wanted, held, 1 - held)))),
        }

    found = {}
    for kind in kinds:
        p = simulate(kind, truth, f"{photo.stem} {kind}")
        found[kind, "prior"] = score(p)
        peers = {f"crf {name}": lambda kernel=kernel: dense_crf(rgb, p, *kernel) for name, kernel in CRF.items()}
        peers |= {"grabcut free": lambda: grab_cut(rgb, p, 0.0), "grabcut held": lambda: grab_cut(rgb, p, 0.02)}
        peers |= {f"guided {radius}": lambda radius=radius: guided_filter(rgb, p, radius) for radius in RADII}
        for method, work in {} if options.no_peers else peers.items():
            found[kind, method] = known.get((folder.name, photo.stem, kind, method), lambda: score(work()))
        if program:
            found[kind, "lfield"] = known.get(
                (folder.name, photo.stem, kind, f"lfield {build_of(program)} {' '.join(extra)}"),
                lambda: score(*lfield(program, photo, p, extra)),
            )
    return found


@functools.lru_cache
def build_of(program):
    """Tells one build of the program from another."""
    return f"{zlib.crc32(Path(program).read_bytes()):08x}"


# What each kind of network does to the truth t, a picture of 0 and 1, with 1/2 where the truth is not known. `noise` is smooth and of
# deviation 1; logits are what a softmax would be given.
KINDS = {
    "blurred": "truth blurred by 2 % of the diagonal",
    "eroded": "1 % of the diagonal taken off, logits ±3, soft edge of 2 pixels",
    "dilated": "1 % of the diagonal put on, logits ±3, soft edge of 2 pixels",
    "noisy": "logits ±1.5 and noise of deviation 1.5, 4 pixels wide",
    "stride 8": "shares of 8×8 blocks as logits within ±4, noise of deviation ½, bilinear",
    "stride 16": "the same with 16×16 blocks",
    "stride 32": "the same with 32×32 blocks",
    "over-confident": "stride 16, logits times 5",
    "under-confident": "stride 16, logits times 1/5",
    "weak blobs": "three bumps inside the object, at most .75, elsewhere .15",
    "holes and islands": "logits ±3, a fifth of the object missed and as much background taken, in discs",
    "nearly perfect": "truth blurred by 1 pixel, logits ±5, noise of deviation ½",
    "0/1 mask": "stride 16 cut at one half",
    "0/1 mask, exact": "truth itself, outline off by a pixel here and there",
}


def simulate(kind, truth, name):
    """The network's probability of the object for every pixel."""
    import cv2
    import numpy as np

    random = np.random.default_rng(zlib.crc32(name.encode()))
    t = np.select([truth > 128, truth == 128], [1.0, 0.5], 0.0)
    height, width = t.shape
    percent = np.hypot(height, width) / 100
    blur = lambda a, sigma: cv2.GaussianBlur(a, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    sigmoid = lambda x: 1 / (1 + np.exp(-x))

    def noise(scale, shape=t.shape):
        smooth = random.standard_normal(shape)
        smooth = blur(smooth, scale) if scale else smooth
        return smooth / smooth.std()

    def stride(step):
        rows, columns = -(-height // step), -(-width // step)
        padded = np.pad(t, ((0, rows * step - height), (0, columns * step - width)), mode="edge")
        share = padded.reshape(rows, step, columns, step).mean((1, 3))
        logits = np.clip(np.log((share + 0.018) / (1.018 - share)), -4, 4) + 0.5 * noise(0, share.shape)
        return cv2.resize(logits, (columns * step, rows * step), interpolation=cv2.INTER_LINEAR)[:height, :width]

    if kind == "blurred":
        return blur(t, 2 * percent)
    if kind in ("eroded", "dilated"):
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * round(percent) + 1,) * 2)
        changed = (cv2.erode if kind == "eroded" else cv2.dilate)(t, disc)
        return sigmoid(3 * (2 * blur(changed, 2) - 1) + 0.5 * noise(8))
    if kind == "noisy":
        return sigmoid(1.5 * (2 * t - 1) + 1.5 * noise(4))
    if kind.startswith("stride"):
        return sigmoid(stride(int(kind.split()[1])))
    if kind == "over-confident":
        return sigmoid(5 * stride(16))
    if kind == "under-confident":
        return sigmoid(stride(16) / 5)
    if kind == "weak blobs":
        inside = np.argwhere(t == 1)
        y, x = np.mgrid[:height, :width]
        radius = 0.6 * np.sqrt(len(inside) / np.pi)
        centres = inside[random.integers(len(inside), size=3)]
        bumps = [np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * radius**2)) for cy, cx in centres]
        return np.clip(0.15 + 0.6 * np.max(bumps, axis=0) + 0.03 * noise(4), 0.001, 0.999)
    if kind == "holes and islands":
        changed = t.copy()
        area = np.count_nonzero(t == 1)
        for value, places in ((0.0, np.argwhere(t == 1)), (1.0, np.argwhere(cv2.dilate(t, np.ones((41, 41))) == 0))):
            for cy, cx in places[random.integers(len(places), size=5)] if len(places) else []:
                cv2.circle(changed, (int(cx), int(cy)), max(2, round(np.sqrt(0.04 * area / np.pi))), value, -1)
        return sigmoid(3 * (2 * blur(changed, 2) - 1) + 0.5 * noise(8))
    if kind == "nearly perfect":
        return sigmoid(5 * (2 * blur(t, 1) - 1) + 0.5 * noise(4))
    if kind == "0/1 mask":
        return (stride(16) > 0).astype(float)
    if kind == "0/1 mask, exact":
        return (blur(t, 1) + 0.1 * noise(2) > 0.5).astype(float)
    raise ValueError(f"no kind of network is called {kind!r}: there are {', '.join(KINDS)}")


def lfield(program, photo, p, extra):
    """The marginals and the mask of a run."""
    import numpy as np
    from accuracy import grey

    with tempfile.TemporaryDirectory() as out:
        prior = Path(out) / "prior.npy"
        np.save(prior, p.astype(np.float32))
        bare = Path(out) / photo.name
        bare.symlink_to(photo.resolve())
        command = [program, "segment", bare, "--prior", prior, "-o", out, "--emit", "mask,marginals.npy", "--threads", "1", "-q", *extra]
        subprocess.run(command, check=True)
        return np.load(Path(out) / f"{photo.stem}.marginals.npy"), grey(Path(out) / f"{photo.stem}.mask.png") > 127


def dense_crf(rgb, p, smooth, compat, place, colour, strength):
    import numpy as np
    import pydensecrf.densecrf as dcrf

    height, width = p.shape
    p = np.clip(p, 1e-5, 1 - 1e-5)
    crf = dcrf.DenseCRF2D(width, height, 2)
    crf.setUnaryEnergy(np.ascontiguousarray(-np.log(np.stack([1 - p, p])).reshape(2, -1), dtype=np.float32))
    crf.addPairwiseGaussian(sxy=smooth, compat=compat)
    crf.addPairwiseBilateral(sxy=place, srgb=colour, rgbim=rgb, compat=strength)
    return np.array(crf.inference(5))[1].reshape(height, width)


def grab_cut(rgb, p, sure):
    import cv2
    import numpy as np

    mask = np.where(p > 0.5, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    # A mask of 0 and 1 is sure everywhere: nothing would be left to do.
    if sure and ((p > sure) & (p < 1 - sure)).any():
        mask[p > 1 - sure], mask[p < sure] = cv2.GC_FGD, cv2.GC_BGD
    cv2.setRNGSeed(0)
    if len(np.unique(mask & 1)) == 2:
        bgr = np.ascontiguousarray(rgb[:, :, ::-1])
        cv2.grabCut(bgr, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    return ((mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)).astype(float)


def guided_filter(rgb, p, radius, flat=1e-3):
    """q = mean of ⟨a, rgb⟩ + b over the squares that cover a pixel, a and b by least squares in each."""
    import cv2
    import numpy as np

    mean = lambda a: cv2.boxFilter(a, -1, (2 * radius + 1,) * 2, borderType=cv2.BORDER_REFLECT)
    guide = rgb / 255.0
    colour, value = mean(guide), mean(p)
    products = mean((guide[..., :, None] * guide[..., None, :]).reshape(*p.shape, 9)).reshape(*p.shape, 3, 3)
    covariance = products - colour[..., :, None] * colour[..., None, :] + flat * np.eye(3)
    a = np.linalg.solve(covariance, (mean(guide * p[..., None]) - colour * value[..., None])[..., None])[..., 0]
    b = value - (a * colour).sum(-1)
    return np.clip((mean(a) * guide).sum(-1) + mean(b), 0, 1)


def print_table(name, kinds, found, no_peers):
    import numpy as np

    peers = {} if no_peers else PEERS
    mean = lambda kind, method, key: np.mean([scores[kind, method][key] for scores in found])
    print(f"\n### {name}: mean of {len(found)} photos\n")
    print("| network | prior IoU | **lfield** | " + "".join(f"{peer} | " for peer in peers) + "Brier before, after | log loss before, after |")
    print("|" + " --- |" * (5 + len(peers)))
    for kind in kinds:
        figure = lambda method, key, digits=3: f"{mean(kind, method, key):.{digits}f}".lstrip("0")
        cells = [figure("prior", "iou", 4), f"**{figure('lfield', 'iou', 4)}**"]
        cells += [max(figure(method, "iou", 4) for method in methods) for methods in peers.values()]
        cells += [f"{figure('prior', key, digits)} → {figure('lfield', key, digits)}" for key, digits in (("brier", 4), ("loss", 3))]
        print(f"| {kind} | {' | '.join(cells)} |")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main())
