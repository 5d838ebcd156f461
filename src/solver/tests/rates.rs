//! How fast: distances that fall, the paper's rates, and what a trace shows of them.

use super::*;
use crate::factor::Edge;
use crate::solver::messages::Messages;

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

/// ‖a − b‖_G*: a pair counts with the degree of its variable.
fn distance(messages: &Messages<'_>, a: &[f64], b: &[f64]) -> f64 {
    let graph = &messages.graph;
    let degree = |pair: usize| graph.degree(graph.variables()[pair] as usize) as f64;
    norm(a.iter().zip(b).enumerate().map(|(pair, (a, b))| degree(pair).sqrt() * (a - b)))
}

/// The point of Λ nearest to y.
fn nearest_multipliers(messages: &Messages<'_>, n: usize) -> Vec<f64> {
    let mut mean = vec![0.0; n];
    messages.graph.mean(&messages.lifted, &mut mean);
    messages.lifted.iter().zip(messages.graph.variables()).map(|(y, &v)| y - mean[v as usize]).collect()
}

/// A ring of four: every variable in two edges, as layers and as edges.
fn ring(m: &[f64], w: &[f64]) -> Model {
    let edge = |a: u32, b: u32, w: f64| (vec![a, b], Box::new(Edge::new(w).unwrap()) as Box<dyn Factor>);
    let even = Layer::new(4, vec![edge(0, 1, w[0]), edge(2, 3, w[1])]);
    let odd = Layer::new(4, vec![edge(1, 2, w[2]), edge(3, 0, w[3])]);
    Model::new(m[..4].to_vec(), vec![even, odd]).unwrap()
}

proptest! {
    #![proptest_config(crate::cases(16))]

    // The paper's dual of message passing: message passing is alternating projection between Λ and ∏ B(F_i): the distance falls with every half step, and in the
    // graph's norm it is the norm of s.
    #[test]
    fn the_distance_of_the_two_sets_never_grows(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.1..1.5_f64, 24),
        labels in prop::collection::vec(0..3_u8, 12), c in 0.5..6.0_f64,
    ) {
        let model = grid_model(4, 3, &m, &w, &labels, c);
        for factors in [Factors::Layers, Factors::Edges] {
            let mut messages = Messages::new(&model, factors);
            let mut last = f64::INFINITY;
            for _ in 0..60 {
                let multipliers = nearest_multipliers(&messages, 12);
                let reached = distance(&messages, &messages.lifted, &multipliers);
                prop_assert!((reached - norm(messages.point().s.iter().copied())).abs() < 1e-9);
                prop_assert!(reached <= last + 1e-12);
                messages.step();
                last = distance(&messages, &messages.lifted, &multipliers);
                prop_assert!(last <= reached + 1e-12);
            }
        }
    }

    // The paper's linear rate: ‖q^t − q*‖ ≤ 2 ‖q⁰ − q*‖_∞ √(Δ·E) (1 − 1/(|V|²Δ²))^t on regular graphs, E the number of their edges (pairs).
    #[test]
    fn the_linear_rate_of_the_appendix_holds(
        m in prop::collection::vec(-3.0..3.0_f64, 9), w in prop::collection::vec(0.1..2.0_f64, 12),
        labels in prop::collection::vec(0..3_u8, 9), c in 0.5..6.0_f64,
    ) {
        let ring = ring(&m, &w);
        let grid = grid_model(3, 3, &m, &w, &labels, c);
        for (model, factors, degree) in
            [(&ring, Factors::Layers, 2.0_f64), (&ring, Factors::Edges, 2.0), (&grid, Factors::Layers, 3.0)]
        {
            let mut limit = Messages::new(model, factors);
            (0..20_000).for_each(|_| limit.step());
            let mut messages = Messages::new(model, factors);
            let pairs = messages.graph.n_pairs() as f64;
            let start = messages.lifted.iter().zip(&limit.lifted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let rate = 1.0 - 1.0 / (model.n_variables() as f64 * degree).powi(2);
            let mut bound = 2.0 * start * (degree * pairs).sqrt();
            for _ in 0..500 {
                prop_assert!(distance(&messages, &messages.lifted, &limit.lifted) <= bound + 1e-9);
                messages.step();
                bound *= rate;
            }
        }
    }

    // The paper's bound on log Z: every bound in a trace is true, and they only get better.
    #[test]
    fn bounds_in_a_trace_are_true_and_only_improve(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.1..1.5_f64, 24),
        labels in prop::collection::vec(0..3_u8, 12), c in 0.5..6.0_f64,
    ) {
        let model = grid_model(4, 3, &m, &w, &labels, c).with_constant(-0.4);
        let energies: Vec<f64> = sets(12).map(|set| model.energy(&set)).collect();
        let least = energies.iter().copied().fold(f64::INFINITY, f64::min);
        let log_z = energies.iter().map(|f| (-f).exp()).sum::<f64>().ln();
        for options in super::agreement::all() {
            let trace = run(&model, &Options { max_iterations: 50, ..options }).trace;
            for pair in trace.windows(2) {
                prop_assert!(pair[0].iteration < pair[1].iteration);
                prop_assert!(pair[0].log_z_upper >= pair[1].log_z_upper);
                prop_assert!(pair[0].map_lower_bound <= pair[1].map_lower_bound);
            }
            let last = trace.last().unwrap();
            prop_assert!(log_z <= last.log_z_upper + 1e-9);
            prop_assert!(last.map_lower_bound <= least + 1e-9);
        }
    }
}

