"""Segmentation of photos: once, again and again, and after a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _input, _lfield, _options
from ._lfield import Error
from ._numpy import np
from ._progress import follow
from ._result import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Progress = bool | Callable[[int, float], object] | None


class Session:
    """A photo, what is known about it, and everything computed so far: a change does again only what depends on it.

    Options are those of :func:`segment`. The first solve gives what ``segment`` gives; later ones start from the one before and agree with
    a fresh session within the certificate.

    >>> import numpy, lfield
    >>> image = numpy.zeros((20, 30)); image[5:15, 10:20] = 1
    >>> labels = numpy.zeros((20, 30), int); labels[0, :] = 1; labels[10, 15] = 2
    >>> session = lfield.Session(image, beta=2)
    >>> session.set_labels(labels)
    >>> int(session.solve().mask.sum())
    100
    >>> labels[:, :13] = 1
    >>> session.set_labels(labels)
    >>> session.solve().mask[:, :13].any()
    np.False_
    """

    def __init__(
        self, image: ArrayLike, *, threads: int | None = None, progress: Progress = None, **options: Any
    ) -> None:
        picture = _input.picture(image)
        self._shape = (picture.shape[0], picture.shape[1])
        self._threads = _input.threads(threads)
        self._progress = progress
        self._options: dict[str, Any] = {}
        self._has_labels = self._has_costs = self._has_superpixels = False
        self._remarks: tuple[str, ...] = ()
        pairs = self._check(options, has_costs=False, has_superpixels=False)
        self._session = _lfield.Session(picture, pairs, False)
        self._options = options

    @property
    def options(self) -> dict[str, Any]:
        """The options that were set; all in force are in a result's ``report["parameters"]``."""
        return dict(self._options)

    def set_options(self, **options: Any) -> None:
        """Sets some options and keeps the others; ``None`` brings a default back."""
        self._apply({**self._options, **options})

    def set_labels(
        self, labels: ArrayLike | None = None, *, fg: ArrayLike | None = None, bg: ArrayLike | None = None
    ) -> None:
        """The strokes, all of them: labels with 0 unknown, 1 background, 2 object, or a mask for each of the two."""
        strokes = _input.strokes(labels, fg, bg, self._shape)
        if strokes is None:
            raise TypeError("no strokes: give labels, or fg and bg")
        self._session.set_labels(strokes)
        self._has_labels = True

    def set_prior(self, prior: ArrayLike) -> None:
        """Probabilities of the object, (H, W), in place of colour mixtures; strokes then are seeds only."""
        values, step = _input.probabilities(prior, self._shape, "the array of probabilities")
        self._apply(self._options, has_costs=True)
        n_bounded = self._session.set_prior(values, step)
        self._remarks = (
            (f"{n_bounded} probabilities are within half a step of 0 or 1 and count as {step / 2:.2e} away from it",)
            if n_bounded
            else ()
        )

    def set_unary(self, unary: ArrayLike) -> None:
        """Costs in nats, (H, W), negative favours the object, in place of colour mixtures."""
        values = _input.costs(unary, self._shape)
        self._apply(self._options, has_costs=True)
        self._session.set_unary(values)
        self._remarks = ()

    def set_superpixels(self, superpixels: ArrayLike) -> None:
        """One label map (H, W), or several, in place of mean shift."""
        maps = _input.label_maps(superpixels, self._shape)
        self._apply(self._options, has_superpixels=True)
        self._session.set_superpixels(maps)

    def solve(self, *, threads: int | None = None, progress: Progress = None) -> Result:
        """Solves, as far as anything has changed since the last time."""
        return self._solve(threads, progress, cold=False)

    def _solve(self, threads: int | None, progress: Progress, *, cold: bool) -> Result:
        if not (self._has_labels or self._has_costs or self._options.get("box") is not None):
            raise Error("nothing is known about the photo: give strokes (labels, or fg and bg), box, prior or unary")
        threads = _input.threads(threads) if threads is not None else self._threads
        with follow(progress if progress is not None else self._progress) as callback:
            answer = self._session.solve(threads, callback, cold)
        return Result(answer, self._remarks)

    def _check(self, options: dict[str, Any], *, has_costs: bool, has_superpixels: bool) -> list[tuple[str, str]]:
        if options.get("box") is not None:
            options = {**options, "box": _input.box(options["box"], self._shape)}
        pairs = _options.named(options, ("labels", "fg", "bg", "prior", "unary", "superpixels"))
        _options.refuse_unused(options, has_costs=has_costs, has_superpixels=has_superpixels)
        return pairs

    def _apply(self, options: dict[str, Any], *, has_costs: bool = False, has_superpixels: bool = False) -> None:
        """Checks all before anything changes."""
        has_costs, has_superpixels = has_costs or self._has_costs, has_superpixels or self._has_superpixels
        self._session.set_options(self._check(options, has_costs=has_costs, has_superpixels=has_superpixels), has_costs)
        self._options, self._has_costs, self._has_superpixels = options, has_costs, has_superpixels


