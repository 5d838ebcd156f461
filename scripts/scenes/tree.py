"""A bare oak at the end of the day: twigs a few pixels thick against the sky, the same darks in hedge, hill and grass."""

from math import sqrt

from .canvas import Canvas, srgb, tube
from .noise import fractal, hashed, mix, smooth, value

WIDTH, HEIGHT = 640, 427
GROUND = 352.0
LIGHT = (0.78, -0.18, 0.60)


def sky(x, y):
    t = y / GROUND
    colour = mix(srgb("#86a0c4"), srgb("#c3c3c2"), smooth(0.0, 0.6, t))
    colour = mix(colour, srgb("#f0cf98"), smooth(0.45, 1.0, t))
    warm = smooth(420.0, 0.0, sqrt((x - 560.0) * (x - 560.0) + (y - 330.0) * (y - 330.0) * 2.0))
    colour = mix(colour, srgb("#ffe3a6"), 0.65 * warm)
    cloud = fractal(x / 170.0 + 0.6 * y / 170.0, y / 48.0, 5, 3)
    lit = fractal((x + 14.0) / 170.0 + 0.6 * y / 170.0, (y + 5.0) / 48.0, 5, 3)
    body = smooth(0.50, 0.68, cloud)
    face = mix(srgb("#a9a4ac"), srgb("#f6e3cb"), smooth(-0.05, 0.06, cloud - lit))
    return mix(colour, face, 0.72 * body)


def field(x, y):
    near = (y - GROUND) / (HEIGHT - GROUND)
    u, v = (x - 320.0) / (0.35 + near), 90.0 * near / (0.25 + near)
    tuft = fractal(u / 13.0, v / 1.6, 4, 29)
    blade = fractal(x / 2.2, y / (2.0 + 5.0 * near), 2, 31)
    patch = fractal(x / 120.0, y / 22.0, 3, 37)
    colour = mix(srgb("#4a3c28"), srgb("#ab935c"), smooth(0.2, 0.85, 0.5 * tuft + 0.28 * blade + 0.22 * patch))
    colour = mix(colour, mix(srgb("#454d25"), srgb("#808848"), blade), 0.65 * smooth(0.46, 0.68, patch))
    light = 0.62 + 0.0010 * x + 0.25 * (1.0 - near)
    return tuple(c * light for c in colour)


def land(x, y):
    """Sky, hills in haze, a hedge with bare bushes, the field; each edge a pixel soft."""
    colour = sky(x, y)
    for height, tone, seed in ((40.0, "#98a0ae", 11), (26.0, "#7d8490", 13)):
        ridge = GROUND - 4.0 - height * fractal(x / 210.0, seed, 5, seed)
        colour = mix(colour, mix(srgb(tone), srgb("#c9b49a"), 0.5 * smooth(250.0, 640.0, x)), smooth(ridge - 0.7, ridge + 0.7, y))
    bush = fractal(x / 34.0, 3.0, 3, 17)
    hedge = GROUND - 3.0 - 34.0 * smooth(0.42, 0.78, bush) - 9.0 * fractal(x / 6.0, y / 6.0, 2, 19)
    twigs = fractal(x / 2.2, y / 4.0, 3, 23)
    depth = smooth(hedge - 4.0, hedge + 8.0, y)
    dark = mix(srgb("#4b443e"), srgb("#8b7a68"), smooth(0.3, 0.8, fractal(x / 9.0, y / 7.0, 4, 27)))
    colour = mix(colour, dark, smooth(0.42, 0.58, 0.5 * twigs + 0.75 * depth - 0.12))
    edge = GROUND + 4.0 * (value(x / 3.0, 0.0, 41) - 0.5) + 5.0 * (value(x / 90.0, 0.0, 43) - 0.5)
    return mix(colour, field(x, max(y, GROUND)), smooth(edge - 0.8, edge + 0.8, y))


def bark(x, y, nx, ny, nz, along):
    diffuse = max(0.0, nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2])
    ridge = fractal(x / 3.4, y / 13.0, 3, 47)
    colour = mix(srgb("#1a140f"), srgb("#453426"), smooth(0.3, 0.75, ridge))
    moss = smooth(0.55, 0.75, fractal(x / 22.0, y / 30.0, 2, 53)) * smooth(0.2, -0.6, nx)
    colour = mix(colour, srgb("#30331d"), 0.6 * moss)
    return tuple(c * (0.34 + 1.0 * diffuse) * t for c, t in zip(colour, (1.10, 1.0, 0.88)))


