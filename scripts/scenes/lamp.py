"""A desk lamp at dusk: rods and a cable a few pixels thick, a red shade beside a red book, light pools on wall and desk."""

from math import sqrt

from .canvas import Canvas, curve, ellipse, polygon, srgb, tube
from .noise import fractal, mix, smooth, value, wave

WIDTH, HEIGHT = 427, 640
EDGE = 478.0  # where the desk meets the wall
NECK, AIM = (228.0, 150.0), (0.545, 0.838)  # top of the shade, where it points
BASE = (128.0, 566.0)
ELBOW = (74.0, 338.0)
LIGHT = (-0.55, -0.45, 0.70)


def shade_frame(x, y):
    """Along the shade's axis, and across it."""
    x, y = x - NECK[0], y - NECK[1]
    return x * AIM[0] + y * AIM[1], y * AIM[0] - x * AIM[1]


def glow(x, y):
    """Lamp light at a point of the wall or desk: bright inside the cone, fading with distance."""
    along, across = shade_frame(x, y)
    if along < 60.0:
        return 0.0
    spread = abs(across) / (along * 0.92 + 12.0)
    near = 230.0 / (along + 40.0)
    return smooth(1.02, 0.45, spread) * min(1.6, near * near) * smooth(60.0, 130.0, along)


def wall(x, y):
    plaster = fractal(x / 5.0, y / 5.0, 3, 5) - 0.5
    stain = fractal(x / 130.0, y / 160.0, 4, 9) - 0.5
    colour = mix(srgb("#6f6a66"), srgb("#8b7a68"), smooth(-0.25, 0.25, stain))
    # Daylight through a blind, low and blue, from the left.
    slat = wave((y - 0.42 * x) / 46.0) + 0.25 * wave((y - 0.40 * x) / 92.0)
    pane = smooth(40.0, 70.0, x) * smooth(330.0, 290.0, x) * smooth(20.0, 50.0, y + 0.1 * x) * smooth(330.0, 300.0, y - 0.3 * x)
    blind = 0.22 * pane * smooth(-0.2, 0.5, slat)
    dusk = 0.62 - 0.00055 * x - 0.00018 * y
    lamp = 0.95 * glow(x, y)
    shade = 1.0 + 0.34 * plaster
    return tuple(
        c * shade * (dusk * d + blind * b + lamp * l)
        for c, d, b, l in zip(colour, (0.92, 0.98, 1.10), (0.95, 1.0, 1.15), (1.35, 1.05, 0.62))
    )


def desk(x, y):
    depth = y - EDGE
    scale = 1.0 / (0.45 + 0.0042 * depth)  # boards widen towards the viewer
    u = (x - 213.0) * scale
    v = 300.0 * depth / (depth + 190.0)
    bend = 10.0 * (fractal(u / 160.0, v / 60.0, 2, 31) - 0.5)
    ring = fractal(u / 260.0, (v + bend) / 5.2, 4, 17)
    fibre = fractal(u / 60.0, v / 1.2, 2, 21)
    colour = mix(srgb("#5d2f1b"), srgb("#b0713f"), smooth(0.22, 0.78, ring))
    board = (v + 14.0) / 43.0
    seam = smooth(0.035, 0.0, abs(board - int(board) - 0.5))
    light = 0.52 - 0.0006 * x + 1.5 * glow(x, y - 26.0)
    k = (0.62 + 0.7 * fibre) * light * (1.0 - 0.75 * seam)
    return tuple(c * k * t for c, t in zip(colour, (1.12, 1.0, 0.82)))


def room(x, y):
    if y < EDGE - 2.0:
        return wall(x, y)
    if y < EDGE + 1.0:
        return tuple(c * 0.35 for c in desk(x, EDGE + 1.0))
    return desk(x, y)


def lit(colour, nx, ny, nz, gloss, level=1.0):
    diffuse = max(0.0, nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2])
    spark = max(0.0, nx * -0.30 + ny * -0.24 + nz * 0.92)
    for _ in range(5):
        spark *= spark
    return tuple(c * level * (0.20 + 0.72 * diffuse) + gloss * spark * k for c, k in zip(colour, (0.92, 0.97, 1.0)))


def steel(x, y, nx, ny, nz, along):
    grain = 0.85 + 0.3 * value(along / 2.0, (x + y) / 9.0, 43)
    return lit(tuple(c * grain for c in srgb("#c3b8aa")), nx, ny, nz, 0.5)


