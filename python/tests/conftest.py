"""What tests share: the bundled photos as arrays, and the program of the same wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ["beetle", "lamp", "poppy", "tree"]


def read(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


def read_strokes(path: Path) -> np.ndarray:
    """The dialect ``labels`` as 0 unknown, 1 background, 2 object."""
    grey = np.asarray(Image.open(path))
    return np.where(grey == 255, 2, np.where(grey == 128, 1, 0)).astype(np.uint8)


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    """``python -m lfield``."""
    words = [str(argument) for argument in arguments]
    return subprocess.run([sys.executable, "-m", "lfield", *words], capture_output=True, text=True)


@pytest.fixture
def scene() -> tuple[np.ndarray, np.ndarray]:
    """A red box on grey with noise, and strokes on both."""
    rng = np.random.default_rng(1)
    image = np.full((48, 64, 3), 90.0)
    image[12:36, 20:44] = (200, 60, 30)
    image = (image + rng.normal(0, 12, image.shape)).clip(0, 255).astype(np.uint8)
    labels = np.zeros((48, 64), np.uint8)
    labels[3, 3:60] = 1
    labels[44, 3:60] = 1
    labels[18:30, 30:33] = 2
    return image, labels


@pytest.fixture
def shared() -> Path:
    """The development photos, which are no part of the project."""
    place = Path(os.environ.get("LFIELD_SHARED", ROOT.parent / "shared")) / "data"
    if not place.is_dir():
        pytest.skip("the development photos are not here (../shared/data)")
    return place