def segment(
    image: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    fg: ArrayLike | None = None,
    bg: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    unary: ArrayLike | None = None,
    superpixels: ArrayLike | None = None,
    box: tuple[int, int, int, int] | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress = None,
    **options: Any,
) -> Result:
    """Segments a photo: the same bits as ``lfield segment`` with the same input and options.

    ``image`` is (H, W, 3) or (H, W), uint8 or floating-point from 0 to 1, and is never written to. ``labels`` has 0 unknown,
    1 background, 2 object; ``fg`` and ``bg`` are masks instead. ``prior`` (probabilities of the object) or ``unary`` (costs in nats,
    negative favours the object) take the place of colours learned from strokes. ``box`` = (x, y, width, height) lies around the object. ``superpixels`` are label maps in place of mean shift.
    ``threads`` is all cores by default and changes no result. Other options have the names of the command line with underscores.

    >>> import numpy, lfield
    >>> image = numpy.zeros((20, 30)); image[5:15, 10:20] = 1
    >>> object, background = image > 2, image > 2
    >>> object[10, 15] = True; background[0] = True
    >>> lfield.segment(image, fg=object, bg=background, gamma=2)
    <lfield.Result 30×20, object 16.7%, gap ... per pixel>
    """
    if prior is not None and unary is not None:
        raise TypeError("prior and unary both say what each pixel is: give one of them")
    said = {"box": box, "beta": beta, "gamma": gamma, "seed": seed, "time_limit": time_limit, **options}
    session = Session(image, threads=threads, progress=progress, **said)
    if labels is not None or fg is not None or bg is not None:
        session.set_labels(labels, fg=fg, bg=bg)
    if prior is not None:
        session.set_prior(prior)
    if unary is not None:
        session.set_unary(unary)
    if superpixels is not None:
        session.set_superpixels(superpixels)
    return session._solve(None, None, cold=True)


def refine(image: ArrayLike, prob: ArrayLike, **options: Any) -> NDArray[np.float64]:
    """A network's probabilities, made to agree with the photo.

    ``prob`` is the probability of the object, (H, W), or of two classes, (2, H, W), whose sum is 1 in every pixel; what comes back has the
    same shape. Everything else is as in :func:`segment`, whose ``prior`` this is; use that for the mask and the report.

    >>> import numpy, lfield
    >>> image = numpy.zeros((20, 30)); image[5:15, 10:20] = 1
    >>> noise = numpy.random.default_rng(0).uniform(-0.3, 0.3, image.shape)
    >>> refined = lfield.refine(image, 0.3 + 0.4 * image + noise, prior_temperature=1)
    >>> refined.shape, bool(((refined > 0.5) == (image > 0.5)).all())
    ((20, 30), True)
    """
    array = _input.as_array(prob, "the array of probabilities")
    if array.ndim == 2:
        return segment(image, prior=array, **options).marginals
    if array.ndim != 3 or array.shape[0] < 2:
        raise Error(f"the array of probabilities has shape {array.shape}: give (H, W), or (K, H, W) for K classes")
    if array.shape[0] > 2:
        hint = ": classes come first, prob.transpose(2, 0, 1)" if array.shape[2] == 2 else ""
        raise Error(f"the array of probabilities has {array.shape[0]} classes: several classes are not in yet, give 2{hint}")
    if not np.allclose(array.sum(axis=0, dtype=np.float64), 1, atol=1e-3):
        raise Error("the probabilities of the classes do not add up to 1 in every pixel: normalise them, for instance by softmax")
    refined = segment(image, prior=array[1], **options).marginals
    return np.stack([1 - refined, refined])