def rubber(x, y, nx, ny, nz, along):
    return lit(srgb("#15110f"), nx, ny, nz, 0.12)


def books(canvas):
    """Two books and a mug at the right: background, in the lamp's own red."""
    for (left, top, right, low), name, seed in (
        ((262, 452, 432, 482), "#8f2f22", 3),
        ((276, 424, 432, 452), "#2f4a52", 5),
    ):
        def cover(x, y, _, name=name, seed=seed, top=top, low=low):
            across = (y - top) / (low - top)
            cloth = 0.8 + 0.4 * value(x / 1.7, y / 1.7, seed)
            round_ = 0.45 + 1.1 * across * (1.0 - across) * 2.0
            gilt = smooth(2.0, 1.0, abs(x - 300.0)) + smooth(2.0, 1.0, abs(x - 308.0))
            colour = mix(srgb(name), srgb("#b89a55"), min(1.0, gilt) * 0.8)
            light = 0.50 + 0.95 * glow(x, y)
            return tuple(c * cloth * round_ * light * t for c, t in zip(colour, (1.15, 1.0, 0.8)))

        box = [(left, top + 2), (left + 4, top), (right, top), (right, low), (left + 3, low), (left, low - 3)]
        canvas.paint((left - 1, top - 1, right + 1, low + 1), polygon(box), cover, cover=False)


def arms():
    """The four thin rods, as pairs of points."""
    rods = []
    for off in (-6.5, 6.5):
        rods.append(((BASE[0] + off - 2, BASE[1] - 34), (ELBOW[0] + off, ELBOW[1])))
        rods.append(((ELBOW[0] + off * 0.7, ELBOW[1] + off * 0.7), (NECK[0] - 24 + off * 0.6, NECK[1] + 4 + off * 0.8)))
    return rods


def thin_parts(canvas, metal, black):
    cable = curve((BASE[0] - 30, BASE[1] + 6), (30.0, 606.0), (-6.0, 588.0), 12)
    tube(canvas, cable, [2.6] * len(cable), black)
    slack = curve((ELBOW[0] - 4, ELBOW[1] + 4), (108.0, 196.0), (NECK[0] - 16, NECK[1] - 10), 14)
    tube(canvas, slack, [2.2] * len(slack), black)
    for a, b in arms():
        tube(canvas, [a, b], [3.0, 3.0], metal)
    # The spring between the lower rods: a zigzag.
    turns = 18
    a, b = (BASE[0] - 16, BASE[1] - 92), (ELBOW[0] + 14, ELBOW[1] + 42)
    coil = []
    for k in range(turns + 1):
        t = k / turns
        side = 6.0 if k % 2 else -6.0
        coil.append((a[0] + (b[0] - a[0]) * t + side, a[1] + (b[1] - a[1]) * t))
    tube(canvas, coil, [1.6] * len(coil), metal)


def knob(canvas, x, y, r):
    def coat(px, py, _):
        nx, ny = (px - x) / r, (py - y) / r
        return lit(srgb("#a1978b"), nx, ny, sqrt(max(0.0, 1.0 - nx * nx - ny * ny)), 0.7)

    canvas.paint((x - r - 1, y - r - 1, x + r + 1, y + r + 1), ellipse(x, y, r, r), coat)


def profile(along):
    """Half-width of the shade: a small cap, then a bell."""
    t = max(0.0, along) / 128.0
    return 17.0 + 62.0 * t * (1.55 - 0.55 * t) * smooth(-0.15, 0.45, t)


def hood(x, y):
    along, across = shade_frame(x, y)
    side = (abs(across) - profile(along)) * 0.86
    return max(side, -along - 16.0 + 0.0006 * across * across, along - 128.0)


def enamel(x, y, _):
    along, across = shade_frame(x, y)
    n = max(-1.0, min(1.0, across / (profile(along) + 0.01)))
    nz = sqrt(1.0 - n * n)
    nx, ny = -AIM[1] * n - 0.25 * AIM[0], AIM[0] * n - 0.25 * AIM[1]
    speckle = 0.93 + 0.14 * value(x / 3.0, y / 3.0, 51)
    colour = tuple(c * speckle for c in srgb("#a33524"))
    out = lit(colour, nx, ny, nz, 0.55, 1.05)
    rim = smooth(116.0, 124.0, along)
    return mix(out, tuple(c * 0.5 for c in out), rim)


