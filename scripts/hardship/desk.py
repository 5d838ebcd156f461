"""A folder with small photos and strokes, the program to run there, and what must hold whatever happens to it."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from compare_batches import files, plain
from scenes import png

ROOT = Path(__file__).resolve().parent.parent.parent
PART = ".part"


class Wrong(Exception):
    """Something that must not happen has happened."""


def photo(path: Path, width: int, height: int, seed: int) -> None:
    """A disc on a ground, both with grain, and two strokes; another seed gives another disc."""
    inside = lambda x, y: (2 * x - width - seed) ** 2 + (2 * y - height) ** 2 < (height * 0.8) ** 2
    rgb, labels = bytearray(), bytearray()
    for y in range(height):
        for x in range(width):
            grain = (x * 7919 + y * 104729 + x * y * 31 + seed) % 23
            rgb += bytes((190 + grain, 90 + grain, 40) if inside(x, y) else (40, 80 + grain, 120 + grain))
            middle = abs(2 * x - width) < width // 8 and abs(2 * y - height) < height // 8
            labels.append(255 if middle else 128 if x < width // 10 else 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    png.write(path, width, height, 3, bytes(rgb))
    png.write(path.with_suffix(".scribbles.png"), width, height, 1, bytes(labels))


class Desk:
    """Inputs in `in/`, which nothing may change; results in `out/`."""

    def __init__(self, program: Path, width: int, height: int, photos: int):
        self._folder = tempfile.TemporaryDirectory(prefix="lfield-hardship-")
        self.folder, self.program = Path(self._folder.name), program
        for i in range(photos):
            photo(self.folder / "in" / f"{i}.png", width, height, seed=i)
        self.settle()

    def settle(self) -> None:
        """From now on the inputs are what they are."""
        self._inputs = self.inputs()

    def inputs(self) -> dict[str, bytes]:
        return {name: path.read_bytes() for name, path in files(self.folder / "in").items()}

    def command(self, arguments: list[str]) -> list[str]:
        return [str(self.program), *arguments]

    def run(self, arguments: list[str], before: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
        command = [*before, *self.command(arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=600)

    def results(self, folder: str = "out") -> dict[str, bytes]:
        """Every file below the folder, without what is different from run to run."""
        found = files(self.folder / folder) if (self.folder / folder).is_dir() else {}
        return {name: self._content(path) for name, path in found.items()}

    @staticmethod
    def _content(path: Path) -> bytes:
        try:
            if path.name.endswith(".superpixels.json"):
                summary = json.loads(path.read_bytes())
                return json.dumps([{**layer, "seconds": 0} for layer in summary["layers"]]).encode()
            return plain(path)
        except (json.JSONDecodeError, KeyError) as error:
            raise Wrong(f"half a file: {path.name} ({error})") from error

    def put(self, earlier: str | None) -> None:
        """Makes `out/` a copy of a folder of earlier results, or nothing."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        if earlier is not None:
            shutil.copytree(self.folder / earlier, self.folder / "out")

    def check_inputs(self) -> None:
        if self.inputs() != self._inputs:
            raise Wrong("an input is not what it was")


def check_words(run: subprocess.CompletedProcess) -> None:
    """No bug may show, whatever happened."""
    for sign in ("panicked", "internal error", "RUST_BACKTRACE", "memory allocation"):
        if sign in run.stderr:
            raise Wrong(f"a bug shows: {run.stderr.strip()}")


def leftovers(results: dict[str, bytes]) -> list[str]:
    return [name for name in results if name.endswith(PART)]


def check_sealed(found: dict[str, bytes], old: dict[str, bytes], new: dict[str, bytes]) -> None:
    """Every file is the old one or the new one, and all of them belong to the report if there is one."""
    for name, content in found.items():
        if content not in (old.get(name), new.get(name)):
            raise Wrong(f"neither old nor new: {name}")
    for seal in (name for name in found if name.endswith(".report.json")):
        stem = seal.removesuffix("report.json")
        whole = new if found[seal] == new.get(seal) else old
        for name in (name for name in whole if name.startswith(stem)):
            if found.get(name) != whole[name]:
                raise Wrong(f"{name} does not belong to {seal}")
