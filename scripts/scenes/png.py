"""PNG files from rows of bytes, with the standard library alone."""

import struct
import zlib


def write(path, width, height, channels, data, text=()):
    """Writes 8-bit grey (1 channel) or RGB (3). `text` holds (key, value) pairs for tEXt chunks."""
    stride = width * channels
    rows = [data[y * stride : (y + 1) * stride] for y in range(height)]
    body = min((_compress(rows, channels, kind) for kind in range(5)), key=len)
    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    chunks = [(b"IHDR", header)]
    chunks += [(b"tEXt", key.encode("latin-1") + b"\0" + value.encode("latin-1")) for key, value in text]
    chunks += [(b"IDAT", body), (b"IEND", b"")]
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, payload in chunks:
            file.write(struct.pack(">I", len(payload)) + kind + payload)
            file.write(struct.pack(">I", zlib.crc32(kind + payload)))


def _compress(rows, channels, kind):
    """All rows through one of the five PNG filters; the caller keeps the filter that packs best."""
    packed = bytearray()
    above = bytes(len(rows[0]))
    for row in rows:
        left = bytes(channels) + row[:-channels]
        packed.append(kind)
        if kind == 0:
            packed += row
        elif kind == 1:
            packed += bytes((x - a) & 255 for x, a in zip(row, left))
        elif kind == 2:
            packed += bytes((x - b) & 255 for x, b in zip(row, above))
        elif kind == 3:
            packed += bytes((x - (a + b) // 2) & 255 for x, a, b in zip(row, left, above))
        else:
            corner = bytes(channels) + above[:-channels]
            packed += bytes((x - _paeth(a, b, c)) & 255 for x, a, b, c in zip(row, left, above, corner))
        above = row
    return zlib.compress(bytes(packed), 9)


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c
