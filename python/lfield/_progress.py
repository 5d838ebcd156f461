"""``progress=True``: a bar by tqdm where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Callback = Callable[[int, float], object]


@contextmanager
def follow(progress: bool | Callback | None) -> Iterator[Callback | None]:
    """The callback that hears of sweeps done and the gap per pixel."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress is True:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            yield None
            return
        bar: Any = tqdm(desc="lfield", unit=" sweeps", leave=False)

        def show(sweeps: int, gap: float) -> None:
            bar.update(sweeps - bar.n)
            bar.set_postfix_str(f"gap {gap:.1e} per pixel")

        try:
            yield show
        finally:
            bar.close()
    else:
        raise TypeError(f"progress is {progress!r}: give True, or a function of sweeps and gap")
