"""A picture in linear light, the object's coverage beside it, and the camera at the end."""

from math import sqrt

from .noise import bell


def srgb(text):
    """'#a07040' as linear light. The display curve is the square root, close to sRGB and exact everywhere."""
    levels = (int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return tuple(v * v for v in levels)


class Canvas:
    def __init__(self, width, height, background):
        """`background(x, y)` gives the linear colour at a pixel's centre."""
        self.width, self.height = width, height
        self.pixels = [background(x + 0.5, y + 0.5) for y in range(height) for x in range(width)]
        self.cover = [0.0] * (width * height)

    def paint(self, box, distance, shade, cover=True):
        """Paints where `distance(x, y)` is negative, with an anti-aliased edge; `shade(x, y, d)` gives the colour.
        With `cover` the pixels become part of the object, without it of the background."""
        x0, y0 = max(0, int(box[0])), max(0, int(box[1]))
        x1, y1 = min(self.width, int(box[2]) + 1), min(self.height, int(box[3]) + 1)
        for y in range(y0, y1):
            for x in range(x0, x1):
                d = distance(x + 0.5, y + 0.5)
                if d >= 0.5:
                    continue
                a = min(1.0, 0.5 - d)
                i = y * self.width + x
                colour = shade(x + 0.5, y + 0.5, d)
                self.pixels[i] = colour if a == 1.0 else _blend(self.pixels[i], colour, a)
                if cover:
                    self.cover[i] = max(self.cover[i], a)
                else:
                    self.cover[i] *= 1.0 - a

    def shadow(self, matte, dx, dy, radius, strength):
        """Darkens the picture under a blurred and shifted matte: call it before the object itself is painted."""
        soft = blur(matte, self.width, self.height, radius)
        for y in range(self.height):
            for x in range(self.width):
                u, v = x - dx, y - dy
                if 0 <= u < self.width and 0 <= v < self.height:
                    k = 1.0 - strength * soft[v * self.width + u]
                    i = y * self.width + x
                    self.pixels[i] = tuple(p * k for p in self.pixels[i])

    def map(self, change):
        """Every pixel through `change(x, y, colour)`."""
        for i, colour in enumerate(self.pixels):
            self.pixels[i] = change(i % self.width + 0.5, i // self.width + 0.5, colour)

    def blur(self, radius):
        """The whole picture out of focus."""
        planes = [blur([p[c] for p in self.pixels], self.width, self.height, radius) for c in range(3)]
        self.pixels = list(zip(*planes))

    def photo(self, seed, softness=0.4, grain=1.7):
        """8-bit RGB as a camera would give it: the display curve, a soft lens, sensor noise that grows in the dark."""
        w, h = self.width, self.height
        planes = []
        for c in range(3):
            plane = [sqrt(min(1.0, max(0.0, p[c]))) for p in self.pixels]
            tent = _tent(plane, w, h)
            planes.append([p + (t - p) * softness for p, t in zip(plane, tent)])
        out = bytearray()
        for i in range(w * h):
            luma = bell(seed, 4 * i)
            for c in range(3):
                v = planes[c][i]
                noise = grain * (1.25 - 0.6 * v) * (0.7 * luma + 0.7 * bell(seed, 4 * i + 1 + c))
                out.append(min(255, max(0, int(255.0 * v + noise + 0.5))))
        return bytes(out)

    def truth(self):
        """255 where at least half of the pixel is object, else 0."""
        return bytes(255 if c >= 0.5 else 0 for c in self.cover)


def _blend(below, above, a):
    """The colour of a pixel covered to the share `a`, mixed on the display curve: half covered looks half way, so that the
    edge a viewer sees is the edge of the truth. In linear light, bright grounds would eat into dark objects."""
    roots = ((sqrt(max(0.0, p)), sqrt(max(0.0, q))) for p, q in zip(below, above))
    return tuple((p + (q - p) * a) * (p + (q - p) * a) for p, q in roots)


def strokes(width, height, foreground, background):
    """Brush strokes: each is (brush width, [(x, y), ...]). 255 foreground, 128 background, 0 nothing."""
    out = bytearray(width * height)
    for label, group in ((128, background), (255, foreground)):
        for brush, points in group:
            r = brush / 2.0
            points = by_hand(points)
            for a, b in zip(points, points[1:]):
                reach = capsule(a, b, r, r)
                for y in range(max(0, int(min(a[1], b[1]) - r)), min(height, int(max(a[1], b[1]) + r) + 1)):
                    for x in range(max(0, int(min(a[0], b[0]) - r)), min(width, int(max(a[0], b[0]) + r) + 1)):
                        if reach(x + 0.5, y + 0.5) <= 0.0:
                            out[y * width + x] = label
    return bytes(out)


def by_hand(points):
    """The path a hand takes past the points: arcs between the middles of the lines, no corners."""
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(points, points[1:])]
    path = [points[0]]
    for before, corner, after in zip(middles, points[1:], middles[1:]):
        path += curve(before, corner, after, 8)
    return path + [points[-1]]


def ellipse(cx, cy, a, b, ux=1.0, uy=0.0):
    """Signed distance (nearly) to an ellipse with half-axes a along (ux, uy) and b across."""

    def distance(x, y):
        x, y = x - cx, y - cy
        u, v = (x * ux + y * uy) / a, (y * ux - x * uy) / b
        k = sqrt(u * u + v * v)
        g = sqrt(u * u / (a * a) + v * v / (b * b))
        return k * (k - 1.0) / g if g > 0.0 else -min(a, b)

    return distance


def capsule(p, q, rp, rq):
    """Signed distance to a line with round ends whose radius runs from rp to rq."""
    (px, py), (qx, qy) = p, q
    dx, dy = qx - px, qy - py
    length = dx * dx + dy * dy or 1e-9

    def distance(x, y):
        t = ((x - px) * dx + (y - py) * dy) / length
        t = 0.0 if t < 0.0 else 1.0 if t > 1.0 else t
        ex, ey = x - px - t * dx, y - py - t * dy
        return sqrt(ex * ex + ey * ey) - (rp + (rq - rp) * t)

    return distance


def polygon(points):
    """Signed distance to a closed polygon."""
    edges = list(zip(points, points[1:] + points[:1]))

    def distance(x, y):
        best, inside = 1e18, False
        for (ax, ay), (bx, by) in edges:
            dx, dy = bx - ax, by - ay
            t = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)
            t = 0.0 if t < 0.0 else 1.0 if t > 1.0 else t
            ex, ey = x - ax - t * dx, y - ay - t * dy
            best = min(best, ex * ex + ey * ey)
            if (ay > y) != (by > y) and x < ax + (y - ay) * dx / dy:
                inside = not inside
        return -sqrt(best) if inside else sqrt(best)

    return distance


