"""After a network: probabilities of a folder of photos, refined in parallel threads.

    python after_network.py PHOTOS PROBABILITIES OUT

PROBABILITIES holds STEM.npy, (H, W) or (2, H, W), for every photo; OUT gets STEM.npy of the same shape. The interpreter lock is released
while lfield works, so threads use all cores; one thread per photo is better than many threads on each.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lfield
import numpy as np
from PIL import Image


def main(photos: Path, probabilities: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    names = {path.stem: path for path in sorted(photos.iterdir()) if path.suffix in (".png", ".jpg")}
    arrays = sorted(path for path in probabilities.glob("*.npy") if path.stem in names)

    def refine(path: Path) -> str:
        image = np.asarray(Image.open(names[path.stem]).convert("RGB"))
        before = np.load(path)
        after = lfield.refine(image, before, threads=1)
        np.save(out / path.name, after)
        return f"{path.stem}: {((after > 0.5) != (before > 0.5)).mean():.1%} of the pixels changed sides"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(refine, arrays):
            print(line)


if __name__ == "__main__":
    main(*(Path(word) for word in sys.argv[1:4]))
