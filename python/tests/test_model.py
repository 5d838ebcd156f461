"""Models without a picture, against brute force."""

from __future__ import annotations

import itertools

import lfield
import numpy as np
import pytest


def energies(unary: np.ndarray, chains: list, groups: list) -> tuple[np.ndarray, np.ndarray]:
    """Every set and its energy."""
    sets = np.array(list(itertools.product([0, 1], repeat=unary.size)))
    total = sets @ unary
    for indices, weights in chains:
        total = total + np.abs(np.diff(sets[:, indices], axis=1)) @ weights
    for indices, gains in groups:
        total = total + np.concatenate([[0], np.cumsum(gains)])[sets[:, indices].sum(axis=1)]
    return sets, total


@pytest.mark.parametrize("seed", range(8))
def test_small_models_are_solved_and_bounded(seed) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    unary, chains, groups = rng.normal(size=n), [], []
    model = lfield.Model(unary)
    for _ in range(rng.integers(0, 4)):
        indices = rng.permutation(n)[: rng.integers(1, n + 1)]
        chains.append((indices, rng.random(indices.size - 1)))
        model.add_chain(*chains[-1])
    for _ in range(rng.integers(0, 3)):
        indices = rng.permutation(n)[: rng.integers(1, n + 1)]
        groups.append((indices, np.sort(rng.normal(size=indices.size))[::-1]))
        model.add_group(*groups[-1])
    result = model.solve(tolerance=1e-12)
    sets, energy = energies(unary, chains, groups)
    report = result.report
    log_z = np.logaddexp.reduce(-energy)
    assert report["bounds"]["log_z_lower"] - 1e-9 <= log_z <= report["bounds"]["log_z_upper"] + 1e-9
    mine = energy[(sets == result.mask).all(axis=1)][0]
    assert mine <= energy.min() + 1e-6 and abs(mine - report["map"]["energy"]) < 1e-9
    assert np.array_equal(result.marginals > 0.5, result.mask)
    assert np.allclose(result.marginals, 1 / (1 + np.exp(-result.log_odds)))
    # The base is feasible: no set sums to more than its energy, and all together to the energy of all.
    sums = sets @ result.base
    assert (sums <= energy + 1e-6).all() and abs(sums[-1] - energy[-1]) < 1e-6
    exact = model.solve(solver="min-norm", tolerance=1e-12)
    assert np.abs(exact.log_odds - result.log_odds).max() < 1e-4


def test_shapes_and_numbers_in_place_of_arrays() -> None:
    model = lfield.Model(np.arange(-3, 3.0).reshape(2, 3))
    model.add_chain(range(6), 0.5)
    model.add_chain([2], [])
    result = model.solve()
    assert result.mask.shape == result.marginals.shape == result.base.shape == (2, 3)
    assert repr(result).startswith("<lfield.ModelResult 3 of 6 in the set") and result.report["solve"]["converged"]
    assert np.array_equal(model.solve(map="maximal").mask.ravel(), [1, 1, 1, 1, 0, 0])
