//! Every solver, on both factor graphs, tends to the same point; and every iterate on the way is what it says.

use super::*;
use crate::factor::Edge;
use crate::solver::graph::Graph;
use crate::solver::messages::Messages;

/// Every solver with every factor graph it knows.
pub(super) fn all() -> Vec<Options> {
    let on = |solver, factors| Options { factors, max_iterations: 100_000, ..tight(solver) };
    vec![
        on(SolverKind::Accelerated, Factors::Layers),
        on(SolverKind::Messages, Factors::Layers),
        on(SolverKind::Messages, Factors::Edges),
        on(SolverKind::DouglasRachford, Factors::Layers),
        on(SolverKind::DouglasRachford, Factors::Edges),
        on(SolverKind::Ep, Factors::Layers),
        on(SolverKind::Ep, Factors::Edges),
        on(SolverKind::FrankWolfe, Factors::Layers),
        on(SolverKind::MinNorm, Factors::Layers),
        on(SolverKind::DivideConquer, Factors::Layers),
    ]
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(crate::cases(12))]

    // Every solver of the paper: one problem, one answer.
    #[test]
    fn all_solvers_reach_the_same_point(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..1.5_f64, 24),
        labels in prop::collection::vec(0..3_u8, 12), c in 0.5..6.0_f64,
    ) {
        for (w, c) in [(w.clone(), 0.0), (vec![0.0], c), (w, c)] {
            let model = grid_model(4, 3, &m, &w, &labels, c);
            let exact = run(&model, &tight(SolverKind::MinNorm));
            for options in all() {
                let solution = run(&model, &options);
                let difference = largest_difference(&solution.s, &exact.s);
                prop_assert!(is_done(&solution), "{:?} {:?} {}", options, solution.status, solution.certificate.gap);
                prop_assert!(difference < 1e-6, "{:?}: {}", options.solver, difference);
            }
        }
    }

    // Base polytope and the paper's bound on log Z: every iterate of every solver is a point of B(F), and therefore bounds log Z.
    #[test]
    fn every_iterate_is_feasible_and_bounds_log_z(
        m in prop::collection::vec(-3.0..3.0_f64, 9), w in prop::collection::vec(0.0..1.5_f64, 12),
        labels in prop::collection::vec(0..3_u8, 9), c in 0.0..6.0_f64,
    ) {
        let model = grid_model(3, 3, &m, &w, &labels, c);
        let energies: Vec<f64> = sets(9).map(|set| model.energy(&set)).collect();
        let log_z = energies.iter().map(|f| (-f).exp()).sum::<f64>().ln();
        for options in all() {
            let mut solver = options.solver.start(&model, options.factors, None, &|| Ok(())).unwrap();
            for _ in 0..6 {
                let s = solver.point().s;
                for (set, f) in sets(9).zip(&energies) {
                    let sum: f64 = s.iter().zip(&set).filter(|(_, inside)| **inside).map(|(s, _)| s).sum();
                    prop_assert!(sum <= f + 1e-9, "{:?}", options.solver);
                }
                prop_assert!((s.iter().sum::<f64>() - energies[511]).abs() < 1e-9);
                let bound: f64 = s.iter().map(|s| (-s).exp().ln_1p()).sum();
                prop_assert!(log_z <= bound + 1e-9);
                solver.step();
            }
        }
    }
}

/// A star: three edges at variable 0, so that degrees are 3, 1, 1, 1.
fn star() -> Model {
    let edge = |leaf: u32, w: f64| Layer::new(4, vec![(vec![0, leaf], Box::new(Edge::new(w).unwrap()) as _)]);
    Model::new(vec![2.0, -1.0, -0.5, 0.3], vec![edge(1, 0.7), edge(2, 0.4), edge(3, 0.9)]).unwrap()
}

// The paper's norms of the factor graph: with |δ(v)| in the norm the general graph agrees with the layered one; without, it settles on another point.
#[test]
fn dropping_the_degree_weights_gives_a_wrong_point() {
    let model = star();
    let layered = run(&model, &tight(SolverKind::Messages)).s;
    let limit = |graph: Graph<'_>| {
        let mut messages = Messages::on(graph, &model);
        (0..2000).for_each(|_| messages.step());
        messages.point().s.to_vec()
    };
    let weighted = limit(Graph::new(&model, Factors::Edges));
    assert!(largest_difference(&weighted, &layered) < 1e-6);

    let mut plain = Graph::new(&model, Factors::Edges);
    assert!(plain.weights.take().is_some(), "the degrees of a star differ");
    assert!(largest_difference(&limit(plain), &layered) > 1e-2);
}

// The paper's parallel phases: the same bits at any number of threads, beyond the size at which work is split.
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let (width, height) = (90, 70);
    let wave = |v: usize| 3.0 * (v as f64 * 0.37).sin() + (v as f64 * 0.011).cos();
    let m: Vec<f64> = (0..width * height).map(wave).collect();
    let labels: Vec<u8> = (0..width * height).map(|v| (v % width / 10) as u8).collect();
    let model = grid_model(width, height, &m, &[0.4, 0.9, 0.1], &labels, 20.0);
    for options in all().into_iter().filter(|options| options.solver != SolverKind::MinNorm) {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut solver = options.solver.start(&model, options.factors, None, &|| Ok(())).unwrap();
                (0..4).for_each(|_| solver.step());
                solver.point().s.to_vec()
            })
        };
        assert_eq!(on(1), on(3), "{:?}", options.solver);
    }
}

#[test]
fn a_model_too_large_for_min_norm_is_refused() {
    let model = Model::new(vec![0.5; MIN_NORM_LIMIT + 1], Vec::new()).unwrap();
    let error = solve(&model, &tight(SolverKind::MinNorm), &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.to_string(), "the min-norm solver takes at most 2000 free pixels, this model has 2001");
}

#[test]
fn models_without_factors_or_variables_are_solved_too() {
    for m in [vec![], vec![0.5, -2.0]] {
        let model = Model::new(m.clone(), Vec::new()).unwrap();
        for options in all() {
            let solution = run(&model, &options);
            assert_eq!((solution.s, solution.status), (m.clone(), Status::Converged), "{:?}", options.solver);
        }
    }
}