/// A 20×15 scene: a bright disc, strong and weak edges, vertical superpixels.
fn scene() -> Model {
    let (width, height) = (20, 15);
    let m: Vec<f64> = (0..width * height)
        .map(|v| {
            let (x, y) = ((v % width) as f64 - 9.0, (v / width) as f64 - 7.0);
            (x.hypot(y) - 5.0).clamp(-2.0, 2.0) + (v as f64 * 0.7).sin()
        })
        .collect();
    let labels: Vec<u8> = (0..width * height).map(|v| (v % width / 4) as u8).collect();
    grid_model(width, height, &m, &[0.2, 0.9, 0.4], &labels, 30.0)
}

/// The iteration at which the gap per pixel is first at most `level`.
fn reached(trace: &[Progress], level: f64) -> f64 {
    trace.iter().find(|progress| progress.gap_per_pixel <= level).expect("the run went further").iteration as f64
}

// The paper's linear rate: linear. Each further four decades of the gap take about as many steps as the four before; at order 1/k they would take 10⁴ times
// as many.
#[test]
fn a_trace_of_messages_shows_a_linear_rate() {
    for factors in [Factors::Layers, Factors::Edges] {
        let options = Options { factors, tolerance: 1e-12, max_iterations: 100_000, ..tight(SolverKind::Messages) };
        let trace = run(&scene(), &options).trace;
        let [a, b, c] = [1e-4, 1e-8, 1e-12].map(|level| reached(&trace, level));
        assert!(c - b <= 2.0 * (b - a), "{factors:?}: {a} {b} {c}");
    }
}

// The rate of Frank–Wolfe: O(1/k). With D the diameter of B(F), the best gap so far is at most 2·(27/4)·D²/(k + 2) if at most half of the steps
// only drop an atom, and it does fall at that order or faster.
#[test]
fn a_trace_of_frank_wolfe_shows_the_order_one_over_k() {
    let model = scene();
    let n = model.n_variables();
    let mut set = vec![false; n];
    let all = model.energy(&vec![true; n]);
    let mut squared_diameter = 0.0;
    for v in 0..n {
        set[v] = true;
        let most = model.energy(&set);
        set.iter_mut().for_each(|inside| *inside = !*inside);
        let least = all - model.energy(&set);
        set.fill(false);
        squared_diameter += (most - least).powi(2);
    }
    let options = Options { tolerance: 1e-9, max_iterations: 1000, ..tight(SolverKind::FrankWolfe) };
    let trace = run(&model, &options).trace;
    let mut best = f64::INFINITY;
    let mut early = f64::INFINITY;
    for progress in &trace {
        best = best.min(progress.gap);
        let k = progress.iteration as f64;
        assert!(best <= 13.5 * squared_diameter / (k + 2.0), "step {k}: {best}");
        if progress.iteration <= 10 {
            early = best;
        }
    }
    // From step 10 to 1000: a factor of 100 or more.
    assert!(best <= early / 100.0, "{early} {best}");
}