def turned(dx, dy, k):
    """The direction leaned by k to its right."""
    x, y = dx - dy * k, dy + dx * k
    n = sqrt(x * x + y * y)
    return x / n, y / n


KEY = 8  # which of the many oaks
THIN = 2.9  # radius where the last twigs begin


def grow(limbs, x, y, dx, dy, length, radius, key):
    """Adds one limb, its side shoots and the two limbs at its end, down to twigs of radius THIN."""
    steps = 6
    points, radii = [(x, y)], [radius]
    last = radius <= 1.25 * THIN
    end = 2.0 if last else max(THIN, 0.70 * radius)
    for k in range(steps):
        dx, dy = turned(dx, dy, 0.42 * (hashed(key, k, 1) - 0.5))
        dx, dy = turned(dx, dy - 0.03, 0.0)  # towards the light
        x, y = x + dx * length / steps, y + dy * length / steps
        points.append((x, y))
        radii.append(radius + (end - radius) * (k + 1) / steps)
        if k in (1, 3, 4) and 3.5 < radius < 14.0 and hashed(key, k, 2) < 0.6:
            side = 1.0 if hashed(key, k, 3) < 0.5 else -1.0
            sx, sy = turned(dx, dy, side * (0.75 + 0.6 * hashed(key, k, 4)))
            grow(limbs, x, y, sx, sy, 0.60 * length, max(THIN, 0.42 * radii[-1]), key * 7 + k)
    limbs.append((radius, points, radii))
    if last:
        return
    lean = 0.42 + 0.3 * hashed(key, 8)
    for n, side in enumerate((1.0, -1.0)):
        sx, sy = turned(dx, dy, side * lean * (0.7 + 0.6 * hashed(key, 9, n)))
        share = (0.84, 0.70)[n ^ (key & 1)]
        grow(limbs, x, y, sx, sy, length * (0.74 + 0.16 * hashed(key, 10, n)), max(THIN, share * end), key * 5 + 1 + n)


def draw():
    canvas = Canvas(WIDTH, HEIGHT, land)
    limbs = []
    grow(limbs, 306.0, 378.0, 0.04, -1.0, 105.0, 24.0, KEY)
    # Roots spread into the grass.
    for k, (dx, r) in enumerate(((-24.0, 6.0), (-12.0, 8.0), (10.0, 8.0), (25.0, 5.5))):
        tube(canvas, [(306.0 + 0.25 * dx, 366.0), (306.0 + 0.7 * dx, 386.0), (306.0 + 1.25 * dx, 395.0 + k % 2 * 3)], [9.0, r, 2.5], bark)
    for _, points, radii in sorted(limbs, key=lambda limb: limb[0]):
        tube(canvas, points, radii, bark)
    # Blades of grass in front of the foot: background again.
    for k in range(260):
        x, y = 306.0 + 62.0 * (hashed(k, 81) + hashed(k, 86) - 1.0), 399.0 + 10.0 * hashed(k, 82)
        tip = (x + 8.0 * (hashed(k, 83) - 0.5), y - 5.0 - 7.0 * hashed(k, 84))
        tint = mix(srgb("#3a3319"), srgb("#857a42"), hashed(k, 85))
        tube(canvas, [(x, y), tip], [1.1, 0.6], lambda *_, t=tint: t, cover=False)
    return canvas


FOREGROUND = [
    (8, [(303, 366), (302, 326), (305, 286)]),
    (6, [(280, 249), (269, 234), (256, 219)]),
    (7, [(310, 254), (330, 226), (347, 198)]),
    (5, [(348, 172), (347, 154), (342, 138)]),
    (5, [(244.5, 189), (239.5, 171), (236.5, 160)]),
    (5, [(366, 196.5), (380, 195.5), (392, 195)]),
    (4, [(233, 202), (225, 197), (217, 192)]),
]
BACKGROUND = [
    (8, [(20, 60), (90, 40), (180, 50)]),
    (8, [(420, 40), (500, 70), (610, 50)]),
    (8, [(30, 250), (100, 270), (200, 290), (250, 300)]),
    (8, [(360, 250), (440, 270), (590, 230), (600, 120)]),
    (7, [(294, 158), (308, 186), (299, 218)]),
    (8, [(20, 338), (200, 340), (240, 338)]),
    (8, [(370, 340), (480, 345), (570, 338)]),
    (8, [(60, 390), (180, 400), (250, 385)]),
    (8, [(350, 385), (450, 410), (600, 390)]),
    (6, [(206, 112), (203, 96), (190, 78)]),
]
