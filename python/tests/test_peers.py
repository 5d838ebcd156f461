"""What other packages do: random walker, total variation, superpixels."""

from __future__ import annotations

import lfield
import numpy as np
import pytest
from conftest import ROOT, program, read
from lfield import random_walker
from PIL import Image


def test_the_documented_example_of_scikit_image() -> None:
    rng = np.random.default_rng(7)
    a = np.zeros((10, 10)) + 0.2 * rng.random((10, 10))
    a[5:8, 5:8] += 1
    b = np.zeros_like(a, dtype=np.int32)
    b[3, 3] = 1  # Marker for first phase
    b[6, 6] = 2  # Marker for second phase
    expected = np.ones((10, 10), np.int32)
    expected[5:8, 5:8] = 2
    found = random_walker(a, b)
    assert found.dtype == np.int32 and np.array_equal(found, expected)


def test_the_gallery_of_scikit_image() -> None:
    skimage = pytest.importorskip("skimage")
    from skimage.data import binary_blobs
    from skimage.exposure import rescale_intensity
    from skimage.segmentation import random_walker as theirs

    rng = np.random.default_rng()
    blobs = binary_blobs(length=128, rng=1)
    data = skimage.img_as_float(blobs)
    sigma = 0.35
    data += rng.normal(loc=0, scale=sigma, size=data.shape)
    data = rescale_intensity(data, in_range=(-sigma, 1 + sigma), out_range=(-1, 1))
    markers = np.zeros(data.shape, dtype=np.uint)
    markers[data < -0.95] = 1
    markers[data > 0.95] = 2
    labels = random_walker(data, markers, beta=10, mode="bf")
    right = lambda found: (found == np.where(blobs, 2, 1)).mean()
    assert right(labels) > 0.9 and right(labels) > right(theirs(data, markers, beta=10, mode="bf")) - 0.02


def test_probabilities_are_probabilities(scene) -> None:
    image, labels = scene
    full = random_walker(image, labels.astype(int), return_full_prob=True, channel_axis=-1)
    assert full.shape == (2, *labels.shape) and full.min() >= 0 and full.max() <= 1
    assert np.abs(full.sum(axis=0) - 1).max() < 1e-12
    assert np.array_equal(full[1] > 0.5, random_walker(image, labels.astype(int), channel_axis=-1) == 2)
    assert (full[0][labels == 1] == 1).all() and (full[1][labels == 2] == 1).all()


def test_markers_that_others_crash_on() -> None:
    data = np.random.default_rng(0).random((20, 20))
    none = np.zeros((20, 20), int)
    with pytest.raises(lfield.Error, match="no marker"):
        random_walker(data, none)
    # A seed that its surroundings isolate.
    isolated = none.copy()
    isolated[0, 0], isolated[10, 10] = 1, 2
    data[9:12, 9:12] = 100
    assert set(np.unique(random_walker(data, isolated))) == {1, 2}
    full = none + 1
    full[5:] = 2
    with pytest.warns(UserWarning, match="already"):
        assert np.array_equal(random_walker(data, full), full)
    one = none.copy()
    one[3, 3] = 5
    assert (random_walker(data, one) == 1).all()
    assert random_walker(data, one, return_full_prob=True).shape == (1, 20, 20)
    three = none.copy()
    three[0, :3] = 1, 2, 3
    with pytest.raises(lfield.Error, match="several classes"):
        random_walker(data, three)
    # Labels with gaps are numbered anew.
    gaps = none.copy()
    gaps[0], gaps[19] = 4, 9
    assert set(np.unique(random_walker(data, gaps))) == {1, 2}
    assert np.array_equal(random_walker(np.ones((20, 20)), gaps)[[0, 19]], [[1] * 20, [2] * 20])


def total_variation(x: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The slow twin, to about 1e-12: projected Newton steps on one edge after another, over and over.

    The dual is ½‖x − Dᵀu‖² over |u| ≤ w; the best u of one edge, all others fixed, is a clamp.
    """
    height, width = x.shape
    y, along, down = x.copy(), np.zeros_like(rows), np.zeros_like(columns)
    # Edges of one colour share no pixel, so a colour is one vectorised step.
    parts = [(along, rows, 1, start) for start in (0, 1)] + [(down, columns, 0, start) for start in (0, 1)]
    for _ in range(100_000):
        moved = 0.0
        for u, w, axis, start in parts:
            if u.shape[axis] <= start:
                continue
            first = [slice(None), slice(None)]
            first[axis] = slice(start, u.shape[axis], 2)
            second = list(first)
            second[axis] = slice(start + 1, u.shape[axis] + 1, 2)
            a, b, edge = tuple(first), tuple(second), tuple(first)
            new = np.clip(u[edge] + (y[a] - y[b]) / 2, -w[edge], w[edge])
            step = new - u[edge]
            u[edge] = new
            y[a] -= step
            y[b] += step
            moved = max(moved, float(np.abs(step).max()))
        if moved < 1e-14:
            break
    return y


@pytest.mark.parametrize("seed", range(6))
def test_total_variation_is_that_of_the_slow_twin(seed) -> None:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, 14, 2)
    x = 10.0 ** rng.integers(-2, 3) * rng.normal(size=(height, width))
    scale = np.abs(x).max() * 10.0 ** rng.integers(-2, 1)
    rows, columns = scale * rng.random((height, width - 1)), scale * rng.random((height - 1, width))
    found = lfield.tv_prox(x, rows, columns)
    assert np.abs(found.x - total_variation(x, rows, columns)).max() <= 1e-9 * max(1.0, float(np.abs(x).max()))
    assert 0 <= found.gap <= 1e-9 * max(1.0, float(np.square(x).sum()))


def test_total_variation_to_hand() -> None:
    x = np.random.default_rng(5).normal(size=(30, 40))
    found = lfield.tv_prox(x, 0.3, 0.2)
    y, gap, sweeps = found
    assert np.array_equal(np.asarray(found), y) and gap < 1e-8 and sweeps > 1
    assert np.abs(found - lfield.tv_prox(x, np.full((30, 39), 0.3), np.full((29, 40), 0.2)).x).max() == 0
    assert np.array_equal(lfield.tv_prox(x, 0, 0).x, x)
    assert np.abs(lfield.tv_prox(x, 1e3, 1e3).x - x.mean()).max() < 1e-12
    assert np.abs(lfield.tv_prox(x[:1], 0.3, 0.2).x - total_variation(x[:1], np.full((1, 39), 0.3), np.zeros((0, 40)))).max() < 1e-9


def test_total_variation_is_that_of_prox_tv() -> None:
    prox_tv = pytest.importorskip("prox_tv", reason="prox_tv is not installed: it needs LAPACK's headers to build")
    x = np.random.default_rng(5).normal(size=(60, 80))
    theirs = prox_tv.tv1_2d(x, 0.4, n_threads=1)
    assert np.abs(lfield.tv_prox(x, 0.4, 0.4).x - theirs).max() < 1e-2


def test_superpixels_are_those_of_the_program(tmp_path) -> None:
    photo = ROOT / "data/lamp.png"
    done = program("superpixels", photo, "-o", tmp_path, "--layer", "5,4,10", "--layer", "10,10,100")
    assert done.returncode == 0, done.stderr
    fine, coarse = lfield.superpixels(read(photo), ((5, 4, 10), (10, 10, 100)))
    for number, found in ((1, fine), (2, coarse)):
        assert found.dtype == np.int32
        assert np.array_equal(found, np.asarray(Image.open(tmp_path / f"lamp.superpixels-{number}.png")))
    assert len(lfield.superpixels(read(photo))) == 2
