"""Peak memory of `segment` against the estimate that it prints before it starts.

The photo is a patchwork with grain, as PNM, so that Python need not compress it. It is solved as by default, and once without a single
sweep: then most pixels are undecided, and finding the exact minimum for all of them at once takes more memory than the sweeps do.
"""

import json
import random
import re
from pathlib import Path

from hardship.desk import Desk, Wrong
from hardship.usage import measure

ALLOWED = 0.25
PATCH = 32
NO_SWEEPS = ["--max-iterations", "0"]


def patchwork(path: Path, megapixels: float) -> tuple[int, int]:
    chance = random.Random(1)
    width, height = (round((megapixels * 1e6 * ratio) ** 0.5) // PATCH * PATCH for ratio in (3 / 2, 2 / 3))
    colours = [[chance.randrange(20, 220) for _ in range(3)] for _ in range(64)]
    # Every colour in sixteen kinds of grain, a patch wide.
    patches = [[bytes(c + chance.randrange(24) for _ in range(PATCH) for c in colour) for _ in range(16)] for colour in colours]
    with open(path, "wb") as photo:
        photo.write(b"P6 %d %d 255\n" % (width, height))
        for _ in range(height // PATCH):
            row = [chance.choice(patches) for _ in range(width // PATCH)]
            for _ in range(PATCH):
                photo.write(b"".join(chance.choice(patch) for patch in row))
    with open(path.with_suffix(".scribbles.png"), "wb") as strokes:
        strokes.write(b"P5 %d %d 255\n" % (width, height))
        for y in range(height):
            foreground = b"\xff" * (width // 20) if abs(2 * y - height) < height // 10 else bytes(width // 20)
            left = b"\x80" * (width // 40)
            middle = width // 2 - len(left)
            strokes.write(left + bytes(middle) + foreground + bytes(width - len(left) - middle - len(foreground)))
    return width, height


def largest(desk: Desk) -> float:
    """Megapixels of the largest photo that is not refused here: the size is in the header, and nothing else has to be in the file."""
    photo = desk.folder / "header.ppm"

    def is_refused(megapixels: float) -> bool:
        photo.write_bytes(b"P6 %d 1000 255\n" % (megapixels * 1000))
        run = desk.run(["segment", photo.name, "--scribbles", photo.name])
        return "of memory" in run.stderr or "--max-pixels" in run.stderr

    low, high = 0.1, 201.0
    while high > low + 0.2:
        middle = (low + high) / 2
        low, high = (low, middle) if is_refused(middle) else (middle, high)
    return low


def main(program, megapixels: list[float], is_largest: bool) -> None:
    desk = Desk(program, 24, 18, photos=0)
    print("| photo | options | sweeps | estimate, MB | peak, MB | peak / estimate | bytes per pixel | processor seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    ways = [[]] if is_largest else [["--threads", "1"], ["--threads", "2"], ["--threads", "2", *NO_SWEEPS]]
    worst = 0.0
    for size in [largest(desk)] if is_largest else megapixels:
        path = desk.folder / "large.ppm"
        width, height = patchwork(path, size)
        for options in ways:
            used = measure(desk.command(["segment", str(path), "-o", "out", "-v", "--color", "never", *options]), desk.folder)
            estimate = re.search(r"about (\d+) MB of memory", used.said)
            if used.code != 0 or estimate is None:
                raise Wrong(f"{width}×{height}: exit code {used.code}: {used.said}")
            sweeps = json.loads((desk.folder / "out" / "large.report.json").read_text())["solve"]["iterations"]
            ratio = used.megabytes / int(estimate[1])
            worst = max(worst, abs(ratio - 1))
            per_pixel = used.megabytes * 2**20 / (width * height)
            print(
                f"| {width}×{height} | {' '.join(options) or 'none'} | {sweeps} | {estimate[1]} | {used.megabytes:.0f} | {ratio:.2f} "
                f"| {per_pixel:.0f} | {used.processor:.0f} |",
                flush=True,
            )
    if worst > ALLOWED:
        raise Wrong(f"an estimate is off by {100 * worst:.0f} %")
