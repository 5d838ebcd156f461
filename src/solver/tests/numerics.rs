//! Weights and costs of any size: converged, or stopped with an honest status; never a value that is no number.

use super::*;

/// Nothing, or any power of ten from 1e-12 to 1e12.
fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 6 => (-12.0..12.0_f64).prop_map(|e| 10_f64.powf(e))]
}

fn cost() -> impl Strategy<Value = f64> {
    prop_oneof![2 => -3.0..3.0_f64, 2 => -1e6..1e6_f64, 1 => Just(0.0), 1 => Just(-0.7)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn extreme_models_end_with_an_honest_certificate(
        m in prop::collection::vec(cost(), 20), same in any::<bool>(), w in prop::collection::vec(weight(), 40),
        labels in prop::collection::vec(0..3_u8, 20), c in weight(),
        solver in prop::sample::select(vec![
            SolverKind::Accelerated, SolverKind::Messages, SolverKind::DouglasRachford, SolverKind::Ep,
            SolverKind::FrankWolfe, SolverKind::MinNorm, SolverKind::DivideConquer,
        ]),
    ) {
        let m = if same { vec![m[0]; 20] } else { m };
        let model = grid_model(5, 4, &m, &w, &labels, c);
        let solution = run(&model, &Options { solver, max_iterations: 300, ..Options::default() });
        let Certificate { gap, gap_per_pixel, error_bound, log_z_upper, log_z_lower, map_energy, map_gap, .. } =
            solution.certificate;
        prop_assert!(solution.s.iter().all(|s| s.is_finite()), "{:?}", solution.s);
        prop_assert!(solution.s.iter().map(|s| 1.0 / (1.0 + s.exp())).all(|p| (0.0..=1.0).contains(&p)));
        prop_assert!(gap >= 0.0 && gap_per_pixel >= 0.0 && error_bound >= 0.0 && map_gap >= 0.0);
        prop_assert!(log_z_upper.is_finite() && log_z_lower.is_finite() && map_energy.is_finite());
        // Sums of numbers of this size are known to so many digits.
        let size: f64 = m.iter().map(|m| m.abs()).sum::<f64>() + w.iter().sum::<f64>() + 2.0 * c;
        prop_assert!(log_z_lower <= log_z_upper + 1e-9 * (1.0 + size), "{log_z_lower} above {log_z_upper}");
        if solution.status == Status::Converged && gap.is_finite() {
            // The best set is among the level sets of the optimum: no set of a few tried may beat the bound.
            for set in [vec![false; 20], vec![true; 20], solution.set.clone()] {
                prop_assert!(model.energy(&set) >= map_energy - map_gap - 1e-9 * (1.0 + size));
            }
        }
    }
}