def inside(x, y, _):
    """The lit opening, with the bulb in it."""
    along, across = shade_frame(x, y)
    t = 1.0 - across * across / (77.0 * 77.0)
    return tuple(c * (0.55 + 0.75 * max(0.0, t)) for c in (1.0, 0.78, 0.42))


def foot(x, y):
    """A flat round base: two stacked ellipses and the wall between them."""
    top = ellipse(BASE[0], BASE[1], 58.0, 17.0)(x, y)
    low = ellipse(BASE[0], BASE[1] + 9.0, 58.0, 17.0)(x, y)
    band = max(abs(x - BASE[0]) - 58.0, abs(y - BASE[1] - 4.5) - 4.5)
    return min(top, low, band)


def cast(x, y, _):
    top = ellipse(BASE[0], BASE[1], 58.0, 17.0)(x, y)
    grain = 0.86 + 0.28 * value(x / 2.0, y / 2.0, 57)
    if top < 0.0:
        nx, ny = (x - BASE[0]) / 150.0, -0.55 + (y - BASE[1]) / 160.0
        return tuple(grain * c for c in lit(srgb("#7a2a1e"), nx, ny, 0.80, 0.35, 1.2))
    nx = (x - BASE[0]) / 60.0
    return tuple(grain * c for c in lit(srgb("#5c2018"), nx, 0.55, 0.6, 0.2, 0.8))


def lamp(canvas, metal=steel, black=rubber, red=enamel, iron=cast, warm=inside):
    canvas.paint((60, 540, 200, 600), foot, iron)
    tube(canvas, [(BASE[0] - 2, BASE[1] - 2), (BASE[0] - 2, BASE[1] - 38)], [9.0, 7.0], metal)
    thin_parts(canvas, metal, black)
    canvas.paint((100, 60, 427, 360), hood, red)
    mouth = (NECK[0] + 126.0 * AIM[0], NECK[1] + 126.0 * AIM[1])
    opening = ellipse(*mouth, 12.0, 77.0, *AIM)
    canvas.paint((200, 150, 427, 380), opening, warm)
    for x, y, r in ((ELBOW[0], ELBOW[1], 9.0), (NECK[0] - 22, NECK[1] + 4, 8.0), (BASE[0] - 2, BASE[1] - 38, 8.0)):
        knob(canvas, x, y, r)


def draw():
    canvas = Canvas(WIDTH, HEIGHT, room)
    books(canvas)
    matte = Canvas(WIDTH, HEIGHT, lambda x, y: (0.0, 0.0, 0.0))
    white = lambda *_: (1.0, 1.0, 1.0)
    lamp(matte, white, white, white, white, white)
    # The daylight's shadow of the lamp on the wall, and the dark under the base.
    canvas.shadow([c if i // WIDTH < EDGE else 0.0 for i, c in enumerate(matte.cover)], 20, 16, 4, 0.38)
    under = Canvas(WIDTH, HEIGHT, lambda x, y: (0.0, 0.0, 0.0))
    under.paint((50, 540, 220, 600), foot, white)
    canvas.shadow(under.cover, -8, 7, 4, 0.75)
    lamp(canvas)
    return canvas


def along(rod, start, end):
    """Part of a rod, as a stroke's path."""
    (ax, ay), (bx, by) = rod
    return [(ax + (bx - ax) * t, ay + (by - ay) * t) for t in (start, end)]


FOREGROUND = [
    (7, [(236, 160), (262, 200), (262, 245)]),
    (7, [(268, 170), (310, 205), (330, 228)]),
    (6, [(80, 566), (110, 574), (170, 566)]),
    (5, [(126, 556), (126, 540)]),
    (5, [(98, 584.5), (128, 590.5), (160, 584)]),
    (4, along(arms()[0], 0.20, 0.42)),
    (4, along(arms()[3], 0.20, 0.60)),
    (6, [(262, 280), (296, 262), (330, 232)]),
]
BACKGROUND = [
    (8, [(24, 40), (90, 80), (150, 60)]),
    (8, [(300, 40), (380, 110), (410, 220)]),
    (8, [(120, 390), (210, 330), (240, 400), (340, 390)]),
    (8, [(20, 430), (24, 300), (30, 200)]),
    (7, [(128, 322), (165, 272), (196, 218)]),
    (8, [(220, 520), (320, 560), (400, 540)]),
    (8, [(30, 625), (160, 620), (300, 610)]),
    (7, [(280, 467), (340, 468), (410, 440)]),
]
