"""A ground beetle on weathered, mossy wood: thin legs and antennae, a dark body among dark cracks, a soft shadow."""

from math import sqrt

from .canvas import Canvas, curve, ellipse, srgb, tube
from .noise import cells, fractal, mix, smooth, value, wave

WIDTH, HEIGHT = 640, 427
CENTRE = (318.0, 212.0)
AXIS = (0.891, -0.454)  # from tail to head
LIGHT = (-0.48, -0.60, 0.64)


def place(u, v):
    """Body coordinates (u towards the head, v to the beetle's right) to pixels."""
    return CENTRE[0] + u * AXIS[0] - v * AXIS[1], CENTRE[1] + u * AXIS[1] + v * AXIS[0]


def wood(x, y):
    # Fibres run along a gently bending direction.
    bend = 26.0 * (fractal(x / 240.0, y / 240.0, 2, 3) - 0.5)
    along, across = x * 0.978 + y * 0.208, y * 0.978 - x * 0.208 + bend
    ring = fractal(along / 190.0, across / 15.0, 4, 11)
    fibre = fractal(along / 34.0, across / 2.6, 3, 23)
    colour = mix(srgb("#7d6349"), srgb("#c7ad8f"), smooth(0.25, 0.75, ring))
    colour = tuple(c * (0.72 + 0.56 * fibre) for c in colour)
    # Cracks: thin dark valleys that follow the grain.
    valley = abs(fractal(along / 420.0, across / 24.0, 3, 37) - 0.5)
    width = 0.050 * value(along / 70.0, across / 30.0, 41) - 0.016
    crack = smooth(width, 0.3 * width, valley) if width > 0.0 else 0.0
    colour = mix(colour, srgb("#33271c"), 0.85 * crack)
    # Moss in patches, darker in its hollows.
    patch = fractal(x / 105.0, y / 85.0, 4, 53)
    wx, wy = x + 5.0 * value(x / 7.0, y / 7.0, 57), y + 5.0 * value(x / 7.0, y / 7.0, 59)
    tuft = cells(wx / 5.5, wy / 5.5, 5)[0] + 0.5 * (fractal(x / 3.0, y / 3.0, 2, 67) - 0.5)
    green = mix(srgb("#6f7b30"), srgb("#2b3a17"), smooth(0.1, 0.9, tuft))
    green = tuple(c * (0.35 + 1.3 * fractal(x / 26.0, y / 26.0, 3, 61)) for c in green)
    colour = mix(colour, green, smooth(0.535, 0.60, patch + 0.10 * (fibre - 0.5)))
    # Lamp-like daylight from the upper left.
    light = 1.12 - 0.00062 * x - 0.00050 * y + 0.18 * (fractal(x / 260.0, y / 260.0, 2, 71) - 0.5)
    return tuple(c * light for c in colour)


def lit(colour, gloss, nx, ny, nz, shine=28):
    """A glossy coat under one lamp and a pale sky."""
    diffuse = max(0.0, nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2])
    hx, hy, hz = LIGHT[0], LIGHT[1], LIGHT[2] + 1.0
    half = sqrt(hx * hx + hy * hy + hz * hz)
    spark = max(0.0, (nx * hx + ny * hy + nz * hz) / half)
    power = spark
    for _ in range(5):
        power *= power
    sheen = spark * spark * spark * spark
    sheen *= sheen
    return tuple(
        c * (0.16 + 0.95 * diffuse) + gloss * (1.1 * power + 0.10 * sheen) * k for c, k in zip(colour, (1.0, 0.98, 0.92))
    )


def limb(x, y, nx, ny, nz, along):
    grain = 0.8 + 0.4 * value(x / 2.5, y / 2.5, 83)
    colour = tuple(c * grain for c in srgb("#3a2418"))
    return lit(colour, 0.16, nx, ny, nz)


