//! Weighted one-dimensional total variation, solved exactly:
//!
//! x = argmin ½ Σ (xᵢ − zᵢ)² + Σ wᵢ |xᵢ − xᵢ₊₁|,  wᵢ ≥ 0.
//!
//! The solution is a string pulled taut: with the flow uᵢ = Σ_{j ≤ i} (zⱼ − xⱼ), optimality is |uᵢ| ≤ wᵢ everywhere, uᵢ = ±wᵢ
//! where x jumps (+ where it jumps down), and uₙ = 0. `scan` walks along z and keeps the interval [low, high] of values
//! that one constant piece may still take; when the next tube would leave it empty, the piece ends where the interval was last
//! tightened from the violated side, and the walk restarts there (Condat 2013, here with a weight per edge). This is the
//! fastest method measured on photo-like chains, but restarts can make it quadratic, so it carries a budget and hands the
//! rest of an unlucky chain to [`dynamic`], the O(n) dynamic programme on derivatives of messages (Johnson 2013).
//!
//! Values of pieces are recomputed from z when a piece is closed, so huge weights cost no precision.

/// Memory reused between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    dynamic: dynamic::Scratch,
}

/// Steps the scan may take per element before it hands over: the worst seen on photos is below 6.
const STEPS_PER_ELEMENT: usize = 16;

/// Writes the solution for `z` and the edge weights `w` (one fewer than `z`) into `x`.
pub fn solve(z: &[f64], w: &[f64], x: &mut [f64], scratch: &mut Scratch) {
    let n = z.len();
    assert_eq!(x.len(), n, "one result per element");
    assert_eq!(w.len() + 1, n.max(1), "one weight per edge");
    if n == 0 {
        return;
    }
    let (done, inflow) = scan(z, w, x, STEPS_PER_ELEMENT * n);
    if done < n {
        dynamic::solve(&z[done..], inflow, &w[done..], &mut x[done..], &mut scratch.dynamic);
    }
}

/// Solves from the left within a budget of steps. Returns how many elements are final, and the flow that enters the next.
fn scan(z: &[f64], w: &[f64], x: &mut [f64], mut budget: usize) -> (usize, f64) {
    let n = z.len();
    let mut start = 0;
    let mut inflow = 0.0;
    'piece: while start < n {
        let (z, w) = (&z[start..], &w[start..]);
        // The piece takes one value v; `below` is the flow behind the current element if v = low, `above` if v = high.
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut below, mut above) = (0.0, 0.0);
        // Where the interval was last tightened from below and from above.
        let (mut low_end, mut high_end) = (0, 0);
        for (k, (&z_k, &w_k)) in z.iter().zip(w).enumerate() {
            if k == 0 {
                (low, high) = (z_k + inflow - w_k, z_k + inflow + w_k);
                (below, above) = (w_k, -w_k);
                continue;
            }
            below += z_k - low;
            above += z_k - high;
            if below < -w_k {
                // Even the lowest value allowed drains too much: x jumps down behind `low_end`.
                let end = low_end + 1;
                close(&z[..end], inflow, w[low_end], &mut x[start..start + end]);
                inflow = w[low_end];
                start += end;
                if budget < k {
                    return (start, inflow);
                }
                budget -= k;
                continue 'piece;
            }
            if above > w_k {
                let end = high_end + 1;
                close(&z[..end], inflow, -w[high_end], &mut x[start..start + end]);
                inflow = -w[high_end];
                start += end;
                if budget < k {
                    return (start, inflow);
                }
                budget -= k;
                continue 'piece;
            }
            if below > w_k {
                low += (below - w_k) / (k + 1) as f64;
                below = w_k;
                low_end = k;
            }
            if above < -w_k {
                high += (above + w_k) / (k + 1) as f64;
                above = -w_k;
                high_end = k;
            }
        }
        // The last element: no edge behind it, the flow must end at zero.
        let last = z.len() - 1;
        if last > 0 {
            below += z[last] - low;
            above += z[last] - high;
            let cut = if below < 0.0 {
                Some((low_end, w[low_end]))
            } else if above > 0.0 {
                Some((high_end, -w[high_end]))
            } else {
                None
            };
            if let Some((cut, outflow)) = cut {
                close(&z[..=cut], inflow, outflow, &mut x[start..=start + cut]);
                inflow = outflow;
                start += cut + 1;
                if budget < last {
                    return (start, inflow);
                }
                budget -= last;
                continue 'piece;
            }
        }
        close(z, inflow, 0.0, &mut x[start..]);
        return (n, 0.0);
    }
    (n, 0.0)
}

/// Fills one piece with its value: the mean of what flows in, stands in it, and flows out.
fn close(z: &[f64], inflow: f64, outflow: f64, x: &mut [f64]) {
    let sum: f64 = z.iter().sum();
    x.fill((sum + (inflow - outflow)) / z.len() as f64);
}

pub mod dynamic {
    //! The dynamic programme: after element i, the derivative of the best cost of z₁…zᵢ as a function of xᵢ is a
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

    /// Solves the chain `z` with edge weights `w`; `inflow` enters the first element.
    pub fn solve(z: &[f64], inflow: f64, w: &[f64], x: &mut [f64], scratch: &mut Scratch) {
        let n = z.len();
        let Scratch { knots, bounds } = scratch;
        bounds.clear();
        knots.clear();
        // Room to grow by one at either end in every step.
        knots.resize(2 * n + 2, Knot::default());
        let (mut first, mut end) = (n + 1, n + 1);
        // Left of the first knot the derivative is −w of the edge before, right of the last knot +w.
        let (mut left, mut right) = (-inflow, -inflow);
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
        super::dynamic::solve(z, 0.0, w, &mut x, &mut Default::default());
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

        #[test]
        fn a_scan_cut_short_is_finished_by_the_dynamic_programme((z, w) in chains(), budget in 0..40_usize) {
            prop_assume!(w.iter().all(|&w| w < 1e3));
            let mut x = vec![0.0; z.len()];
            let (done, inflow) = scan(&z, &w, &mut x, budget);
            if done < z.len() {
                super::dynamic::solve(&z[done..], inflow, &w[done..], &mut x[done..], &mut Default::default());
            }
            prop_assert!(violation(&z, &w, &x) < 1e-10);
        }
    }

    #[test]
    fn a_long_staircase_stays_linear_through_the_fallback() {
        // A ramp inside a narrow, slowly closing tube makes the plain scan restart at every element.
        let n = 20_000;
        let z: Vec<f64> = (0..n).map(|i| (i as f64 / n as f64).powi(2) * 1e-3).collect();
        let w: Vec<f64> = vec![1e-2; n - 1];
        let mut x = vec![0.0; n];
        scan(&z, &w, &mut x, usize::MAX);
        let full = x.clone();
        solve(&z, &w, &mut x, &mut Scratch::default());
        for (a, b) in x.iter().zip(&full) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
