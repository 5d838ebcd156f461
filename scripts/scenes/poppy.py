"""A poppy in a meadow: a hairy stem a few pixels thick, red petals, and other poppies out of focus behind."""

from math import sqrt

from .canvas import Canvas, blur, curve, ellipse, srgb, tube
from .noise import fractal, hashed, mix, smooth, value

WIDTH, HEIGHT = 427, 640
HEART = (206.0, 196.0)
LIGHT = (0.42, -0.66, 0.62)


def meadow(x, y):
    far = fractal(x / 150.0, y / 110.0, 3, 3)
    near = fractal(x / 40.0, y / 70.0, 3, 9)
    colour = mix(srgb("#2f4a1f"), srgb("#a9b35a"), smooth(0.25, 0.85, 0.65 * far + 0.35 * near + 0.22 - 0.00050 * y))
    return mix(colour, srgb("#cfd8b8"), 0.55 * smooth(210.0, -40.0, y + 90.0 * (far - 0.5)))


def backdrop():
    """Everything out of focus: blades, discs of light, and poppies farther off."""
    canvas = Canvas(WIDTH, HEIGHT, meadow)
    for k in range(46):
        x, lean = 427.0 * hashed(k, 1), 90.0 * (hashed(k, 2) - 0.5)
        top = 240.0 + 330.0 * hashed(k, 3)
        blade = curve((x, 650.0), (x + 0.2 * lean, (top + 650.0) / 2), (x + lean, top), 6)
        tint = mix(srgb("#2c4718"), srgb("#93a847"), hashed(k, 4))
        tube(canvas, blade, [4.0, 4.0, 3.6, 3.2, 2.6, 2.0, 1.2], lambda *_, tint=tint: tint, cover=False)
    canvas.blur(3)
    for k in range(64):
        x, y, r = 427.0 * hashed(k, 11), 520.0 * hashed(k, 12), 8.0 + 20.0 * hashed(k, 13)
        tint = mix(srgb("#5f7a35"), srgb("#e4e6a8"), hashed(k, 14))
        disc = ellipse(x, y, r, r)
        _glaze(canvas, (x, y, r), disc, tint, 0.16 + 0.22 * hashed(k, 15))
    for x, y, r in ((58, 330, 36), (352, 300, 30), (388, 92, 24), (318, 452, 40), (36, 132, 20), (120, 506, 26)):
        for dx, dy, s in ((-0.35, 0.0, 0.85), (0.4, -0.1, 0.8), (0.0, 0.35, 0.75)):
            tint = mix(srgb("#8e1f14"), srgb("#d8432b"), hashed(x, y, int(10 * s)))
            px, py, pr = x + dx * r, y + dy * r, s * r
            _glaze(canvas, (px, py, pr), ellipse(px, py, pr, 0.85 * pr), tint, 0.82)
    canvas.blur(4)
    return canvas


def _glaze(canvas, where, shape, tint, strength):
    """A see-through disc with an edge a few pixels soft."""
    x, y, r = where
    for py in range(max(0, int(y - r - 4)), min(HEIGHT, int(y + r + 5))):
        for px in range(max(0, int(x - r - 4)), min(WIDTH, int(x + r + 5))):
            a = strength * smooth(2.5, -2.5, shape(px + 0.5, py + 0.5))
            if a > 0.0:
                i = py * WIDTH + px
                canvas.pixels[i] = mix(canvas.pixels[i], tint, a)


def stalk(x, y, nx, ny, nz, along):
    diffuse = max(0.0, nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2])
    colour = mix(srgb("#2f431a"), srgb("#4c3420"), smooth(0.35, 0.75, value(along / 40.0, 0.0, 21)))
    return tuple(c * (0.30 + 0.95 * diffuse) * (0.85 + 0.3 * value(x / 2.0, y / 3.0, 23)) for c in colour)


def hairs(canvas, points, count, reach, seed):
    for k in range(count):
        t = hashed(seed, k) * (len(points) - 1)
        i = int(t)
        a, b = points[i], points[i + 1]
        x, y = a[0] + (b[0] - a[0]) * (t - i), a[1] + (b[1] - a[1]) * (t - i)
        side = 1.0 if k % 2 else -1.0
        length = reach * (0.6 + 0.6 * hashed(seed, k, 2))
        tip = (x + side * length, y - length * (0.9 * hashed(seed, k, 3) - 0.25))
        tube(canvas, [(x, y), tip], [0.8, 0.45], stalk)