# Body joint, knee, ankle, tip; the right side (v > 0) mirrors with small changes, as a walking beetle does.
LEGS = [
    [(78, 34), (104, 92), (150, 118), (176, 142)],
    [(30, 46), (20, 112), (-22, 158), (-30, 190)],
    [(-18, 46), (-72, 102), (-128, 122), (-168, 150)],
    [(82, -34), (122, -84), (166, -92), (196, -112)],
    [(34, -46), (44, -112), (16, -160), (22, -190)],
    [(-18, -46), (-58, -108), (-118, -136), (-150, -172)],
]
ANTENNAE = [[(146, 14), (186, 26), (214, 76)], [(146, -14), (192, -14), (236, -58)]]


def legs(canvas, shade):
    for leg in LEGS:
        hip, knee, ankle, tip = (place(*point) for point in leg)
        bow = ((hip[0] + knee[0]) / 2 + 3, (hip[1] + knee[1]) / 2 - 4)
        tube(canvas, curve(hip, bow, knee, 6), [6.0, 6.8, 7.2, 7.0, 6.4, 5.6, 4.8], shade)
        tube(canvas, [knee, ankle], [4.2, 3.1], shade)
        foot = curve(ankle, ((ankle[0] + tip[0]) / 2 + 4, (ankle[1] + tip[1]) / 2), tip, 5)
        for a, b in zip(foot, foot[1:]):
            tube(canvas, [a, b], [2.7, 2.0], shade)
        # Spines on the shin.
        for t in (0.35, 0.6, 0.85):
            x, y = knee[0] + (ankle[0] - knee[0]) * t, knee[1] + (ankle[1] - knee[1]) * t
            dx, dy = ankle[0] - knee[0], ankle[1] - knee[1]
            n = 7.0 / sqrt(dx * dx + dy * dy)
            tube(canvas, [(x, y), (x + (dx + dy) * n, y + (dy - dx) * n)], [1.5, 0.9], shade)
    for antenna in ANTENNAE:
        points = curve(*(place(*point) for point in antenna), 11)
        for k, (a, b) in enumerate(zip(points, points[1:])):
            tube(canvas, [a, b], [2.0, 2.8 if k > 7 else 2.4], shade)


def oval(u0, v0, a, b):
    """A body segment: its signed distance and its box in pixels."""
    cx, cy = place(u0, v0)
    r = max(a, b) + 2
    return ellipse(cx, cy, a, b, *AXIS), (cx - r, cy - r, cx + r, cy + r)


def dome(u0, v0, a, b, colour, gloss):
    """Shades a segment as the half ellipsoid over it; `colour(u, v)` in body coordinates from the segment's centre."""
    cx, cy = place(u0, v0)

    def shade(x, y, _):
        x, y = x - cx, y - cy
        u, v = x * AXIS[0] + y * AXIS[1], y * AXIS[0] - x * AXIS[1]
        p, q = u / a, v / b
        p, q = 0.90 * p, 0.94 * q
        n = sqrt(max(0.0, 1.0 - p * p - q * q))
        tint, slope = colour(u, v)
        q += slope
        size = sqrt(p * p + q * q + n * n)
        p, q, n = p / size, q / size, n / size
        return lit(tint, gloss, p * AXIS[0] - q * AXIS[1], p * AXIS[1] + q * AXIS[0], n)

    return shade


def wing(u, v):
    """Elytra: ribbed, green along the back and copper towards the rim, parted by the seam."""
    width = sqrt(max(0.02, 1.0 - (u / 96.0) * (u / 96.0)))
    rib = 8.2 * v / (60.0 * width)
    groove = wave(rib)
    tint = mix(srgb("#2c4a2e"), srgb("#6d4326"), smooth(0.25, 0.95, abs(v) / (60.0 * width)))
    tint = tuple(c * (0.86 + 0.16 * groove) * (0.85 + 0.3 * value(u / 6.0, v / 3.0, 97)) for c in tint)
    seam = smooth(1.9, 0.6, abs(v))
    return mix(tint, srgb("#0b0a08"), 0.9 * seam), 0.07 * wave(rib + 0.25)


