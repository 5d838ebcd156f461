"""Keyword options: the command line's names with underscores, each with its value as JSON."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from ._lfield import OPTIONS, Error

#: Options that say something about files, and what to do with arrays instead.
FILES = {
    "scribble_format": "strokes are an array here: give labels, or fg and bg",
    "max_pixels": "an array is in memory already: there is nothing to limit",
}

#: The program's box and clicks: here a box is ``box``, and ``fg`` and ``bg`` are masks.
MARKS = ("frame", "fg", "bg")

#: What users may be looking for, by the names of the program or of other tools.
ELSEWHERE = {
    "scribbles": "labels",
    "strokes_file": "labels",
    "mask": "fg",
    "foreground": "fg",
    "background": "bg",
    "probability": "prior",
    "output": "Result.save(folder, stem)",
    "n_jobs": "threads",
    "random_state": "seed",
    "max_iter": "max_iterations",
    "tol": "tolerance",
    "verbose": "progress",
    "strict": 'result.report["solve"]["converged"]',
}


def plain(name: str, value: object) -> object:
    """A value that JSON can say."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise Error(f"the option {name} is {value}: it must be a finite number")
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
        values = [plain(name, one) for one in value]
        if not values:
            raise Error(f"the option {name} is empty: leave it out, or give a value")
        return values
    raise TypeError(f"the option {name} is {value!r}: give a number or text")


def layers(value: object) -> object:
    """Layers of superpixels as text: one (hs, hr, smallest), or several."""
    value = plain("layer", value)
    if isinstance(value, list) and len(value) == 3 and not any(isinstance(one, (list, str)) for one in value):
        value = [value]
    if isinstance(value, list):
        return [",".join(str(number) for number in one) if isinstance(one, list) else one for one in value]
    return value


#: Options whose numbers the program reads as text.
TEXTS: dict[str, Callable[[object], object]] = {
    "layer": layers,
    "box": lambda value: ",".join(str(number) for number in cast("tuple[int, ...]", value)),
}


def named(options: Mapping[str, Any], arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Names with values as JSON. An unknown name is a ``TypeError`` that suggests the right one; those that are None are left out."""
    known = [name for name in OPTIONS if name not in FILES and name not in MARKS] + ["box"]
    pairs = []
    for name, value in options.items():
        if name in FILES:
            raise Error(f"the option {name} has no use here: {FILES[name]}")
        if name not in known:
            if name in arguments:
                raise TypeError(f"{name} is no option of a session: give it to set_{'labels' if name in ('fg', 'bg') else name}")
            near = difflib.get_close_matches(name, [*known, *arguments], 1, 0.6)
            better = ELSEWHERE.get(name) or (near[0] if near else None)
            hint = f"did you mean {better}?" if better else "known are " + ", ".join(sorted(known))
            raise TypeError(f"unknown option {name}: {hint}")
        if value is not None:
            said = TEXTS[name](value) if name in TEXTS else plain(name, value)
            pairs.append((name, json.dumps(said)))
    return pairs


def refuse_unused(options: Mapping[str, Any], *, has_costs: bool, has_superpixels: bool) -> None:
    """An option that changes nothing is a mistake."""

    def said(name: str) -> bool:
        return options.get(name) is not None

    method, solver = options.get("method") or "lfield", options.get("solver") or "accelerated"
    for name, unused, why in (
        ("components", has_costs, "costs or probabilities replace the colour mixtures"),
        ("outlier", has_costs, "costs or probabilities replace the colour mixtures"),
        ("context", has_costs, "costs or probabilities replace the colour mixtures"),
        ("layer", has_superpixels, "the superpixels are given"),
        ("fbp_weight", method != "fbp", 'only method="fbp" looks at it'),
        ("damping", method not in ("bp", "fbp"), 'only method="bp" and "fbp" look at it'),
        ("solver", method not in ("lfield", "unary"), f'method="{method}" has its own iteration'),
        (
            "factors",
            solver not in ("messages", "douglas-rachford", "ep"),
            'only solver="messages", "douglas-rachford" and "ep" look at it',
        ),
    ):
        if unused and said(name):
            raise Error(f"the option {name} has no use here: {why}")
