"""Photos and a few brush strokes in, a mask and an honest probability for every pixel out.

>>> import numpy, lfield
>>> image = numpy.full((40, 60, 3), 40, numpy.uint8)
>>> image[10:30, 20:45] = (200, 60, 30)
>>> labels = numpy.zeros((40, 60), numpy.uint8)      # 0 unknown, 1 background, 2 object
>>> labels[2, 2:50] = 1
>>> labels[15:25, 30] = 2
>>> result = lfield.segment(image, labels)
>>> int(result.mask.sum()), float(result.marginals[20, 25]) > 0.9
(500, True)
>>> result.report["solve"]["converged"]
True

Options have the names of the command line with underscores: ``lfield.segment(image, labels, beta=2, temperature="fit")``.
"""

from ._lfield import Error, __version__
from ._model import Model, ModelResult
from ._peers import TotalVariation, random_walker, superpixels, tv_prox
from ._result import Result
from ._session import Session, refine, segment

__all__ = [
    "Error",
    "Model",
    "ModelResult",
    "Result",
    "Session",
    "TotalVariation",
    "__version__",
    "random_walker",
    "refine",
    "segment",
    "superpixels",
    "tv_prox",
]
