"""What users give, as the arrays that the Rust module takes. Everything that can be wrong with an array is said here.

An array of another kind than asked for is a ``TypeError``; one of the right kind with values or a shape that mean nothing is an ``Error``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._lfield import Error
from ._numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shape = tuple[int, int]


def as_array(value: object, what: str) -> NDArray[Any]:
    """Any array of numbers or truth values."""
    if value is None:
        raise TypeError(f"{what} is None: give an array")
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        raise TypeError(f"{what} is a path or text: read the file into an array first, for instance with imageio or Pillow")
    try:
        array = np.asarray(value)
    except Error:
        raise
    except Exception as error:
        raise TypeError(f"{what} is no array: {error}") from None
    if array.dtype.kind not in "buif":
        raise TypeError(f"{what} has dtype {array.dtype}: give numbers")
    if array.size == 0:
        raise Error(f"{what} is empty (shape {array.shape}): give at least one pixel")
    return array


def size(shape: Sequence[int]) -> str:
    """Width and height, as the program writes them."""
    return f"{shape[1]}×{shape[0]}"


def native(array: NDArray[Any]) -> NDArray[Any]:
    """In the byte order and alignment of this machine; itself where it is already."""
    if array.dtype.isnative and array.flags.aligned:
        return array
    return array.astype(array.dtype.newbyteorder("="))


def picture(image: object) -> NDArray[Any]:
    """(H, W, 3) of uint8, float32 or float64, where the user's image lies if it is that already."""
    array = as_array(image, "the image")
    if array.dtype.kind == "f":
        if array.dtype.itemsize not in (4, 8):
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    elif array.dtype != np.uint8:
        raise TypeError(
            f"the image has dtype {array.dtype}: give uint8 (0 to 255), or floating-point numbers from 0 to 1"
        )
    if array.ndim == 2:
        array = array[..., np.newaxis]
    if array.ndim != 3:
        raise Error(f"the image has shape {array.shape}: give (H, W, 3) or (H, W), one photo at a time")
    channels = array.shape[2]
    if channels in (2, 4):
        raise Error(f"the image has {channels} channels: leave the alpha channel out, image[..., :{channels - 1}]")
    if channels not in (1, 3):
        hint = ": channels come last, image.transpose(1, 2, 0)" if array.shape[0] in (1, 3) else ""
        raise Error(f"the image has shape {array.shape}: give (H, W, 3) or (H, W){hint}")
    return np.broadcast_to(native(array), (*array.shape[:2], 3))


def fit(array: NDArray[Any], shape: Shape | None, what: str) -> NDArray[Any]:
    """The array, if it is one number for every pixel of the photo."""
    if array.ndim != 2:
        raise Error(f"{what} has shape {array.shape}: give one number per pixel, shape (H, W)")
    if shape is not None and array.shape != shape:
        raise Error(f"{what} is {size(array.shape)}, the photo is {size(shape)}: both must have the same size")
    return array


def integers(value: object, what: str) -> NDArray[Any]:
    """An array of integers; truth values are 0 and 1."""
    array = as_array(value, what)
    if array.dtype.kind not in "bui":
        raise TypeError(f"{what} has dtype {array.dtype}: give integers, for example labels.astype(numpy.int32)")
    return array


def strokes(labels: object, fg: object, bg: object, shape: Shape) -> NDArray[np.uint8] | None:
    """0 unknown, 1 background, 2 object."""
    if labels is not None:
        if fg is not None or bg is not None:
            raise TypeError("strokes are given twice: give labels, or fg and bg")
        array = fit(integers(labels, "the label array"), shape, "the label array")
        low, high = int(array.min()), int(array.max())
        if low < 0:
            raise Error(f"the label array holds {low}: 0 is unknown, 1 background, 2 object")
        if high > 2:
            raise Error(
                f"the label array holds {high}: 0 is unknown, 1 background, 2 object; several classes are not in yet"
            )
        return array.astype(np.uint8)
    if fg is None and bg is None:
        return None
    marks = np.zeros(shape, np.uint8)
    for value, what, label in ((bg, "the mask bg", 1), (fg, "the mask fg", 2)):
        if value is None:
            continue
        mask = fit(integers(value, what), shape, what) != 0
        if (marks[mask] != 0).any():
            raise Error(f"fg and bg overlap in {int((marks[mask] != 0).sum())} pixels: a pixel is object or background")
        marks[mask] = label
    return marks


def costs(value: object, shape: Shape) -> NDArray[np.float64]:
    """Costs in nats."""
    array = fit(as_array(value, "the array of costs"), shape, "the array of costs")
    return np.ascontiguousarray(array, np.float64)


def probabilities(value: object, shape: Shape | None, what: str) -> tuple[NDArray[np.float64], float]:
    """Probabilities, and the distance from 1 to the next smaller number of the type they came in."""
    array = fit(as_array(value, what), shape, what)
    step = float(np.finfo(array.dtype).epsneg) if array.dtype.kind == "f" else float(np.finfo(np.float64).epsneg)
    values = np.ascontiguousarray(array, np.float64)
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise Error(
            f"{what}: the value in row {row}, column {column} (from 0) is {values[row, column]}; it must be a probability "
            "between 0 and 1: divide by the largest value, or give costs"
        )
    return values, step


def label_maps(value: object, shape: Shape) -> list[NDArray[np.int64]]:
    """One label map, several, or an array of them."""
    maps = value if isinstance(value, (list, tuple)) and value and np.ndim(value[0]) == 2 else integers(value, "the label map")
    if not isinstance(maps, (list, tuple)):
        maps = list(maps) if maps.ndim == 3 else [maps]
    return [fit(integers(one, "the label map"), shape, "the label map").astype(np.int64) for one in maps]


def box(value: object, shape: Shape) -> tuple[int, int, int, int]:
    """x, y, width and height in pixels, inside the photo."""
    try:
        x, y, width, height = (int(number) for number in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise TypeError(f"box is {value!r}: give (x, y, width, height) in pixels") from None
    if width < 1 or height < 1 or x < 0 or y < 0 or x + width > shape[1] or y + height > shape[0]:
        raise Error(f"box {(x, y, width, height)} does not lie in the photo of {size(shape)}: give (x, y, width, height)")
    return x, y, width, height


def count(value: object, what: str, most: int = 1 << 31) -> int | None:
    """A number of at least 1, or none."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is {value!r}: give a whole number of at least 1")
    number = int(value.__index__())
    if not 1 <= number <= most:
        raise Error(f"{what} is {number}: it must be from 1 to {most}")
    return number


def threads(value: object) -> int | None:
    """A number of threads, or none for all cores."""
    return count(value, "threads", 1024)
