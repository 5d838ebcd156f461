"""What a solve has found: arrays, the report, pictures, files."""

from __future__ import annotations

import base64
import html
import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._lfield import Answer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Result:
    """The answer to a photo and what is known about it. Notebooks show it as a picture.

    Arrays are made when they are first asked for, and are yours: changing them changes nothing else.
    """

    def __init__(self, answer: Answer, remarks: tuple[str, ...] = ()) -> None:
        self._answer = answer
        self._remarks = remarks

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """The most probable set, (H, W)."""
        return self._answer.mask()

    @cached_property
    def marginals(self) -> NDArray[np.float64]:
        """The probability of the object for every pixel, (H, W)."""
        return self._answer.marginals()

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """x with marginals = 1 / (1 + exp(-x)), (H, W). Strokes that are facts have ±1e9."""
        return self._answer.log_odds()

    @cached_property
    def base(self) -> NDArray[np.float64] | None:
        """The feasible point that proves how good the log-odds are, (H, W); None for a rival, which proves nothing."""
        return self._answer.base()

    @cached_property
    def bound(self) -> NDArray[np.float64] | None:
        """How far the log-odds of each pixel can be from the exact ones, (H, W): 0 under strokes, infinite where nothing is proved; None for a rival."""
        return self._answer.bound()

    @cached_property
    def superpixels(self) -> list[NDArray[np.int32]]:
        """The label map of every layer of superpixels, (H, W) each; none where the model had none."""
        return self._answer.superpixels()

    @cached_property
    def report(self) -> dict[str, Any]:
        """Everything in numbers, as the program's report.json."""
        report: dict[str, Any] = json.loads(self._answer.report())
        report["warnings"] = [*self._remarks, *report["warnings"]]
        return report

    @property
    def suggestion(self) -> dict[str, Any] | None:
        """Where the next stroke would help most, as far as the report says."""
        suggestion: dict[str, Any] | None = self.report.get("suggestion")
        return suggestion

    def overlay(self) -> NDArray[np.uint8]:
        """The photo with the mask's outline, (H, W, 3)."""
        return self._answer.overlay()

    def cutout(self, soft: bool = False) -> NDArray[np.uint8]:
        """The object alone, (H, W, 4): alpha is the mask, or the probability."""
        return self._answer.cutout(bool(soft))

    def save(self, folder: str | PathLike[str], stem: str = "lfield") -> list[Path]:
        """Writes the files of the option ``emit`` as the program does, all or none, and returns their paths."""
        return [Path(path) for path in self._answer.save(folder, stem)]

    def __repr__(self) -> str:
        report = self.report
        width, height = report["input"]["width"], report["input"]["height"]
        share, gap = report["map"]["area"] / (width * height), report["solve"]["gap_per_pixel"]
        proof = "nothing proved" if gap is None else f"gap {gap:.1e} per pixel"
        status = "" if report["solve"]["converged"] else f", {report['solve']['status']}"
        return f"<lfield.Result {width}×{height}, object {share:.1%}, {proof}{status}>"

    def _repr_html_(self) -> str:
        def picture(name: str, title: str) -> str:
            data = base64.b64encode(self._answer.encode(name)).decode()
            style = "max-width: 24em; width: 100%"
            return f'<figure style="margin: 0"><img alt="{title}" style="{style}" src="data:image/png;base64,{data}"><figcaption>{title}</figcaption></figure>'

        pictures = picture("overlay", "mask") + picture("heatmap", "probability of the object")
        return f'<div style="display: flex; gap: 1em; flex-wrap: wrap">{pictures}</div><code>{html.escape(repr(self))}</code>'

    def _repr_png_(self) -> bytes:
        return self._answer.encode("overlay")
