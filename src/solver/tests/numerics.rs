//! Weights and costs of any size: converged, or stopped with an honest status; never a value that is no number.

use super::*;

/// Nothing, or any power of ten from 1e-12 to 1e12.
fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 6 => (-12.0..12.0_f64).prop_map(|e| 10_f64.powf(e))]
}

/// The edges of a cut, or β = 0.
fn cut() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![1 => Just(vec![0.0; 40]), 5 => prop::collection::vec(weight(), 40)]
}

/// Three superpixels, or one over all.
fn regions() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => Just(vec![0; 20]), 4 => prop::collection::vec(0..3_u8, 20)]
}

fn cost() -> impl Strategy<Value = f64> {
    prop_oneof![2 => -3.0..3.0_f64, 2 => -1e6..1e6_f64, 1 => Just(0.0), 1 => Just(-0.7)]
}

/// What must hold of any solution. `size` is the sum of the sizes of the model's numbers: sums of them are known to so many digits.
fn check(model: &Model, solution: &Solution, size: f64) {
    let Certificate { gap, gap_per_pixel, error_bound, log_z_upper, log_z_lower, map_energy, map_gap, .. } =
        solution.certificate;
    assert!(matches!(solution.status, Status::Converged | Status::Rounding | Status::IterationLimit));
    assert!(solution.s.iter().all(|s| s.is_finite()), "{:?}", solution.s);
    assert!(solution.s.iter().map(|s| 1.0 / (1.0 + s.exp())).all(|p| (0.0..=1.0).contains(&p)));
    assert!(gap >= 0.0 && gap_per_pixel >= 0.0 && error_bound >= 0.0 && map_gap >= 0.0);
    assert!(log_z_upper.is_finite() && log_z_lower.is_finite() && map_energy.is_finite());
    let rounding = 1e-9 * (1.0 + size);
    assert!(log_z_lower <= log_z_upper + rounding, "{log_z_lower} above {log_z_upper}");
    if gap.is_finite() {
        // No set of a few tried may beat the bound on all of them.
        let n = solution.s.len();
        for set in [vec![false; n], vec![true; n], solution.set.clone()] {
            assert!(model.energy(&set) >= map_energy - map_gap - rounding);
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(200))]

    #[test]
    fn extreme_models_end_with_an_honest_certificate(
        m in prop::collection::vec(cost(), 20), same in any::<bool>(), w in cut(), labels in regions(), c in weight(),
        solver in prop::sample::select(SolverKind::ALL.to_vec()),
    ) {
        let m = if same { vec![m[0]; 20] } else { m };
        let model = grid_model(5, 4, &m, &w, &labels, c);
        let solution = run(&model, &Options { solver, max_iterations: 300, ..Options::default() });
        check(&model, &solution, m.iter().map(|m| m.abs()).sum::<f64>() + w.iter().sum::<f64>() + 2.0 * c);
    }

    #[test]
    fn without_cut_and_superpixels_every_pixel_keeps_its_own_cost(
        m in prop::collection::vec(cost(), 20), labels in regions(), solver in prop::sample::select(SolverKind::ALL.to_vec()),
    ) {
        let model = grid_model(5, 4, &m, &[0.0], &labels, 0.0);
        let solution = run(&model, &Options { solver, ..Options::default() });
        check(&model, &solution, m.iter().map(|m| m.abs()).sum());
        // Sums pass through costs of all sizes, so the largest decides how many digits the others keep.
        let rounding = 1e-14 * m.iter().fold(0.0, |most: f64, m| most.max(m.abs()));
        for (s, m) in solution.s.iter().zip(&m) {
            prop_assert!((s - m).abs() <= rounding, "{:?}: {} for {}", solver, s, m);
        }
    }
}

#[test]
fn giant_superpixels_of_any_weight_end_with_an_honest_certificate() {
    let (width, height) = (400, 250);
    let n = width * height;
    let labels = vec![0; n];
    for extent in [3.0, 1e6] {
        let m: Vec<f64> = (0..n).map(|v| extent * ((v * 7919 % 10_007) as f64 / 5_003.0 - 1.0)).collect();
        for c in [0.0, 1e-12, 1.0, 1e6, 1e12] {
            for w in [0.0, 1e-12, 1.0, 1e12] {
                let model = grid_model(width, height, &m, &[w], &labels, c);
                let options = Options { max_iterations: 12, ..Options::default() };
                let size = m.iter().map(|m| m.abs()).sum::<f64>() + 2.0 * n as f64 * w + c;
                check(&model, &run(&model, &options), size);
            }
        }
    }
}
