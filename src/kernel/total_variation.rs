//! Weighted one-dimensional total variation, solved exactly:
//!
//! x = argmin ½ Σ (xᵢ − zᵢ)² + Σ wᵢ |xᵢ − xᵢ₊₁|,  wᵢ ≥ 0.
//!
//! The solution is a string pulled taut. With S the running sums of z, the running sums P of x satisfy |S − P| ≤ w at every edge and
//! P = S at both ends: P is the shortest path through a tube, and x its slopes. [`solve`] keeps the funnel of all shortest paths from the
//! last corner that is certain: above it the greatest convex minorant of the tube's upper side, below it the least concave majorant of the
//! lower. A new point is added to both; when one side crosses the other, the other's first corner is certain and becomes the new tip. Every
//! point enters and leaves each side at most once: O(n) whatever the data (Davies & Kovac 2001, here with a width per edge).
//!
//! Measured on photos against Condat's scan (which restarts more and more often as weights grow) and the dynamic programme on derivatives
//! of messages (Johnson 2013), which stays as [`dynamic`], the test twin.
//!
//! Values of pieces are recomputed from z when a piece is closed, so huge weights cost no precision.

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

pub mod dynamic {
    //! The dynamic programme, the twin of the taut string: after element i, the derivative of the best cost of z₁…zᵢ as a function of xᵢ is a
    //! non-decreasing piecewise-linear function, clipped to [−wᵢ, wᵢ]. It is kept as a double-ended queue of its knots; each
    //! step cuts both ends and adds one knot to each, so the cost is O(n) whatever the data.

    /// A knot: right of `at`, the derivative gains `slope · x + offset`.
    #[derive(Clone, Copy, Debug, Default)]
    struct Knot {
        at: f64,
        slope: f64,
        offset: f64,
    }

    /// Memory reused between calls.
    #[derive(Debug, Default)]
    pub struct Scratch {
        knots: Vec<Knot>,
        /// xᵢ lies in [lower, upper] = where the unclipped derivative crosses −wᵢ and wᵢ.
        bounds: Vec<(f64, f64)>,
    }

    /// Writes the solution for `z` and the edge weights `w` into `x`.
    pub fn solve(z: &[f64], w: &[f64], x: &mut [f64], scratch: &mut Scratch) {
        let n = z.len();
        let Scratch { knots, bounds } = scratch;
        bounds.clear();
        knots.clear();
        // Room to grow by one at either end in every step.
        knots.resize(2 * n + 2, Knot::default());
        let (mut first, mut end) = (n + 1, n + 1);
        // Left of the first knot the derivative is −w of the edge before, right of the last knot +w.
        let (mut left, mut right) = (0.0, 0.0);
        for i in 0..n - 1 {
            // Adding ½(x − zᵢ)² adds x − zᵢ everywhere. From the left: find where the sum reaches −wᵢ …
            let (mut slope, mut offset) = (1.0, left - z[i]);
            while first < end && slope * knots[first].at + offset < -w[i] {
                slope += knots[first].slope;
                offset += knots[first].offset;
                first += 1;
            }
            let lower = (-w[i] - offset) / slope;
            let enter = Knot { at: lower, slope, offset: offset + w[i] };
            // … and from the right where it falls to +wᵢ.
            let (mut slope, mut offset) = (1.0, right - z[i]);
            while first < end && slope * knots[end - 1].at + offset > w[i] {
                end -= 1;
                slope -= knots[end].slope;
                offset -= knots[end].offset;
            }
            let upper = ((w[i] - offset) / slope).max(lower);
            first -= 1;
            knots[first] = enter;
            knots[end] = Knot { at: upper, slope: -slope, offset: w[i] - offset };
            end += 1;
            (left, right) = (-w[i], w[i]);
            bounds.push((lower, upper));
        }
        let (mut slope, mut offset) = (1.0, left - z[n - 1]);
        while first < end && slope * knots[first].at + offset < 0.0 {
            slope += knots[first].slope;
            offset += knots[first].offset;
            first += 1;
        }
        x[n - 1] = -offset / slope;
        for i in (0..n - 1).rev() {
            x[i] = x[i + 1].clamp(bounds[i].0, bounds[i].1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taut(z: &[f64], w: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        solve(z, w, &mut x, &mut Scratch::default());
        x
    }

    fn dynamic(z: &[f64], w: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        super::dynamic::solve(z, w, &mut x, &mut Default::default());
        x
    }

    /// The largest violation of the optimality conditions of the module comment: an independent judge of any solution.
    fn violation(z: &[f64], w: &[f64], x: &[f64]) -> f64 {
        let mut u = 0.0;
        let mut worst: f64 = 0.0;
        for i in 0..z.len() {
            u += z[i] - x[i];
            match w.get(i) {
                None => worst = worst.max(u.abs()),
                Some(&w) => {
                    worst = worst.max(u.abs() - w);
                    let jump = x[i] - x[i + 1];
                    // Complementary slackness: a jump down saturates the edge at +w, a jump up at −w.
                    worst = worst.max((w * jump.abs() - u * jump).min(jump.abs()));
                }
            }
        }
        worst
    }

    fn chains() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        (1..60_usize, 0..5_u8).prop_flat_map(|(n, kind)| {
            let z = prop::collection::vec(-4.0..4.0_f64, n).prop_map(move |mut z| {
                if kind == 1 {
                    z.iter_mut().for_each(|z| *z = z.round());
                }
                z
            });
            let w = prop::collection::vec(0.0..1.0_f64, n - 1).prop_map(move |w| {
                w.into_iter()
                    .map(|w| match kind {
                        0 => w,
                        1 => (3.0 * w).round(),
                        2 => 10.0 * w,
                        3 => {
                            if w < 0.3 {
                                0.0
                            } else {
                                2.0 * w
                            }
                        }
                        _ => 10_f64.powf(24.0 * w - 12.0),
                    })
                    .collect()
            });
            (z, w)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn both_methods_meet_the_optimality_conditions((z, w) in chains()) {
            let scale = 1.0 + w.iter().fold(0.0_f64, |a, &b| a.max(b)).min(1e3);
            prop_assert!(violation(&z, &w, &taut(&z, &w)) < 1e-11 * scale);
            // The twin keeps its flows inside knots, where a huge weight swallows small ones.
            if w.iter().all(|&w| w < 1e3) {
                prop_assert!(violation(&z, &w, &dynamic(&z, &w)) < 1e-11 * scale);
            }
        }
    }

    #[test]
    fn both_methods_agree_on_a_long_staircase() {
        // A ramp inside a narrow tube: the worst case of methods that restart.
        let n = 20_000;
        let z: Vec<f64> = (0..n).map(|i| (i as f64 / n as f64).powi(2) * 1e-3).collect();
        let w: Vec<f64> = vec![1e-2; n - 1];
        for (a, b) in taut(&z, &w).iter().zip(dynamic(&z, &w)) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
