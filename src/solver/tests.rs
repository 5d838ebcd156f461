//! Solvers against each other, and certificates against brute force over all sets.

use std::ops::ControlFlow;

use proptest::prelude::*;

mod agreement;
mod duality;
mod numerics;
mod rates;
mod theory;

use super::*;
use crate::factor::{Cardinality, Chain, Factor};
use crate::model::Layer;

/// A `width`×`height` grid with cut edges and one layer of superpixels.
pub(super) fn grid_model(width: usize, height: usize, m: &[f64], w: &[f64], labels: &[u8], c: f64) -> Model {
    let n = width * height;
    let mut w = w.iter().copied().cycle();
    let mut line = |scope: Vec<u32>| {
        let weights = (1..scope.len()).map(|_| w.next().unwrap()).collect();
        (scope, Box::new(Chain::new(weights).unwrap()) as Box<dyn Factor>)
    };
    let rows = (0..height).map(|r| line((0..width).map(|x| (r * width + x) as u32).collect())).collect();
    let columns = (0..width).map(|x| line((0..height).map(|r| (r * width + x) as u32).collect())).collect();
    let superpixels = (0..=*labels.iter().max().unwrap())
        .map(|label| {
            let scope: Vec<u32> = (0..n as u32).filter(|&v| labels[v as usize] == label).collect();
            let factor = Cardinality::quadratic(scope.len(), 0, scope.len().max(1), c).unwrap();
            (scope, Box::new(factor) as Box<dyn Factor>)
        })
        .collect();
    let layers = vec![Layer::new(n, rows), Layer::new(n, columns), Layer::new(n, superpixels)];
    Model::new(m[..n].to_vec(), layers).unwrap()
}

pub(super) fn tight(solver: SolverKind) -> Options {
    Options { solver, tolerance: 1e-14, max_iterations: 20_000, ..Options::default() }
}

pub(super) fn run(model: &Model, options: &Options) -> Solution {
    solve(model, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Whether the solver's own estimate of the gap is within the tolerance; at the last digits the proof may not be.
pub(super) fn is_done(solution: &Solution) -> bool {
    matches!(solution.status, Status::Converged | Status::Rounding)
}

pub(super) fn sets(n: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1_usize << n).map(move |bits| (0..n).map(|i| bits >> i & 1 == 1).collect())
}

proptest! {
    #![proptest_config(crate::cases(40))]

    #[test]
    fn bounds_and_mask_hold_against_all_sets(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..1.5_f64, 24),
        labels in prop::collection::vec(0..3_u8, 12), c in 0.0..6.0_f64, ties in any::<bool>(), sweeps in 1..6_usize,
    ) {
        let round = |v: Vec<f64>| -> Vec<f64> { if ties { v.iter().map(|v| v.round()).collect() } else { v } };
        let model = grid_model(4, 3, &round(m), &round(w), &labels, c).with_constant(0.7);
        let energies: Vec<f64> = sets(12).map(|set| model.energy(&set)).collect();
        let least = energies.iter().copied().fold(f64::INFINITY, f64::min);
        let log_z = energies.iter().map(|f| (-f).exp()).sum::<f64>().ln();

        let exact = run(&model, &tight(SolverKind::Accelerated));
        prop_assert!(is_done(&exact));
        // Also far from the optimum, every statement of the certificate is true.
        for budget in [sweeps, 20_000] {
            let options = Options { max_iterations: budget, ..tight(SolverKind::Accelerated) };
            let solution = run(&model, &options);
            let proof = &solution.certificate;
            prop_assert!(proof.log_z_lower <= log_z + 1e-9 && log_z <= proof.log_z_upper + 1e-9);
            prop_assert!(proof.map_lower_bound <= least + 1e-9 && least <= proof.map_energy + 1e-9);
            for (s, s_exact) in solution.s.iter().zip(&exact.s) {
                prop_assert!((s - s_exact).abs() <= proof.error_bound + 1e-6);
            }
            // x = −s as written, where ties are repaired, against the feasible s that the messages add up to.
            let x: Vec<f64> = solution.s.iter().map(|s| -s).collect();
            let feasible = model.total(&solution.messages.as_ref().unwrap().0);
            let half_norm = |v: &[f64]| 0.5 * v.iter().map(|v| v * v).sum::<f64>();
            let gap = model.lovasz(&x) + half_norm(&x) + half_norm(&feasible);
            prop_assert!((gap - proof.gap).abs() < 1e-9);
        }
        prop_assert!((exact.certificate.map_energy - least).abs() < 1e-7);
        // {s < 0} is the smallest minimiser and {s ≤ 0} the largest, read with the solver's accuracy.
        let best: Vec<Vec<bool>> = sets(12).zip(&energies).filter(|(_, f)| **f <= least + 1e-7).map(|(a, _)| a).collect();
        for v in 0..12 {
            let (in_all, in_some) = (best.iter().all(|a| a[v]), best.iter().any(|a| a[v]));
            prop_assert!(exact.s[v] > 1e-5 || in_some);
            prop_assert!(exact.s[v] < -1e-5 || !in_all || best.len() > 1);
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(50))]

    #[test]
    fn every_pixel_is_within_its_own_bound(
        m in prop::collection::vec(-3.0..3.0_f64, 120), w in prop::collection::vec(0.0..1.5_f64, 24),
        labels in prop::collection::vec(0..9_u8, 120), c in 0.0..60.0_f64, ties in any::<bool>(), sweeps in 0..12_usize,
    ) {
        let m: Vec<f64> = if ties { m.iter().map(|m| m.round()).collect() } else { m };
        let model = grid_model(12, 10, &m, &w, &labels, c);
        let exact = run(&model, &Options { tolerance: 1e-16, ..tight(SolverKind::Accelerated) });
        prop_assert!(exact.certificate.gap < 1e-11);
        let solution = run(&model, &Options { max_iterations: sweeps, ..tight(SolverKind::Accelerated) });
        let bounds = &solution.certificate.bounds;
        for (v, (s, s_exact)) in solution.s.iter().zip(&exact.s).enumerate() {
            prop_assert!((s - s_exact).abs() <= bounds[v] + exact.certificate.bounds[v], "pixel {v}");
        }
        prop_assert!(bounds.iter().all(|bound| *bound <= (2.0 * solution.certificate.gap).sqrt() * (1.0 + 1e-9)));
    }
}