def shield(u, v):
    tint = mix(srgb("#34452c"), srgb("#6a4428"), smooth(14.0, 44.0, abs(v)))
    pits = 0.75 + 0.5 * value(u / 2.4, v / 2.4, 103)
    return mix(tuple(c * pits for c in tint), srgb("#0b0a08"), 0.7 * smooth(1.6, 0.3, abs(v))), 0.0


def head(u, v):
    pits = 0.7 + 0.6 * value(u / 2.2, v / 2.2, 109)
    return tuple(c * pits for c in srgb("#3a3222")), 0.0


def eye(u, v):
    return srgb("#15110e"), 0.0


def jaw(x, y, nx, ny, nz, along):
    return lit(srgb("#2b1c12"), 0.5, nx, ny, nz)


def beetle(canvas):
    legs(canvas, limb)
    for side in (1, -1):
        tube(canvas, curve(place(148, 9 * side), place(172, 17 * side), place(176, 2 * side), 6),
             [4.2, 4.4, 4.0, 3.4, 2.8, 2.0, 1.2], jaw)
    for (u, v, a, b), colour, gloss in (
        ((136, 0, 22, 23), head, 0.35),
        ((143, 19, 6, 5), eye, 0.9),
        ((143, -19, 6, 5), eye, 0.9),
        ((92, 0, 33, 45), shield, 0.5),
        ((-22, 0, 98, 62), wing, 0.62),
    ):
        outline, box = oval(u, v, a, b)
        canvas.paint(box, outline, dome(u, v, a, b, colour, gloss))


def draw():
    matte = Canvas(WIDTH, HEIGHT, lambda x, y: (0.0, 0.0, 0.0))
    legs(matte, lambda *_: (1.0, 1.0, 1.0))
    thin = matte.cover
    body = Canvas(WIDTH, HEIGHT, lambda x, y: (0.0, 0.0, 0.0))
    for segment in ((136, 0, 22, 23), (92, 0, 33, 45), (-22, 0, 98, 62)):
        outline, box = oval(*segment)
        body.paint(box, outline, lambda *_: (1.0, 1.0, 1.0))
    canvas = Canvas(WIDTH, HEIGHT, wood)
    canvas.shadow(thin, 7, 10, 3, 0.40)
    canvas.shadow(body.cover, 14, 19, 8, 0.58)
    beetle(canvas)
    return canvas


def thigh(leg, start=0.35, end=0.9):
    """A stroke along the thick part of a leg."""
    (u0, v0), (u1, v1) = leg[:2]
    a, b = (place(u0 + (u1 - u0) * t, v0 + (v1 - v0) * t) for t in (start, end))
    return 5, [(a[0] + 1.5, a[1] - 2.0), ((a[0] + b[0]) / 2 + 1.5, (a[1] + b[1]) / 2 - 2.0), b]


FOREGROUND = [
    (8, [place(-100, -4), place(-40, -22), place(20, -26), place(60, -14)]),
    (8, [place(-90, 22), place(-30, 46), place(40, 30)]),
    (7, [place(-60, -40), place(-20, -52), place(30, -44)]),
    (7, [place(84, -26), place(96, 4), place(84, 30)]),
    (6, [place(130, -10), place(142, 8)]),
    *(thigh(leg) for leg in LEGS),
]
BACKGROUND = [
    (8, [(30, 40), (120, 28), (210, 60)]),
    (8, [(24, 150), (70, 230), (40, 330)]),
    (8, [(100, 330), (150, 395), (215, 400)]),
    (8, [(600, 60), (612, 190), (580, 330), (520, 400)]),
    (7, [(330, 30), (345, 74), (350, 110)]),
    (7, [(500, 300), (430, 290), (412, 330)]),
    (7, [(300, 395), (330, 372), (338, 330)]),
    (7, [(220, 120), (180, 110), (190, 80)]),
    (7, [(170, 200), (150, 260), (200, 310), (270, 330)]),
    (7, [(480, 215), (520, 200), (560, 215)]),
    (6, [(440, 60), (465, 80)]),
]
