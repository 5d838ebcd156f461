"""A few megabytes that unfold to gigabytes, through every reader: refused, or read as far as is useful, before they unfold."""

import struct
import zlib
from pathlib import Path

from hardship.desk import Desk, Wrong
from hardship.usage import measure

SIDE = 30_000
SECONDS, MEGABYTES = 0.1, 100


def zeros(n_bytes: int) -> bytes:
    """So many zeros as a zlib stream. Pieces that end in a full flush may be repeated, so that only one has to be packed."""

    def packed(n: int) -> bytes:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(bytes(n)) + packer.flush(zlib.Z_FULL_FLUSH)

    pieces, rest = divmod(n_bytes, 1 << 22)
    last_block, checksum = b"\x03\x00", struct.pack(">HH", n_bytes % 65521, 1)
    return b"\x78\xda" + packed(1 << 22) * pieces + packed(rest) + last_block + checksum


def chunk(kind: bytes, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))


def png(width: int, height: int, pixels: bytes, extra: bytes = b"") -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def tiff(width: int, height: int, pixels: bytes) -> bytes:
    """RGB in one strip, deflated."""
    short, long = 3, 4
    tags = [(256, long, width), (257, long, height), (258, short, 8), (259, short, 8), (262, short, 2), (273, long, 8)]
    tags += [(277, short, 3), (278, long, height), (279, long, len(pixels))]
    body = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    # Three channels of 8 bits each need their own place; it is behind the directory.
    directory = 8 + len(pixels) + len(pixels) % 2
    bits = directory + 2 + len(body) + 4
    body = body.replace(struct.pack("<HHII", 258, short, 1, 8), struct.pack("<HHII", 258, short, 3, bits))
    strip = pixels + bytes(len(pixels) % 2)
    return b"II*\0" + struct.pack("<I", directory) + strip + struct.pack("<H", len(tags)) + body + bytes(4) + struct.pack("<HHH", 8, 8, 8)


def make(folder: Path) -> None:
    pixels = zeros(SIDE * (3 * SIDE + 1))  # a filter byte before every row
    (folder / "bomb.png").write_bytes(png(SIDE, SIDE, pixels))
    (folder / "bomb.tif").write_bytes(tiff(SIDE, SIDE, pixels))
    # Within the limit on pixels, but no match for the photo.
    (folder / "large.png").write_bytes(png(14_000, 14_000, zeros(14_000 * (3 * 14_000 + 1))))
    # The right size; what unfolds is a note beside the pixels, or pixels beyond the last row.
    small = zeros(18 * (3 * 24 + 1))
    (folder / "note.png").write_bytes(png(24, 18, small, chunk(b"zTXt", b"lfield\0\0" + pixels)))
    (folder / "profile.png").write_bytes(png(24, 18, small, chunk(b"iCCP", b"icc\0\0" + pixels)))
    (folder / "endless.png").write_bytes(png(24, 18, pixels))


READERS = {
    "photo": ["segment", "FILE", "--scribbles", "in/0.scribbles.png"],
    "photo (superpixels)": ["superpixels", "FILE"],
    "strokes": ["segment", "in/0.png", "--scribbles", "FILE"],
    "prior": ["segment", "in/0.png", "--prior", "FILE"],
    "label map": ["segment", "in/0.png", "--superpixels", "FILE"],
    "truth": ["evaluate", "list.csv"],
}


def main(program) -> None:
    desk = Desk(program, 24, 18, photos=1)
    make(desk.folder)
    print("| file | megabytes | read as | exit code | seconds | of the processor | peak MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    worst = []
    for path in sorted(desk.folder.glob("*.[pt]*")):
        for reader, arguments in READERS.items():
            if path.name == "large.png" and reader.startswith("photo"):
                continue  # a photo like others, if there is room for it
            (desk.folder / "list.csv").write_text(f"image,scribbles,truth\nin/0.png,in/0.scribbles.png,{path.name}\n")
            command = desk.command([path.name if word == "FILE" else word for word in arguments])
            runs = [measure([*command, "--threads", "2", "--color", "never"], desk.folder) for _ in range(3)]
            best = min(runs, key=lambda run: run.seconds)
            size = path.stat().st_size / 1e6
            print(
                f"| {path.name} | {size:.1f} | {reader} | {best.code} | {best.seconds:.3f} | {best.processor:.3f} | {best.megabytes:.0f} |"
            )
            if "panicked" in best.said or best.code not in (0, 1):
                raise Wrong(f"{path.name} as {reader}: {best.code}: {best.said}")
            if best.code == 1 and path.name not in best.said:
                raise Wrong(f"{path.name} as {reader} is not named: {best.said}")
            # Those of the photo's size may be read; that must not cost more.
            worst.append((max(best.processor / SECONDS, best.megabytes / MEGABYTES), path.name, reader))
    if max(worst)[0] > 1:
        raise Wrong(f"{max(worst)[1]} as {max(worst)[2]} takes more than {SECONDS} s or {MEGABYTES} MB")
