//! The string pulled taut, by a funnel: the twin of the dynamic programme.
//!
//! With S the running sums of z, the running sums P of x satisfy |S − P| ≤ w at every edge and P = S at both ends: P is the shortest
//! path through a tube, and x its slopes. The funnel holds all shortest paths from the last corner that is certain: above it the
//! greatest convex minorant of the tube's upper side, below it the least concave majorant of the lower. A new point is added to both; when
//! one side crosses the other, the other's first corner is certain and becomes the new tip. Every point enters and leaves each side at
//! most once: O(n) whatever the data (Davies & Kovac 2001, here with a width per edge).
//!
//! Values of pieces are recomputed from z when a piece is closed, so long sums cost no precision.

/// Memory reused between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    upper: Side,
    lower: Side,
}

/// One side of the funnel: corners from the tip outwards, each with the slope that leads to it.
#[derive(Debug, Default)]
struct Side {
    corners: Vec<Corner>,
    /// Corners before this one have become tips.
    first: usize,
}

#[derive(Clone, Copy, Debug)]
struct Corner {
    at: usize,
    height: f64,
    slope: f64,
}

impl Side {
    fn clear(&mut self) {
        self.corners.clear();
        self.first = 0;
    }

    fn front(&self) -> Option<&Corner> {
        self.corners.get(self.first)
    }
}

/// Writes the solution for `z` and the edge weights `w` (one fewer than `z`) into `x`.
pub fn solve(z: &[f64], w: &[f64], x: &mut [f64], scratch: &mut Scratch) {
    let n = z.len();
    assert_eq!(x.len(), n, "one result per element");
    assert_eq!(w.len() + 1, n.max(1), "one weight per edge");
    let Scratch { upper, lower } = scratch;
    upper.clear();
    lower.clear();
    let mut string = String { z, x, at: 0, height: 0.0, flow: 0.0 };
    let mut sum = 0.0;
    for (i, &value) in z.iter().enumerate() {
        sum += value;
        let width = w.get(i).copied().unwrap_or(0.0);
        // Mirrored heights turn the lower side into an upper one.
        extend::<false>(&mut string, upper, lower, i + 1, sum + width, w);
        extend::<true>(&mut string, lower, upper, i + 1, sum - width, w);
    }
    // The last point is on both sides; what is left of the upper one leads to it.
    for corner in &upper.corners[upper.first..] {
        string.pull::<false>(corner, w);
    }
}

/// Adds the point (`at`, `height`) to `side`; `LOWER` says which one that is. Where it cuts the corners of the `other` side off, those
/// become tips of the funnel.
#[inline(always)]
fn extend<const LOWER: bool>(
    string: &mut String<'_>,
    side: &mut Side,
    other: &mut Side,
    at: usize,
    height: f64,
    w: &[f64],
) {
    let below = |a: f64, b: f64| if LOWER { a > b } else { a < b };
    while side.corners.len() > side.first {
        let last = side.corners[side.corners.len() - 1];
        if below(last.slope * (at - last.at) as f64, height - last.height) {
            break;
        }
        side.corners.pop();
    }
    let slope = match side.corners[side.first..].last() {
        Some(last) => (height - last.height) / (at - last.at) as f64,
        None => loop {
            let slope = (height - string.height) / (at - string.at) as f64;
            match other.front() {
                Some(corner) if corner.at < at && below(slope, corner.slope) => {
                    if LOWER {
                        string.pull::<false>(corner, w);
                    } else {
                        string.pull::<true>(corner, w);
                    }
                    other.first += 1;
                }
                _ => break slope,
            }
        },
    };
    side.corners.push(Corner { at, height, slope });
}

/// The part of the string that is certain, up to its tip.
struct String<'a> {
    z: &'a [f64],
    x: &'a mut [f64],
    at: usize,
    height: f64,
    /// S − P at the tip.
    flow: f64,
}

impl String<'_> {
    /// Pulls the string straight to a corner on the lower or upper side: one piece of x, the mean of what flows in, stands in it, and
    /// flows out.
    fn pull<const LOWER: bool>(&mut self, corner: &Corner, w: &[f64]) {
        let width = w.get(corner.at - 1).copied().unwrap_or(0.0);
        let outflow = if LOWER { width } else { -width };
        let piece = self.at..corner.at;
        let sum: f64 = self.z[piece.clone()].iter().sum();
        let value = (sum + (self.flow - outflow)) / piece.len() as f64;
        self.x[piece].fill(value);
        (self.at, self.height, self.flow) = (corner.at, corner.height, outflow);
    }
}