#[test]
fn a_warm_start_reaches_the_same_point_in_fewer_sweeps() {
    let m: Vec<f64> = (0..400).map(|v| ((v * 37) % 101) as f64 / 20.0 - 2.4).collect();
    let labels: Vec<u8> = (0..400).map(|v| (v / 50) as u8).collect();
    let options = tight(SolverKind::Accelerated);
    let first = run(&grid_model(20, 20, &m, &[0.8, 1.7], &labels, 20.0), &options);
    // Another unary and stronger edges: the old messages are not even feasible.
    let changed: Vec<f64> = m.iter().enumerate().map(|(v, m)| m + if v % 97 == 0 { 0.05 } else { 0.0 }).collect();
    let model = grid_model(20, 20, &changed, &[0.81, 1.69], &labels, 20.0);
    let cold = run(&model, &options);
    let start = first.messages.expect("the accelerated solver has messages");
    let warm = solve_from(&model, &options, &start, &mut |_| ControlFlow::Continue(())).unwrap();
    for (a, b) in warm.s.iter().zip(&cold.s) {
        assert!((a - b).abs() < 1e-6);
    }
    assert!(
        warm.iterations < cold.iterations,
        "{} sweeps from a warm start, {} without",
        warm.iterations,
        cold.iterations
    );
}

#[test]
fn layers_may_come_in_any_order() {
    let m = [-0.2, 1.7, 0.7, -1.6, 0.0, -0.6, 0.1];
    let layer = |scope: &[u32], factor: Box<dyn Factor>| Layer::new(m.len(), vec![(scope.to_vec(), factor)]);
    let group = || layer(&[2, 6], Box::new(Cardinality::from_gains(vec![1.0, 0.9]).unwrap()));
    let long = || layer(&[3, 2, 6, 0, 5, 1], Box::new(Chain::new(vec![0.9, 0.2, 0.6, 0.7, 0.9]).unwrap()));
    let short = || layer(&[6, 5, 0, 3], Box::new(Chain::new(vec![0.5, 1.0, 0.3]).unwrap()));
    let solve = |layers: Vec<Layer>| {
        let model = Model::new(m.to_vec(), layers).unwrap();
        super::solve(&model, &tight(SolverKind::Accelerated), &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let expected = solve(vec![long(), short(), group()]);
    for layers in [vec![group(), long(), short()], vec![long(), group(), short()], vec![short(), group(), long()]] {
        let found = solve(layers);
        assert_eq!(found.status, Status::Converged);
        assert!(found.s.iter().zip(&expected.s).all(|(a, b)| (a - b).abs() < 1e-6), "{:?} {:?}", found.s, expected.s);
    }
}

#[test]
fn an_observer_can_stop_the_iteration() {
    let model = grid_model(2, 2, &[1.0, -1.0, 0.5, 0.2], &[0.3], &[0, 0, 1, 1], 1.0);
    let solution = solve(&model, &Options::default(), &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(solution.status, Status::Interrupted);
}
