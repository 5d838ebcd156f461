"""What users know from other packages: scikit-image's random walker, mean shift, prox_tv."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _input, _lfield
from ._lfield import Error
from ._numpy import np
from ._session import segment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def superpixels(
    image: ArrayLike,
    layers: Sequence[tuple[float, float, int]] = ((7, 6.5, 20), (10, 10, 100)),
    *,
    threads: int | None = None,
) -> list[NDArray[np.int32]]:
    """Cuts a photo into regions of one colour by mean shift: one label map (H, W) for every layer.

    A layer is (radius in pixels, radius in colour, pixels of the smallest region).

    >>> import numpy, lfield
    >>> image = numpy.zeros((30, 40)); image[:, 20:] = 1
    >>> fine, coarse = lfield.superpixels(image)
    >>> fine.dtype, coarse.max() + 1
    (dtype('int32'), np.int32(2))
    """
    try:
        wanted = [(float(hs), float(hr), int(smallest)) for hs, hr, smallest in layers]
    except (TypeError, ValueError):
        raise TypeError(
            f"layers is {layers!r}: give a list of (radius in pixels, radius in colour, smallest region)"
        ) from None
    if not 1 <= len(wanted) <= 8:
        raise Error(f"layers holds {len(wanted)} layers: give 1 to 8")
    if any(smallest < 0 for *_, smallest in wanted):
        raise Error("the smallest region M must be at least 1 pixel")
    return _lfield.superpixels(_input.picture(image), wanted, _input.threads(threads))


class TotalVariation(NamedTuple):
    """What :func:`tv_prox` has found; NumPy takes it as the array itself."""

    x: NDArray[np.float64]
    """The minimiser."""
    gap: float
    """Its duality gap: no number of ``x`` is further than √(2·gap) from the exact one."""
    iterations: int
    """Sweeps done."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.x, dtype=dtype) if copy or dtype not in (None, self.x.dtype) else self.x


def tv_prox(
    x: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
    tolerance: float = 1e-10,
    *,
    max_iterations: int = 20000,
    threads: int | None = None,
) -> TotalVariation:
    """Weighted two-dimensional total variation: argmin ½‖y − x‖² + Σ rows·|y − right neighbour| + Σ columns·|y − lower neighbour|.

    ``rows`` has a weight for every pair of neighbours in a row, (H, W−1), ``columns`` for every pair in a column, (H−1, W); a number
    stands for all of them. It stops where the duality gap per pixel is ``tolerance``² times the variance of ``x``, or where rounding
    lets it fall no further; at the default the numbers are right to about 1e-12.

    >>> import numpy, lfield
    >>> y, gap, sweeps = lfield.tv_prox([[0.0, 4.0], [0.0, 4.0]], 1.0, 0.5)
    >>> numpy.round(y, 9).tolist()
    [[1.0, 3.0], [1.0, 3.0]]
    """
    values = _input.fit(_input.as_array(x, "the array x"), None, "the array x")
    values = np.ascontiguousarray(values, np.float64)
    if not np.isfinite(values).all():
        raise Error("the array x holds a number that is not finite: replace it")
    height, width = values.shape
    weights = []
    for given, what, shape in ((rows, "rows", (height, width - 1)), (columns, "columns", (height - 1, width))):
        if 0 in shape:
            weights.append(np.zeros(shape))
            continue
        array = _input.as_array(given, f"the array {what}")
        if array.ndim != 0 and array.shape != shape:
            raise Error(f"the array {what} has shape {array.shape}: give {shape}, one weight for every pair of neighbours")
        array = np.broadcast_to(array.astype(np.float64), shape)
        if not (np.isfinite(array) & (array >= 0)).all():
            raise Error(f"the array {what} holds a weight that is negative or not finite")
        weights.append(np.ascontiguousarray(array))
    tolerance = float(tolerance)
    if not 0 < tolerance < 1:
        raise Error(f"tolerance is {tolerance}: it must be above 0 and below 1")
    scale = float(np.mean(np.square(values - values.mean()))) or 1.0
    sweeps = _input.count(max_iterations, "max_iterations")
    gap = max(tolerance**2 * scale, 1e-300)
    result = _lfield.tv_prox(values, weights[0], weights[1], gap, sweeps or 1, _input.threads(threads))
    return TotalVariation(*result)