def curve(p0, p1, p2, steps):
    """Points of a quadratic Bézier arc."""
    points = []
    for k in range(steps + 1):
        t = k / steps
        a, b, c = (1 - t) * (1 - t), 2 * t * (1 - t), t * t
        points.append((a * p0[0] + b * p1[0] + c * p2[0], a * p0[1] + b * p1[1] + c * p2[1]))
    return points


def tube(canvas, points, radii, shade, cover=True):
    """A round rod along a polyline. `shade(x, y, nx, ny, nz, along)` sees the surface normal and the distance along."""
    along = 0.0
    for (p, q), (rp, rq) in zip(zip(points, points[1:]), zip(radii, radii[1:])):
        dx, dy = q[0] - p[0], q[1] - p[1]
        length = sqrt(dx * dx + dy * dy) or 1e-9
        dx, dy = dx / length, dy / length
        r = max(rp, rq)

        def coat(x, y, _, p=p, dx=dx, dy=dy, length=length, rp=rp, rq=rq, along=along):
            t = min(1.0, max(0.0, ((x - p[0]) * dx + (y - p[1]) * dy) / length))
            across = (y - p[1]) * dx - (x - p[0]) * dy
            n = min(1.0, max(-1.0, across / (rp + (rq - rp) * t)))
            return shade(x, y, -dy * n, dx * n, sqrt(1.0 - n * n), along + t * length)

        box = (min(p[0], q[0]) - r - 1, min(p[1], q[1]) - r - 1, max(p[0], q[0]) + r + 1, max(p[1], q[1]) + r + 1)
        canvas.paint(box, capsule(p, q, rp, rq), coat, cover)
        along += length


def blur(plane, width, height, radius):
    """Three box blurs, close to a Gaussian of deviation `radius`."""
    for _ in range(3):
        plane = _box(plane, width, height, radius)
        plane = [plane[y * width + x] for x in range(width) for y in range(height)]
        plane = _box(plane, height, width, radius)
        plane = [plane[x * height + y] for y in range(height) for x in range(width)]
    return plane


def _box(plane, width, height, radius):
    """Mean over 2·radius + 1 pixels of each row, the ends repeated."""
    out, share = [], 1.0 / (2 * radius + 1)
    for y in range(height):
        row = plane[y * width : (y + 1) * width]
        row = [row[0]] * (radius + 1) + row + [row[-1]] * radius
        total = 0.0
        for v in row[: 2 * radius + 1]:  # not sum(): Python 3.12 rounds it differently
            total += v
        for x in range(width):
            total += row[x + 2 * radius + 1] - row[x]
            out.append(total * share)
    return out


def _tent(plane, width, height):
    """The 3×3 tent filter (1 2 1)/4 in both directions."""
    rows = []
    for y in range(height):
        row = plane[y * width : (y + 1) * width]
        rows.append([(a + 2.0 * b + c) * 0.25 for a, b, c in zip(row[:1] + row[:-1], row, row[1:] + row[-1:])])
    out = []
    for y in range(height):
        above, here, below = rows[max(0, y - 1)], rows[y], rows[min(height - 1, y + 1)]
        out += [(a + 2.0 * b + c) * 0.25 for a, b, c in zip(above, here, below)]
    return out
