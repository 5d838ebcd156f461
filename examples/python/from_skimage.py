"""From scikit-image: its markers and its random walker's call, lfield's probabilities.

    python from_skimage.py

Marks what is surely dark or bright in noisy blobs, and compares both functions with the truth.
"""

import lfield
import numpy as np
from skimage.data import binary_blobs
from skimage.segmentation import random_walker


def main() -> None:
    truth = binary_blobs(length=128, rng=1)
    data = truth + np.random.default_rng(0).normal(0, 0.35, truth.shape)
    markers = np.zeros(truth.shape, int)
    markers[data < -0.3], markers[data > 1.3] = 1, 2
    for name, function in (("scikit-image", random_walker), ("lfield", lfield.random_walker)):
        labels = function(data, markers, beta=10, mode="bf")
        print(f"{name}: {((labels == 2) == truth).mean():.1%} of the pixels right")
    probability = lfield.random_walker(data, markers, beta=10, return_full_prob=True)[1]
    print(f"lfield is unsure (between 5 and 95 %) about {((probability > 0.05) & (probability < 0.95)).mean():.1%} of them")


if __name__ == "__main__":
    main()
