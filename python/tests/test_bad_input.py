"""Whatever is given: a sentence that helps, never a crash; and nothing that was given is changed."""

from __future__ import annotations

from pathlib import Path

import lfield
import numpy as np
import pytest

IMAGE = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)
LABELS = np.zeros((12, 16), np.uint8)
LABELS[2], LABELS[8] = 1, 2
GRID = np.zeros((12, 16))
NAN = np.full((12, 16), np.nan)


def with_value(array: np.ndarray, value: float) -> np.ndarray:
    array = array.astype(float)
    array.flat[37] = value
    return array


def segment(image=IMAGE, labels=LABELS, **options):
    return lambda: lfield.segment(image, labels, **options)


def solve_bare():
    return lfield.Session(IMAGE).solve()


def model(unary=(1.0, -1.0, 0.5), chain=None, group=None, **options):
    def call():
        made = lfield.Model(unary)
        if chain is not None:
            made.add_chain(*chain)
        if group is not None:
            made.add_group(*group)
        return made.solve(**options)

    return call


#: What is done, and words that the sentence must hold.
CASES = {
    # Images.
    "no image": (segment(None), "the image is None"),
    "a path": (segment("cat.png"), "read the file"),
    "a Path": (segment(Path("cat.png")), "read the file"),
    "a number": (segment(5), "uint8"),
    "a dictionary": (segment({}), "dtype object"),
    "an object array": (segment(np.array([[None, 1]] * 3)), "dtype object"),
    "text": (segment(np.array([["a", "b"]])), "dtype <U1"),
    "a ragged list": (segment([[1, 2], [3]]), "the image"),
    "complex numbers": (segment(IMAGE.astype(complex)), "dtype complex128"),
    "dates": (segment(np.zeros((4, 4), "M8[s]")), "dtype datetime64"),
    "records": (segment(np.zeros((4, 4), [("r", "u1"), ("g", "u1")])), "dtype"),
    "truth values": (segment(IMAGE > 5), "dtype bool"),
    "sixteen bits": (segment(IMAGE.astype(np.uint16)), "dtype uint16"),
    "int64": (segment(IMAGE.astype(np.int64)), "uint8"),
    "no pixels": (segment(np.zeros((0, 16, 3), np.uint8)), "empty"),
    "no columns": (segment(np.zeros((12, 0), np.uint8)), "empty"),
    "a line": (segment(IMAGE[0, :, 0]), "shape (16,)"),
    "a stack": (segment(np.stack([IMAGE] * 2)), "one photo at a time"),
    "alpha": (segment(np.zeros((12, 16, 4), np.uint8)), "image[..., :3]"),
    "two channels": (segment(np.zeros((12, 16, 2), np.uint8)), "alpha"),
    "five channels": (segment(np.zeros((12, 16, 5), np.uint8)), "(H, W, 3)"),
    "channels first": (segment(IMAGE.transpose(2, 0, 1)), "transpose(1, 2, 0)"),
    "floats to 255": (segment(IMAGE.astype(float)), "between 0 and 1"),
    "negative floats": (segment(with_value(IMAGE / 255, -0.1)), "between 0 and 1"),
    "NaN": (segment(with_value(IMAGE / 255, np.nan)), "NaN"),
    "infinity": (segment(with_value(IMAGE / 255, np.inf).astype(np.float32)), "inf"),
    # Strokes.
    "no strokes": (segment(labels=None), "nothing is known"),
    "a session without strokes": (solve_bare, "nothing is known"),
    "labels of another size": (segment(labels=LABELS[:-1]), "16×11, the photo is 16×12"),
    "labels transposed": (segment(labels=LABELS.T), "12×16, the photo is 16×12"),
    "labels with channels": (segment(labels=IMAGE), "one number per pixel"),
    "floating labels": (segment(labels=LABELS.astype(float)), "astype(numpy.int32)"),
    "negative labels": (segment(labels=LABELS.astype(int) - 1), "holds -1"),
    "three classes": (segment(labels=LABELS + 1), "several classes are not in yet"),
    "object only": (segment(labels=(LABELS == 2) * 2), "no background stroke"),
    "background only": (segment(labels=LABELS == 1), "no foreground stroke"),
    "blank labels": (segment(labels=LABELS * 0), "stroke"),
    "labels as text": (segment(labels="strokes.png"), "read the file"),
    "object labels": (segment(labels=LABELS.astype(object)), "dtype object"),
    "labels and masks": (segment(fg=LABELS == 2), "given twice"),
    "masks that overlap": (segment(labels=None, fg=LABELS > 0, bg=LABELS == 1), "overlap in 16 pixels"),
    "a mask of another size": (segment(labels=None, fg=LABELS[1:] == 2, bg=LABELS == 1), "16×11"),
    "a floating mask": (segment(labels=None, fg=GRID, bg=LABELS == 1), "integers"),
    # Other evidence.
    "two kinds of evidence": (segment(prior=GRID, unary=GRID), "give one of them"),
    "percentages": (segment(prior=GRID + 50), "between 0 and 1"),
    "probabilities of NaN": (segment(prior=NAN), "is nan"),
    "negative probabilities": (segment(prior=GRID - 0.1), "row 0, column 0"),
    "a prior of another size": (segment(prior=GRID[:, 1:]), "15×12"),
    "a prior of three dimensions": (segment(prior=GRID[None]), "shape (1, 12, 16)"),
    "costs of NaN": (segment(unary=NAN), "finite"),
    "infinite costs": (segment(unary=with_value(GRID, np.inf)), "finite"),
    "costs of another size": (segment(unary=GRID[1:]), "16×11"),
    "superpixels of floats": (segment(superpixels=GRID), "astype(numpy.int32)"),
    "superpixels of another size": (segment(superpixels=[LABELS[1:]]), "16×11"),
    "nine layers": (segment(superpixels=[LABELS] * 9), "at most 8"),
    "automatic distance without colours": (segment(unary=GRID, geodesic="auto"), "auto"),
    "distance without strokes": (segment(labels=None, unary=GRID, geodesic=1), "strokes"),
    # Options.
    "an unknown option": (segment(bata=2), "did you mean beta?"),
    "another tool's name": (segment(n_jobs=2), "did you mean threads?"),
    "dashes are no names": (segment(**{"max-iterations": 5}), "did you mean max_iterations?"),
    "nothing like it": (segment(quux=1), "known are"),
    "an option about files": (segment(scribble_format="labels"), "has no use here"),
    "a negative weight": (segment(beta=-1), "beta is -1"),
    "a weight of NaN": (segment(beta=float("nan")), "finite"),
    "a weight as text": (segment(gamma="much"), "gamma"),
    "a weight as a list": (segment(beta=[]), "beta"),
    "a weight as a function": (segment(beta=len), "give a number or text"),
    "an unknown method": (segment(method="magic"), "mean-field"),
    "an unknown solver": (segment(solver="simplex"), "min-norm"),
    "a solver for few pixels": (lambda: lfield.segment(np.tile(IMAGE, (5, 5, 1)), np.tile(LABELS, (5, 5)), solver="min-norm"), "2000"),
    "superpixels with a minimum-cut solver": (segment(solver="divide-conquer", phi="robust:0.1", tolerance=0), "tolerance"),
    "a temperature below zero": (segment(temperature=-1), "temperature"),
    "a rival's temperature": (segment(method="bp", temperature="fit"), "rival"),
    "a layer of nothing": (segment(layer=(0, 0, 0)), "hs"),
    "too many components": (segment(components=1000), "from 1 to 64"),
    "half a component": (segment(components=1.5), "components"),
    "a share above one": (segment(outlier=2), "outlier"),
    "an output nobody knows": (segment(emit="msak"), "mask"),
    "no seed": (segment(seed=-1), "seed"),
    "a seed of text": (segment(seed="x"), "seed"),
    "time that ran out before": (segment(time_limit=-1), "time_limit"),
    "no threads": (segment(threads=0), "from 1 to 1024"),
    "half a thread": (segment(threads=1.5), "whole number"),
    "a million threads": (segment(threads=10**6), "from 1 to 1024"),
    "progress of text": (segment(progress="bar"), "progress"),
    "a weight nobody reads": (segment(damping=0.5), "has no use here"),
    "mixtures with costs": (segment(unary=GRID, components=3), "has no use here"),
    "layers with superpixels": (segment(superpixels=LABELS, layer=(7, 6, 5)), "has no use here"),
    "a box outside": (segment(labels=None, box=(0, 0, 100, 100)), "box"),
    "a box of text": (segment(labels=None, box="all"), "box"),
    # After a network.
    "refined three classes": (lambda: lfield.refine(IMAGE, np.full((3, 12, 16), 1 / 3)), "several classes are not in yet"),
    "refined classes last": (lambda: lfield.refine(IMAGE, np.full((12, 16, 2), 0.5)), "transpose(2, 0, 1)"),
    "refined scores": (lambda: lfield.refine(IMAGE, np.ones((2, 12, 16))), "softmax"),
    "refined one class": (lambda: lfield.refine(IMAGE, np.ones((1, 12, 16))), "(K, H, W)"),
    "refined nothing": (lambda: lfield.refine(IMAGE, None), "None"),
    # The random walker.
    "a volume": (lambda: lfield.random_walker(np.zeros((4, 5, 6)), np.zeros((4, 5, 6), int)), "volumes"),
    "markers of another size": (lambda: lfield.random_walker(GRID, LABELS[1:]), "16×11"),
    "markers below -1": (lambda: lfield.random_walker(GRID, LABELS.astype(int) - 3), "holds -3"),
    "data of NaN": (lambda: lfield.random_walker(NAN, LABELS), "not finite"),
    "floating markers": (lambda: lfield.random_walker(GRID, GRID), "integers"),
    "beta twice": (lambda: lfield.random_walker(GRID, LABELS, beta=1, theta=1), "give one of them"),
    # Superpixels and total variation.
    "layers of one number": (lambda: lfield.superpixels(IMAGE, 7), "layers is 7"),
    "no layers": (lambda: lfield.superpixels(IMAGE, []), "1 to 8"),
    "a radius below zero": (lambda: lfield.superpixels(IMAGE, [(-1, 5, 20)]), "hs"),
    "a colour radius of NaN": (lambda: lfield.superpixels(IMAGE, [(5, float("nan"), 20)]), "hr"),
    "a smallest region of -1": (lambda: lfield.superpixels(IMAGE, [(5, 5, -1)]), "at least 1"),
    "x of one dimension": (lambda: lfield.tv_prox([1.0, 2.0], 1, 1), "shape (2,)"),
    "x of NaN": (lambda: lfield.tv_prox(NAN, 1, 1), "not finite"),
    "rows of another shape": (lambda: lfield.tv_prox(GRID, GRID, 1), "give (12, 15)"),
    "negative columns": (lambda: lfield.tv_prox(GRID, 1, -1), "negative"),
    "no tolerance": (lambda: lfield.tv_prox(GRID, 1, 1, 0), "tolerance"),
    # Models.
    "costs of a model with NaN": (model([1.0, np.nan]), "finite"),
    "a model of nothing": (model([]), "empty"),
    "a model of objects": (model([None]), "dtype object"),
    "a chain out of range": (model(chain=([0, 3], [1])), "variables are 0 to 2"),
    "a chain that returns": (model(chain=([0, 1, 0], [1, 1])), "twice"),
    "a chain by mask": (model(chain=([True, False, True], [1, 1])), "flatnonzero"),
    "too many weights": (model(chain=([0, 1], [1, 1])), "give 1 weights"),
    "a negative edge": (model(chain=([0, 1], [-1])), "not negative"),
    "gains that grow": (model(group=([0, 1], [0, 1])), "never increase"),
    "gains of NaN": (model(group=([0], [np.nan])), "finite"),
    "an unknown solver of a model": (model(solver="magic"), "accelerated"),
    "a tolerance of zero": (model(tolerance=0), "tolerance"),
    "no sweeps": (model(max_iterations=0), "max_iterations"),
    "a model's time below zero": (model(time_limit=-1), "time_limit"),
    "a model's unknown choice": (model(map="best"), "maximal"),
}


def test_there_are_sixty_and_more() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_a_sentence_that_helps(name) -> None:
    call, words = CASES[name]
    before = [array.tobytes() for array in (IMAGE, LABELS, GRID, NAN)]
    with pytest.raises((lfield.Error, TypeError)) as raised:
        call()
    message = str(raised.value)
    assert words.lower() in message.lower(), message
    assert "--" not in message and "\n" not in message and "internal error" not in message
    assert [array.tobytes() for array in (IMAGE, LABELS, GRID, NAN)] == before


def test_an_error_is_a_value_error_by_name() -> None:
    assert issubclass(lfield.Error, ValueError)
    assert (lfield.Error.__module__, lfield.Error.__qualname__) == ("lfield", "Error")
