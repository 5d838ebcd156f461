"""Models without a picture."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _input, _lfield
from ._lfield import Error
from ._numpy import np
from ._progress import follow
from ._session import Progress

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class ModelResult:
    """The answer to a :class:`Model`; arrays have the shape of its costs."""

    def __init__(self, solution: _lfield.Solution, shape: tuple[int, ...]) -> None:
        self._solution = solution
        self._shape = shape

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """The most probable set."""
        return self._solution.mask().reshape(self._shape)

    @cached_property
    def marginals(self) -> NDArray[np.float64]:
        """The probability of being in the set."""
        return self._solution.marginals().reshape(self._shape)

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """x with marginals = 1 / (1 + exp(-x))."""
        return self._solution.log_odds().reshape(self._shape)

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """The feasible point that proves."""
        return self._solution.base().reshape(self._shape)

    @cached_property
    def report(self) -> dict[str, Any]:
        """What is proved: the parts ``solve``, ``bounds`` and ``map`` of a photo's report."""
        report: dict[str, Any] = json.loads(self._solution.report())
        return report

    def __repr__(self) -> str:
        solve, area = self.report["solve"], self.report["map"]["area"]
        return f"<lfield.ModelResult {area} of {self.mask.size} in the set, gap {solve['gap']:.1e}, {solve['status']}>"


class Model:
    """P(A) ∝ exp(−F(A)) with F(A) = costs of single variables + chains that prefer not to be cut + concave functions of counts.

    >>> import lfield
    >>> model = lfield.Model([-2.0, -1.0, 0.5, 3.0])           # negative: would rather be in the set
    >>> model.add_chain([0, 1, 2, 3], [0.5, 2.0, 0.5])         # a price for neighbours that differ
    >>> model.add_group([1, 2, 3], [1.0, 0.0, -1.0])           # h(1)−h(0), h(2)−h(1), …: never increasing
    >>> result = model.solve(tolerance=1e-12)
    >>> result.mask
    array([ True, False, False, False])
    >>> result.report["map"]["proved_optimal"]
    True
    """

    def __init__(self, unary: ArrayLike) -> None:
        array = _input.as_array(unary, "the array of costs")
        values = np.ascontiguousarray(array, np.float64).ravel()
        if not np.isfinite(values).all():
            raise Error("the array of costs holds a number that is not finite: replace it")
        self._shape = array.shape
        self._n = values.size
        self._model = _lfield.Model(values)

    def add_chain(self, indices: ArrayLike, weights: ArrayLike) -> None:
        """Variables along a line; every pair of neighbours costs its weight when one is in the set and the other is not."""
        scope = self._scope(indices, "a chain")
        self._model.add_chain(scope, self._numbers(weights, scope.size - 1, "weights", "one for every pair of neighbours"))

    def add_group(self, indices: ArrayLike, gains: ArrayLike) -> None:
        """A function h of how many of these variables are in the set, by h(1) − h(0), h(2) − h(1), …, which must not increase."""
        scope = self._scope(indices, "a group")
        self._model.add_group(scope, self._numbers(gains, scope.size, "gains", "one for every variable"))

    def solve(
        self,
        *,
        solver: str = "accelerated",
        tolerance: float = 1e-5,
        max_iterations: int = 2000,
        time_limit: float | None = None,
        map: str = "minimal",
        threads: int | None = None,
        progress: Progress = None,
    ) -> ModelResult:
        """Solves to a duality gap of ``tolerance`` per variable; options mean what they mean on the command line."""
        if map not in ("minimal", "maximal"):
            raise Error(f"the option map is {map!r}: give minimal or maximal")
        sweeps = _input.count(max_iterations, "max_iterations")
        if sweeps is None:
            raise TypeError("max_iterations is None: give a whole number of at least 1")
        limit = None if time_limit is None else float(time_limit)
        with follow(progress) as callback:
            solution = self._model.solve(
                str(solver), float(tolerance), sweeps, limit, map == "maximal", _input.threads(threads), callback
            )
        return ModelResult(solution, self._shape)

    def _scope(self, indices: ArrayLike, what: str) -> NDArray[np.uint32]:
        scope = _input.integers(indices, f"the indices of {what}").ravel()
        if scope.dtype.kind == "b":
            raise TypeError(f"the indices of {what} are truth values: give numbers of variables, for example numpy.flatnonzero(mask)")
        if int(scope.min()) < 0 or int(scope.max()) >= self._n:
            raise Error(f"the indices of {what} reach from {scope.min()} to {scope.max()}: variables are 0 to {self._n - 1}")
        if np.unique(scope).size != scope.size:
            raise Error(f"the indices of {what} name a variable twice")
        return scope.astype(np.uint32)

    @staticmethod
    def _numbers(values: ArrayLike, n: int, what: str, how_many: str) -> NDArray[np.float64]:
        if n == 0:
            return np.zeros(0)
        array = _input.as_array(values, f"the array of {what}")
        if array.ndim == 0:
            array = np.full(n, array)
        if array.shape != (n,):
            raise Error(f"the array of {what} has shape {array.shape}: give {n} {what}, {how_many}")
        return np.ascontiguousarray(array, np.float64)
