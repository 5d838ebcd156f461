//! Weighted one-dimensional total variation, solved exactly:
//!
//! x = argmin ½ Σ (xᵢ − zᵢ)² + Σ wᵢ |xᵢ − xᵢ₊₁|,  wᵢ ≥ 0.
//!
//! After element i, the derivative of the least cost of z₁…zᵢ as a function of xᵢ is a non-decreasing piecewise-linear function,
//! clipped to [−wᵢ, wᵢ]. It is kept as a double-ended queue of its knots; each step cuts both ends and adds one knot to each, so the cost
//! is O(n) whatever the data (Johnson 2013; Kolmogorov, Pock & Rolínek 2016).
//!
//! Measured on the rows of photos against two taut strings: [`taut_string`], the funnel, which stays as the test twin, needs a fifth
//! more instructions and up to twice the time; Condat's scan (2013) restarts more and more often as the weights grow.

pub mod again;
pub mod taut_string;

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
    /// A part of a chain with the flows at its ends, and the parts that want it: see [`again`].
    part: Vec<f64>,
    faults: Vec<std::ops::Range<usize>>,
}

/// Writes the solution for `z` and the edge weights `w` (one fewer than `z`) into `x`.
pub fn solve(z: &[f64], w: &[f64], x: &mut [f64], scratch: &mut Scratch) {
    let n = z.len();
    assert_eq!(x.len(), n, "one result per element");
    assert_eq!(w.len() + 1, n.max(1), "one weight per edge");
    let Some((&z_last, z)) = z.split_last() else { return };
    let Scratch { knots, bounds, .. } = scratch;
    bounds.clear();
    // Room to grow by one at either end in every step; what an earlier call left there is never read.
    if knots.len() < 2 * n {
        knots.resize(2 * n, Knot::default());
    }
    let (mut first, mut end) = (n, n);
    // Left of the first knot the derivative is −w of the edge before, right of the last knot +w.
    let mut clip = 0.0;
    let most = largest_flow(z, z_last);
    bounds.extend(z.iter().zip(w).map(|(&z, &w)| {
        // No flow can reach more than `most`, so a larger weight is the same weight, without its rounding errors.
        let w = f64::min(w, most);
        // Adding ½(x − z)² adds x − z everywhere. From the left: find where the sum reaches −w …
        let (mut slope, mut offset) = (1.0, -clip - z);
        while first < end && slope * knots[first].at + offset < -w {
            slope += knots[first].slope;
            offset += knots[first].offset;
            first += 1;
        }
        let lower = (-w - offset) / slope;
        let enter = Knot { at: lower, slope, offset: offset + w };
        // … and from the right where it falls to +w.
        let (mut slope, mut offset) = (1.0, clip - z);
        while first < end && slope * knots[end - 1].at + offset > w {
            end -= 1;
            slope -= knots[end].slope;
            offset -= knots[end].offset;
        }
        let upper = f64::max((w - offset) / slope, lower);
        if w > 0.0 {
            first -= 1;
            knots[first] = enter;
            knots[end] = Knot { at: upper, slope: -slope, offset: w - offset };
            end += 1;
        } else {
            // Nothing passes an edge without weight, not even rounding errors.
            (first, end) = (n, n);
        }
        clip = w;
        (lower, upper)
    }));
    let (mut slope, mut offset) = (1.0, -clip - z_last);
    while first < end && slope * knots[first].at + offset < 0.0 {
        slope += knots[first].slope;
        offset += knots[first].offset;
        first += 1;
    }
    let mut value = -offset / slope;
    x[n - 1] = value;
    for (x, &(lower, upper)) in x[..n - 1].iter_mut().zip(bounds.iter()).rev() {
        value = value.clamp(lower, upper);
        *x = value;
    }
}

/// x stays within the range of z, so the flow Σ (z − x) over any part of the chain is at most length times range.
fn largest_flow(z: &[f64], z_last: f64) -> f64 {
    let (low, high) = z.iter().fold((z_last, z_last), |(low, high), &z| (low.min(z), high.max(z)));
    (z.len() + 1) as f64 * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taut(z: &[f64], w: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        taut_string::solve(z, w, &mut x, &mut Default::default());
        x
    }

    pub(super) fn dynamic(z: &[f64], w: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        solve(z, w, &mut x, &mut Scratch::default());
        x
    }

    /// The largest violation of the optimality conditions of the module comment: an independent judge of any solution.
    pub(super) fn violation(z: &[f64], w: &[f64], x: &[f64]) -> f64 {
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

    pub(super) fn chains() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
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
        #![proptest_config(crate::cases(2000))]

        #[test]
        fn both_methods_meet_the_optimality_conditions((z, w) in chains()) {
            // Rounding grows with the flows there can be, not with the weights: `kind` 4 has weights from 1e-12 to 1e12.
            prop_assert!(violation(&z, &w, &dynamic(&z, &w)) < 1e-10);
            let scale = 1.0 + w.iter().fold(0.0_f64, |a, &b| a.max(b)).min(1e3);
            prop_assert!(violation(&z, &w, &taut(&z, &w)) < 1e-11 * scale);
        }
    }

    #[test]
    fn without_weights_every_value_keeps_its_own_bits() {
        let z = [1.3504032806227455, -2.6512745991361104, 0.0, 2.338050421831516, 0.1, 0.0, -1.1572482503637722, 0.0];
        assert_eq!(dynamic(&z, &[0.0; 7]), z);
        // Nor does what lies beyond such an edge leave a trace.
        assert_eq!(dynamic(&z, &[0.7, 0.3, 0.0, 0.2, 0.0, 0.0, 0.0])[5..], z[5..]);
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