def stems(canvas):
    main = curve((238.0, 660.0), (252.0, 420.0), (HEART[0] + 2, HEART[1] + 20), 16)
    hairs(canvas, main, 90, 8.0, 31)
    tube(canvas, main, [4.4 - 0.07 * k for k in range(17)], stalk)
    up = curve((244.0, 520.0), (300.0, 420.0), (330.0, 372.0), 8)
    nod = curve((330.0, 372.0), (346.0, 346.0), (352.0, 376.0), 6)
    side = up + nod[1:]
    hairs(canvas, side, 60, 7.0, 37)
    tube(canvas, side, [3.4] * len(side), stalk)
    return side[-1]


def bud(canvas, x, y):
    y += 18.0
    shape = ellipse(x, y, 12.0, 21.0)

    def coat(px, py, _):
        u, v = (px - x) / 12.5, (py - y) / 21.5
        nz = sqrt(max(0.0, 1.0 - u * u - v * v))
        colour = mix(srgb("#6d7f3a"), srgb("#41501f"), smooth(0.3, 0.7, value(px / 3.0, py / 6.0, 41)))
        # Red shows where the bud has begun to split.
        colour = mix(colour, srgb("#b3301e"), smooth(3.2, 1.6, abs(px - x - 2.0 - 0.1 * (py - y))) * smooth(-14.0, -4.0, py - y))
        k = 0.30 + 0.95 * max(0.0, u * LIGHT[0] + v * LIGHT[1] + nz * LIGHT[2])
        return tuple(c * k for c in colour)

    for k in range(40):
        a, b = hashed(k, 51) * 2.0 - 1.0, hashed(k, 52) * 2.0 - 1.0
        n = sqrt(a * a + b * b) + 1e-6
        edge = (x + 11.5 * a / n, y + 20.0 * b / n)
        tube(canvas, [edge, (x + 18.0 * a / n, y + 26.0 * b / n)], [0.8, 0.45], stalk)
    canvas.paint((x - 14, y - 23, x + 14, y + 23), shape, coat)


# Centre of the petal, half-axes, direction of the long axis, brightness; back petals first.
PETALS = [
    (-6, -62, 92, 62, (0.98, 0.20), 0.80),
    (-62, 6, 74, 66, (0.60, 0.80), 0.92),
    (62, -2, 76, 68, (0.64, -0.77), 1.0),
    (2, 44, 96, 58, (0.995, -0.10), 1.08),
]


def petal(canvas, dx, dy, a, b, axis, level, seed):
    cx, cy = HEART[0] + dx, HEART[1] + dy
    base = ellipse(cx, cy, a, b, *axis)

    def ragged(x, y):
        d = base(x, y)
        if abs(d) > 14.0:
            return d
        return d + 13.0 * (fractal(x / 26.0, y / 26.0, 3, seed) - 0.5)

    def silk(x, y, d):
        rx, ry = x - HEART[0], y - HEART[1]
        r = sqrt(rx * rx + ry * ry) + 1e-6
        ux, uy = rx / r, ry / r
        # Folds and veins run out from the heart: noise on the direction, stretched along the radius.
        fold = fractal(6.0 * ux + 40.0, 6.0 * uy + r / 160.0, 2, seed + 1) - 0.5
        vein = fractal(30.0 * ux + 70.0, 30.0 * uy + r / 110.0, 2, seed + 2) - 0.5
        bowl = (rx * LIGHT[0] * -0.6 + ry * LIGHT[1] * -0.6) / 110.0
        light = level * (0.66 + 0.9 * fold + 0.30 * vein + 0.25 * bowl + 0.12 * smooth(30.0, 130.0, r))
        colour = mix(srgb("#c22a17"), srgb("#f0683c"), smooth(0.75, 1.25, light))
        # A pale, thin rim; a dark blotch by the heart.
        light *= 1.0 + 0.35 * smooth(-5.0, -1.0, d)
        blotch = smooth(40.0, 26.0, r + 26.0 * fold)
        return tuple(c * max(0.10, light) for c in mix(colour, srgb("#2a0d12"), 0.85 * blotch))

    reach = max(a, b) + 12
    # The petal throws a soft shade on the one behind it.
    matte = Canvas(WIDTH, HEIGHT, lambda x, y: (0.0, 0.0, 0.0))
    matte.paint((cx - reach, cy - reach, cx + reach, cy + reach), ragged, lambda *_: (1.0, 1.0, 1.0))
    matte.cover = [m * c for m, c in zip(matte.cover, canvas.cover)]
    _shade(canvas, matte.cover)
    canvas.paint((cx - reach, cy - reach, cx + reach, cy + reach), ragged, silk)


