"""A folder on many machines: every photo is a task of a Dask cluster.

    python dask_folder.py PHOTOS OUT [SCHEDULER]

Strokes lie beside the photos as STEM.scribbles.png, grey: 255 object, 128 background. Without a scheduler's address the cluster is this
machine. A photo whose worker is lost is given to another one; files are complete or not there, so a second run does what is missing.
"""

import sys
from pathlib import Path

import lfield
import numpy as np
from dask.distributed import Client, LocalCluster, as_completed
from PIL import Image


def segment(photo: str, out: str) -> str:
    """One photo, on one thread of a worker; the worker sees the same folders."""
    path = Path(photo)
    grey = np.asarray(Image.open(path.with_suffix(".scribbles.png")))
    labels = np.where(grey == 255, 2, np.where(grey == 128, 1, 0))
    result = lfield.segment(np.asarray(Image.open(path).convert("RGB")), labels, threads=1)
    result.save(out, path.stem)
    return path.stem


def run(client: Client, photos: Path, out: Path):
    """The names of the photos, as they are done."""
    out.mkdir(parents=True, exist_ok=True)
    pictures = sorted(path for path in photos.glob("*.png") if path.with_suffix(".scribbles.png").exists())
    missing = [str(path) for path in pictures if not (out / f"{path.stem}.report.json").exists()]
    tasks = client.map(segment, missing, out=str(out), pure=False, retries=2)
    for task in as_completed(tasks):
        yield task.result()


def main(photos: str, out: str, scheduler: str | None = None) -> None:
    with Client(scheduler or LocalCluster(threads_per_worker=1)) as client:
        for name in run(client, Path(photos), Path(out)):
            print(name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
