"""A scene at any size, with NumPy: colours are enlarged, edges are drawn anew, the camera adds its noise pixel by pixel.

A pixel of the small canvas is covered to the share a = ½ − d, d its distance to the outline. So the enlarged coverage tells the distance
at every point of the large grid, and the large coverage is ½ + k(a − ½), held to 0…1: an outline as sharp as the small one's, a pixel wide.
Object and background have a colour each, carried across the outline before they are enlarged, and are mixed by that coverage. The truth is
where the coverage is at least one half, hence exact for the photo that is written. Between the pixels of the small canvas surfaces get a
fine grain of their own. Strips of rows keep the memory small.
"""

import numpy as np

STRIP = 128


class Large:
    """A drawn canvas, k times as wide and high."""

    def __init__(self, canvas, scale):
        self.width, self.height = round(canvas.width * scale), round(canvas.height * scale)
        self.scale = scale
        shape = (canvas.height, canvas.width)
        self.cover = np.asarray(canvas.cover, np.float32).reshape(shape)
        # On the display curve, where a half covered pixel looks half way.
        colours = np.sqrt(np.clip(np.asarray(canvas.pixels, np.float32), 0.0, 1.0)).reshape(*shape, 3)
        self.inside = spread(colours, self.cover >= 0.98)
        self.outside = spread(colours, self.cover <= 0.02)

    def strips(self, seed, grain, softness=0.4):
        """Photo and truth, strip by strip from the top; `grain` is the deviation of the sensor's noise in grey levels."""
        for top in range(0, self.height, STRIP):
            bottom = min(self.height, top + STRIP)
            # The lens looks one row further.
            y = np.clip(np.arange(top - 1, bottom + 1), 0, self.height - 1)
            cover = self.coverage(y)
            mixed = self.at(self.outside, y)
            mixed += (self.at(self.inside, y) - mixed) * cover[..., None]
            mixed *= self.surface(y)[..., None]
            soft = tent(mixed)
            sharp = mixed[1:-1]
            display = sharp + (soft - sharp) * softness
            pixel = (np.arange(top, bottom, dtype=np.uint64)[:, None] * self.width + np.arange(self.width, dtype=np.uint64)) * 4
            common = bell(seed, pixel)
            own = np.stack([bell(seed, pixel + 1 + c) for c in range(3)], axis=-1)
            noise = grain * (1.25 - 0.6 * display) * 0.7 * (common[..., None] + own)
            photo = np.clip(255.0 * display + noise + 0.5, 0.0, 255.0).astype(np.uint8)
            yield photo, np.where(cover[1:-1] >= 0.5, np.uint8(255), np.uint8(0))

    def coverage(self, y):
        return np.clip(0.5 + self.scale * (self.at(self.cover, y) - 0.5), 0.0, 1.0)

    def at(self, plane, y):
        """The plane between its pixels, in rows y of the large grid."""
        below, above, part = between(y, self.scale, plane.shape[0])
        part = part.reshape(-1, *[1] * (plane.ndim - 1))
        rows = plane[below] * (1 - part) + plane[above] * part
        left, right, part = between(np.arange(self.width), self.scale, plane.shape[1])
        part = part.reshape(1, -1, *[1] * (plane.ndim - 2))
        return rows[:, left] * (1 - part) + rows[:, right] * part

    def surface(self, y):
        """Brightness of the fine grain of surfaces, with features of half a pixel of the small canvas."""
        x, y = np.arange(self.width) * (2.0 / self.scale), y * (2.0 / self.scale)
        return 0.96 + 0.08 * lattice(x[None, :], y[:, None])


def between(places, scale, n):
    """The two neighbours of each place on the small grid and the share of the second."""
    place = np.clip((places + 0.5) / scale - 0.5, 0.0, n - 1.0)
    first = place.astype(np.int64)
    return first, np.minimum(first + 1, n - 1), (place - first).astype(np.float32)


def spread(colours, known):
    """The colours of the known pixels, carried into the others from neighbour to neighbour; where none is within 32, as they are."""
    own, known = np.where(known[..., None], colours, 0.0).astype(np.float32), known.copy()
    for _ in range(32):
        weight = np.pad(known.astype(np.float32), 1)
        values = np.pad(own, ((1, 1), (1, 1), (0, 0)))
        h, w = known.shape
        shifts = [(i, j) for i in range(3) for j in range(3)]
        total = sum(weight[i : i + h, j : j + w] for i, j in shifts)
        mean = sum(values[i : i + h, j : j + w] for i, j in shifts) / np.maximum(total, 1.0)[..., None]
        fresh = ~known & (total > 0)
        own[fresh] = mean[fresh]
        known |= fresh
    own[~known] = own[known].mean(axis=0)
    return own


def tent(rows):
    """The 3×3 tent filter of the rows but the first and last."""
    wide = np.concatenate([rows[:, :1], rows, rows[:, -1:]], axis=1)
    across = (wide[:, :-2] + 2.0 * wide[:, 1:-1] + wide[:, 2:]) * 0.25
    return (across[:-2] + 2.0 * across[1:-1] + across[2:]) * 0.25


def lattice(x, y):
    """Smooth value noise in [0, 1) with features of size 1."""
    ix, iy = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = ((t * t * (3.0 - 2.0 * t)).astype(np.float32) for t in (x - ix, y - iy))
    corner = lambda i, j: VALUES[(iy + j) & 255, (ix + i) & 255]
    top = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * fx
    low = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * fx
    return top + (low - top) * fy


def bell(key, index):
    """About normal, mean 0 and deviation 1: `noise.bell` on an array."""
    h = (index * np.uint64(0x9E3779B1) + np.uint64(key * 0x85EBCA77 & 0xFFFFFFFF)).astype(np.uint32)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    h = (h ^ (h >> np.uint32(12))) * np.uint32(0x297A2D39)
    h ^= h >> np.uint32(15)
    total = sum((h >> np.uint32(shift)) & np.uint32(255) for shift in (0, 8, 16, 24))
    return (total.astype(np.float32) - np.float32(510.0)) * np.float32(1 / 147.8)


VALUES = ((bell(3, np.arange(65536, dtype=np.uint64)) / 6.9 + 0.5) % 1.0).astype(np.float32).reshape(256, 256)