def _shade(canvas, matte):
    """Darkens what already belongs to the flower beside a new petal, and nothing else."""
    soft = blur(matte, WIDTH, HEIGHT, 4)
    for i, c in enumerate(canvas.cover):
        if c > 0.0 and soft[i] > 0.0:
            k = 1.0 - 0.55 * soft[i] * c
            canvas.pixels[i] = tuple(p * k for p in canvas.pixels[i])


def heart(canvas):
    x0, y0 = HEART[0], HEART[1] + 4
    for k in range(120):
        a, b = hashed(k, 61) * 2.0 - 1.0, hashed(k, 62) * 2.0 - 1.0
        n = sqrt(a * a + b * b) + 1e-6
        r = 16.0 + 17.0 * hashed(k, 63)
        tip = (x0 + r * a / n, y0 + 0.85 * r * b / n)
        tube(canvas, [(x0 + 8 * a / n, y0 + 7 * b / n), tip], [0.6, 0.6], lambda *_: srgb("#1c1218"))
        tone = mix(srgb("#17131c"), srgb("#5b5366"), hashed(k, 64))
        canvas.paint((tip[0] - 4, tip[1] - 4, tip[0] + 4, tip[1] + 4), ellipse(*tip, 2.1, 1.6), lambda *_, t=tone: t)

    def pod(x, y, _):
        u, v = (x - x0) / 14.0, (y - y0) / 12.0
        nz = sqrt(max(0.0, 1.0 - u * u - v * v))
        k = 0.35 + 0.9 * max(0.0, u * LIGHT[0] + v * LIGHT[1] + nz * LIGHT[2])
        n = sqrt(u * u + v * v) + 1e-6
        ray = value(9.0 * u / n + 20.0, 9.0 * v / n, 71)
        return tuple(c * k for c in mix(srgb("#7d8a4c"), srgb("#2d2a20"), smooth(0.45, 0.65, ray)))

    canvas.paint((x0 - 16, y0 - 14, x0 + 16, y0 + 14), ellipse(x0, y0, 13.5, 11.5), pod)


def draw():
    canvas = backdrop()
    tip = stems(canvas)
    bud(canvas, *tip)
    for k, (dx, dy, a, b, axis, level) in enumerate(PETALS):
        petal(canvas, dx, dy, a, b, axis, level, 100 + 10 * k)
    heart(canvas)
    canvas.map(lambda x, y, c: tuple(v * (1.06 - 0.0000022 * ((x - 213.0) * (x - 213.0) + (y - 280.0) * (y - 280.0))) for v in c))
    return canvas


FOREGROUND = [
    (8, [(130, 150), (140, 190), (130, 225)]),
    (8, [(170, 120), (215, 112), (250, 130)]),
    (8, [(290, 160), (286, 200), (270, 230)]),
    (7, [(160, 255), (205, 268), (250, 255)]),
    (7, [(198, 198), (212, 202)]),
    (6, [(352, 384), (352, 404)]),
    (5, [(240.5, 612), (241.5, 580), (241, 545)]),
]
BACKGROUND = [
    (8, [(30, 40), (120, 30), (220, 40)]),
    (8, [(380, 40), (396, 130), (380, 220)]),
    (8, [(30, 220), (60, 330), (40, 420)]),
    (8, [(60, 560), (110, 500), (180, 460), (170, 380)]),
    (8, [(300, 320), (290, 300), (360, 300)]),
    (8, [(400, 440), (330, 460), (300, 560), (380, 610)]),
]
