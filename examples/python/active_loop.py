"""An active loop: lfield says where it is least sure, someone marks that place, the session solves again.

    python active_loop.py PHOTO STROKES TRUTH [ROUNDS]

Here the truth plays the someone. STROKES and TRUTH are grey pictures: 255 object, 128 background (strokes) or 0 (truth).
"""

import sys

import lfield
import numpy as np
from PIL import Image


def doubtful(result: lfield.Result) -> tuple[int, int]:
    """The place that the report suggests, or else the middle of the most doubtful square of 15 pixels."""
    if result.suggestion:
        return result.suggestion["x"], result.suggestion["y"]
    p = result.marginals.clip(1e-12, 1 - 1e-12)
    entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
    sums = np.pad(entropy.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    squares = sums[15:, 15:] - sums[:-15, 15:] - sums[15:, :-15] + sums[:-15, :-15]
    y, x = np.unravel_index(squares.argmax(), squares.shape)
    return int(x) + 7, int(y) + 7


def main(photo: str, strokes: str, truth: str, rounds: int = 5) -> None:
    image = np.asarray(Image.open(photo).convert("RGB"))
    grey = np.asarray(Image.open(strokes).convert("L"))
    right = np.asarray(Image.open(truth).convert("L")) == 255
    labels = np.where(grey == 255, 2, np.where(grey == 128, 1, 0))
    session = lfield.Session(image)
    rows, columns = np.indices(labels.shape)
    for number in range(rounds + 1):
        session.set_labels(labels)
        result = session.solve()
        overlap = (result.mask & right).sum() / (result.mask | right).sum()
        print(f"{number} marks more: overlap {overlap:.3f}, {result}")
        x, y = doubtful(result)
        disc = (rows - y) ** 2 + (columns - x) ** 2 <= 8**2
        labels[disc & (right == right[y, x])] = 2 if right[y, x] else 1


if __name__ == "__main__":
    main(*sys.argv[1:4], *(int(word) for word in sys.argv[4:5]))