def random_walker(
    data: ArrayLike,
    labels: ArrayLike,
    beta: float | None = None,
    mode: str | None = None,
    tol: float | None = None,
    copy: bool = True,
    return_full_prob: bool = False,
    spacing: object = None,
    *,
    prob_tol: float | None = None,
    channel_axis: int | None = None,
    **options: Any,
) -> NDArray[Any]:
    """Segmentation from markers with the signature of ``skimage.segmentation.random_walker``, by lfield's model.

    ``labels`` has 0 unknown and 1…K markers; what comes back is a label for every pixel or, with ``return_full_prob``, the
    probability of every label, (K, H, W). K is at most 2. ``beta`` means what it means there, how hard it is to walk across an edge,
    and becomes lfield's ``theta``; without it lfield's own default holds. ``mode``, ``tol``, ``copy``, ``spacing`` and ``prob_tol`` choose
    among that function's solvers and are read by nobody. Other options are those of :func:`segment`; ``bias`` is 0 here,
    because neither label is the object.

    >>> import numpy
    >>> from lfield import random_walker
    >>> data = numpy.zeros((10, 10)) + 0.2 * numpy.random.default_rng(0).random((10, 10))
    >>> data[5:8, 5:8] += 1
    >>> labels = numpy.zeros_like(data, dtype=numpy.int32)
    >>> labels[3, 3] = 1
    >>> labels[6, 6] = 2
    >>> int((random_walker(data, labels) == 2).sum())
    9
    """
    markers = _input.integers(labels, "the label array")
    array = _input.as_array(data, "the data")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if channel_axis is not None:
        array = np.moveaxis(array, channel_axis, -1)
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        raise Error(f"the data have shape {array.shape}: give (H, W), or (H, W, 3) with channel_axis=-1; volumes are not in")
    if array.ndim not in (2, 3):
        raise Error(f"the data have shape {array.shape}: give (H, W), or (H, W, 3) with channel_axis=-1")
    markers = _input.fit(markers, (array.shape[0], array.shape[1]), "the label array")
    if markers.min() < -1:
        raise Error(f"the label array holds {markers.min()}: 0 is unknown, 1…K are labels, -1 is left out")
    if (markers == -1).any():
        raise Error("the label array leaves pixels out (-1), which is not in yet: crop the data, or mark them as one of the labels")
    found = [int(label) for label in np.unique(markers) if label > 0]
    if not found:
        raise Error("the label array has no marker: give at least one pixel a label of 1 or more")
    if len(found) > 2:
        raise Error(f"the label array has {len(found)} labels: several classes are not in yet, give 1 and 2")
    if len(found) == 1 or (markers > 0).all():
        if (markers > 0).all():
            warnings.warn("every pixel has a label already: they are returned as they are", stacklevel=2)
        answer = np.where(markers == found[-1], len(found), 1)
        return np.stack([answer == label for label in range(1, len(found) + 1)]).astype(np.float64) if return_full_prob else answer
    image, reach = _unit(array)
    if beta is not None:
        if "theta" in options:
            raise TypeError("beta and theta both say how hard it is to cross an edge: give one of them")
        deviation = float(np.std(array, dtype=np.float64)) or 1.0
        options["theta"] = float(beta) * reach**2 / (255.0**2 * 10.0 * deviation)
    if "area" not in options:
        # Two labels are alike, where an object and its background are not.
        options.setdefault("bias", 0.0)
    strokes = np.where(markers == found[1], 2, np.where(markers == found[0], 1, 0))
    result = segment(image, strokes, **options)
    if return_full_prob:
        return np.stack([1 - result.marginals, result.marginals])
    return np.where(result.mask, 2, 1).astype(markers.dtype if markers.dtype.kind == "i" else np.int64)


def _unit(array: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """The data from 0 to 1, and how far they reached."""
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise Error("the data hold a number that is not finite: replace it")
    low, reach = float(values.min()), float(values.max() - values.min())
    return (values - low) / (reach or 1.0), reach or 1.0
