"""Noise that is the same on every machine: an integer hash and plain arithmetic, no libm beyond the square root."""

from math import sqrt


def hashed(*keys):
    """A number in [0, 1) from integers."""
    h = 0x9E3779B9
    for key in keys:
        h = ((h ^ (key & 0xFFFFFFFF)) * 0x85EBCA6B) & 0xFFFFFFFF
        h = ((h ^ (h >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
        h ^= h >> 16
    return h / 4294967296.0


_LATTICE = [hashed(i) for i in range(65536)]


def value(x, y, seed=0):
    """Smooth value noise in [0, 1) with features of size 1."""
    x += 4096.5 + 37.0 * seed
    y += 4096.5 + 59.0 * seed
    ix, iy = int(x), int(y)
    fx, fy = x - ix, y - iy
    fx *= fx * (3.0 - 2.0 * fx)
    fy *= fy * (3.0 - 2.0 * fy)
    top, low = (iy & 255) << 8, ((iy + 1) & 255) << 8
    here, next_ = ix & 255, (ix + 1) & 255
    a, b = _LATTICE[top + here], _LATTICE[top + next_]
    c, d = _LATTICE[low + here], _LATTICE[low + next_]
    a += (b - a) * fx
    c += (d - c) * fx
    return a + (c - a) * fy


def fractal(x, y, octaves, seed=0):
    """Octaves of value noise, each half as strong and about twice as fine; in [0, 1), mean one half."""
    total, weight, amplitude = 0.0, 0.0, 1.0
    for octave in range(octaves):
        total += amplitude * value(x, y, seed + 7 * octave)
        weight += amplitude
        amplitude *= 0.5
        # Turned a little, so that the lattices of two octaves never line up.
        x, y = 1.62 * x + 1.10 * y, 1.62 * y - 1.10 * x
    return total / weight


def cells(x, y, seed=0):
    """Distances to the nearest and second nearest point of a jittered grid, and the nearest point's own number."""
    ix, iy = int(x + 4096.0) - 4096, int(y + 4096.0) - 4096
    first = second = 9.0
    owner = 0.0
    for cy in (iy - 1, iy, iy + 1):
        for cx in (ix - 1, ix, ix + 1):
            key = _LATTICE[((cy + 31 * seed) & 255) << 8 | (cx + 17 * seed) & 255]
            other = _LATTICE[((cy + 31 * seed + 101) & 255) << 8 | (cx + 17 * seed + 57) & 255]
            dx, dy = cx + key - x, cy + other - y
            d = dx * dx + dy * dy
            if d < first:
                first, second, owner = d, first, key
            elif d < second:
                second = d
    return sqrt(first), sqrt(second), owner


def bell(key, index):
    """About normal, mean 0 and deviation 1: the sum of four hashed bytes."""
    h = (index * 0x9E3779B1 + key * 0x85EBCA77) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
    h = ((h ^ (h >> 12)) * 0x297A2D39) & 0xFFFFFFFF
    h ^= h >> 15
    total = (h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)
    return (total - 510.0) / 147.8


def wave(t):
    """A sine-like wave of period 1 between -1 and 1, from two parabolas."""
    t -= t // 1.0
    return 16.0 * t * (0.5 - t) if t < 0.5 else -16.0 * (t - 0.5) * (1.0 - t)


def smooth(low, high, x):
    """0 below `low`, 1 above `high`, an S between; `low` may be the larger one."""
    t = (x - low) / (high - low)
    t = 0.0 if t < 0.0 else 1.0 if t > 1.0 else t
    return t * t * (3.0 - 2.0 * t)


def mix(a, b, t):
    """Colour a where t = 0, colour b where t = 1."""
    return tuple(p + (q - p) * t for p, q in zip(a, b))
