"""The examples run, and the one for clusters survives the loss of a worker."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, SAMPLES
from PIL import Image

EXAMPLES = ROOT / "examples/python"


def example(name: str, *arguments: object) -> str:
    words = [str(argument) for argument in arguments]
    done = subprocess.run([sys.executable, str(EXAMPLES / name), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_after_a_network(tmp_path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "before").mkdir()
    for sample in SAMPLES[:2]:
        truth = np.asarray(Image.open(ROOT / f"data/{sample}.truth.png").convert("L")) == 255
        np.save(tmp_path / f"before/{sample}.npy", (0.3 + 0.4 * truth + rng.normal(0, 0.1, truth.shape)).clip(0, 1))
    assert len(example("after_network.py", ROOT / "data", tmp_path / "before", tmp_path / "after").splitlines()) == 2
    for sample in SAMPLES[:2]:
        assert np.load(tmp_path / f"after/{sample}.npy").max() <= 1


def test_from_scikit_image() -> None:
    pytest.importorskip("skimage")
    assert "lfield: 9" in example("from_skimage.py")


def test_an_active_loop() -> None:
    beetle = ROOT / "data/beetle"
    lines = example("active_loop.py", f"{beetle}.png", f"{beetle}.scribbles.png", f"{beetle}.truth.png", 2).splitlines()
    assert len(lines) == 3 and "overlap" in lines[-1]


def test_without_a_picture() -> None:
    assert "Ashford  0." in example("without_picture.py")


def test_the_notebook() -> None:
    cells = json.loads((EXAMPLES / "first_steps.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert any(output for cell in cells for output in cell.get("outputs", [])), "it was not executed"
    subprocess.run([sys.executable, "-c", "\n".join(code)], cwd=EXAMPLES, check=True)


def test_a_cluster_that_loses_a_worker(tmp_path) -> None:
    distributed = pytest.importorskip("distributed")
    sys.path.insert(0, str(EXAMPLES))
    import dask_folder
    import lfield

    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(2):
        for sample in SAMPLES:
            for kind in ("png", "scribbles.png"):
                shutil.copy(ROOT / f"data/{sample}.{kind}", photos / f"{sample}{number}.{kind}")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2
        done = []
        for name in dask_folder.run(client, photos, tmp_path / "out"):
            if not done:
                os.kill(next(iter(workers.values())), signal.SIGKILL)
            done.append(name)
        after = set(client.run(os.getpid).values())
    assert next(iter(workers.values())) not in after
    assert sorted(done) == sorted(f"{sample}{number}" for sample in SAMPLES for number in range(2))
    for sample in SAMPLES:
        image = np.asarray(Image.open(photos / f"{sample}0.png").convert("RGB"))
        grey = np.asarray(Image.open(photos / f"{sample}0.scribbles.png"))
        alone = lfield.segment(image, np.where(grey == 255, 2, np.where(grey == 128, 1, 0)))
        single = {path.name: path.read_bytes() for path in alone.save(tmp_path / "single", sample) if path.suffix == ".png"}
        for number in range(2):
            for name, content in single.items():
                assert (tmp_path / "out" / name.replace(sample, f"{sample}{number}", 1)).read_bytes() == content
