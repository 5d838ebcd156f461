//! The rivals against brute force over all sets, and against slow textbook twins.

use proptest::prelude::*;

use super::*;
use crate::factor::{Cardinality, Chain, Edge, Factor};
use crate::model::{Layer, Model};

type Scoped = Vec<(Vec<u32>, Box<dyn Factor>)>;

/// A `width`×`height` grid of cut edges: rows and columns.
fn grid(width: usize, height: usize, m: &[f64], w: &[f64]) -> Vec<Layer> {
    let mut w = w.iter().copied().cycle();
    let mut lines = |n_lines: usize, length: usize, pixel: &dyn Fn(usize, usize) -> usize| -> Scoped {
        (0..n_lines)
            .map(|line| {
                let scope = (0..length).map(|i| pixel(line, i) as u32).collect();
                let weights = (1..length).map(|_| w.next().unwrap()).collect();
                (scope, Box::new(Chain::new(weights).unwrap()) as Box<dyn Factor>)
            })
            .collect()
    };
    let rows = lines(height, width, &|row, x| row * width + x);
    let columns = lines(width, height, &|x, row| row * width + x);
    assert_eq!(m.len(), width * height);
    vec![Layer::new(m.len(), rows), Layer::new(m.len(), columns)]
}

fn cut_model(width: usize, height: usize, m: &[f64], w: &[f64]) -> Model {
    Model::new(m.to_vec(), grid(width, height, m, w)).unwrap().with_constant(0.7)
}

/// The grid and two layers of superpixels, the second with a robust table when asked.
fn full_model(m: &[f64], w: &[f64], labels: &[u8], c: f64, robust: bool) -> Model {
    let n = m.len();
    let superpixels = |label: &dyn Fn(usize) -> u8, robust: bool| {
        let scopes = (0..3).map(|l| (0..n as u32).filter(|&v| label(v as usize) == l).collect::<Vec<u32>>());
        let factors = scopes.filter(|scope| !scope.is_empty()).map(|scope| {
            let size = scope.len();
            let table = if robust {
                let mut gains: Vec<f64> = (0..size).map(|k| c * (1.0 - 2.0 * k as f64 / size as f64).round()).collect();
                gains.sort_by(|a, b| b.total_cmp(a));
                Cardinality::from_gains(gains).unwrap()
            } else {
                Cardinality::quadratic(size, 1, size + 2, c * size as f64).unwrap()
            };
            (scope, Box::new(table) as Box<dyn Factor>)
        });
        Layer::new(n, factors.collect())
    };
    let mut layers = grid(4, n / 4, m, w);
    layers.push(superpixels(&|v| labels[v], false));
    layers.push(superpixels(&|v| labels[n - 1 - v] % 2, robust));
    Model::new(m.to_vec(), layers).unwrap().with_constant(-0.3)
}

struct Exact {
    marginals: Vec<f64>,
    log_z: f64,
}

fn brute_force(model: &Model) -> Exact {
    let n = model.n_variables();
    let (mut z, mut inside) = (0.0, vec![0.0; n]);
    for bits in 0..1_usize << n {
        let set: Vec<bool> = (0..n).map(|v| bits >> v & 1 == 1).collect();
        let weight = (-model.energy(&set)).exp();
        z += weight;
        inside.iter_mut().zip(set).filter(|(_, a)| *a).for_each(|(sum, _)| *sum += weight);
    }
    Exact { marginals: inside.iter().map(|sum| sum / z).collect(), log_z: z.ln() }
}

fn tight() -> Options {
    Options { tolerance: 1e-14, max_iterations: 5000, ..Options::default() }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

fn edges(model: &Model) -> Vec<(usize, usize, f64)> {
    let mut edges = Vec::new();
    for layer in model.layers() {
        for (factor, &start) in layer.factors().iter().zip(layer.starts()) {
            for (i, &w) in factor.as_chain().unwrap().weights().iter().enumerate() {
                edges.push((layer.variable(start + i), layer.variable(start + i + 1), w));
            }
        }
    }
    edges
}

/// Fractional belief propagation as in a textbook: messages are pairs of probabilities, all renewed at once from the old ones,
/// with the potential to the power 1/ρ, the reverse message to the power 1 − 1/ρ, and the result to the power ρ.
fn propagation_twin(model: &Model, rho: f64) -> Vec<f64> {
    let edges = edges(model);
    let ends: Vec<(usize, usize, f64)> = edges.iter().flat_map(|&(p, q, w)| [(p, q, w), (q, p, w)]).collect();
    let own = |v: usize| [1.0, (-model.unary()[v]).exp()];
    let mut messages = vec![[0.5_f64; 2]; ends.len()];
    for _ in 0..3000 {
        let old = messages.clone();
        for (i, &(p, _, w)) in ends.iter().enumerate() {
            let mut product = own(p);
            for j in (0..ends.len()).filter(|&j| ends[j].1 == p) {
                // The two directions of an edge stand side by side.
                let power = if j == i ^ 1 { 1.0 - 1.0 / rho } else { 1.0 };
                (0..2).for_each(|x| product[x] *= old[j][x].powf(power));
            }
            let psi = (-w / rho).exp();
            let sums = [product[0] + psi * product[1], psi * product[0] + product[1]];
            let new = sums.map(|sum| sum.powf(rho));
            let total = new[0] + new[1];
            // Half of the old message keeps the parallel schedule from swinging.
            (0..2).for_each(|x| messages[i][x] = 0.5 * old[i][x] + 0.5 * new[x] / total);
        }
    }
    (0..model.n_variables())
        .map(|v| {
            let mut belief = own(v);
            for (message, _) in messages.iter().zip(&ends).filter(|(_, end)| end.1 == v) {
                (0..2).for_each(|x| belief[x] *= message[x]);
            }
            belief[1] / (belief[0] + belief[1])
        })
        .collect()
}

/// Coordinate ascent one variable at a time: the expectation is linear in each probability.
fn mean_field_twin(model: &Model) -> Vec<f64> {
    let mut p: Vec<f64> = model.unary().iter().map(|m| probability(-m)).collect();
    for _ in 0..1000 {
        for v in 0..p.len() {
            p[v] = 1.0;
            let inside = model.expectation(&p);
            p[v] = 0.0;
            p[v] = probability(model.expectation(&p) - inside);
        }
    }
    p
}

proptest! {
    #![proptest_config(crate::cases(60))]

    #[test]
    fn belief_propagation_is_exact_on_chains_and_trees(
        m in prop::collection::vec(-3.0..3.0_f64, 10), w in prop::collection::vec(0.0..4.0_f64, 9),
        parents in prop::collection::vec(0..100_usize, 9), damping in prop_oneof![Just(0.0), 0.0..0.6_f64],
    ) {
        let chain = Layer::new(10, vec![((0..10).collect(), Box::new(Chain::new(w.clone()).unwrap()) as _)]);
        let chain = Model::new(m.clone(), vec![chain]).unwrap().with_constant(1.5);
        let branches = (1..10_u32).zip(&parents).zip(&w).map(|((v, parent), &w)| {
            let edge: Box<dyn Factor> = Box::new(Edge::new(w).unwrap());
            Layer::new(10, vec![(vec![*parent as u32 % v, v], edge)])
        });
        let tree = Model::new(m.clone(), branches.collect()).unwrap().with_constant(-2.0);
        for (model, iterations) in [(&chain, 2), (&tree, 200)] {
            let exact = brute_force(model);
            let options = Options { damping, max_iterations: if damping > 0.0 { 2000 } else { iterations }, ..tight() };
            let beliefs = belief_propagation(model, &options, &|| Ok(())).unwrap();
            prop_assert!(distance(&beliefs.marginals(), &exact.marginals) < 1e-9);
            prop_assert!((beliefs.log_z - exact.log_z).abs() < 1e-8);
            prop_assert!(beliefs.converged(), "{}", beliefs.residual);
        }
    }

    #[test]
    fn propagation_agrees_with_the_textbook_on_loops(
        m in prop::collection::vec(-2.0..2.0_f64, 12), w in prop::collection::vec(0.0..0.8_f64, 17),
        rho in prop_oneof![Just(1.0), 0.3..2.0_f64],
    ) {
        let model = cut_model(4, 3, &m, &w);
        let beliefs = fractional_belief_propagation(&model, &Options { weight: rho, ..tight() }, &|| Ok(())).unwrap();
        prop_assert!(beliefs.converged());
        prop_assert!(distance(&beliefs.marginals(), &propagation_twin(&model, rho)) < 1e-8);
    }

    #[test]
    fn both_schedules_settle_on_the_same_beliefs(
        m in prop::collection::vec(-2.0..2.0_f64, 12), w in prop::collection::vec(0.0..0.8_f64, 17),
        rho in prop_oneof![Just(1.0), 0.3..1.0_f64],
    ) {
        let model = cut_model(4, 3, &m, &w);
        // Damping keeps the parallel schedule from swinging, and does not move where it settles.
        let [lines, parallel] = [(Schedule::Lines, 0.0), (Schedule::Parallel, 0.5)].map(|(schedule, damping)| {
            fractional_belief_propagation(&model, &Options { weight: rho, damping, schedule, ..tight() }, &|| Ok(())).unwrap()
        });
        prop_assert!(lines.converged() && parallel.converged());
        prop_assert!(distance(&lines.marginals(), &parallel.marginals()) < 1e-9);
        prop_assert!((lines.log_z - parallel.log_z).abs() < 1e-8);
    }

    #[test]
    fn fractional_propagation_of_weight_one_is_belief_propagation(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..5.0_f64, 17),
    ) {
        let model = cut_model(4, 3, &m, &w);
        let plain = belief_propagation(&model, &Options::default(), &|| Ok(())).unwrap();
        let fractional = fractional_belief_propagation(&model, &Options { weight: 1.0, ..Options::default() }, &|| Ok(())).unwrap();
        prop_assert_eq!(&plain.s, &fractional.s);
        prop_assert_eq!(plain.log_z, fractional.log_z);
        let other = fractional_belief_propagation(&model, &Options::default(), &|| Ok(())).unwrap();
        prop_assert!(other.s != plain.s);
    }

    #[test]
    fn half_weights_on_a_grid_bound_log_z_from_above(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..4.0_f64, 17), rho in 0.2..=0.5_f64,
    ) {
        let model = cut_model(4, 3, &m, &w);
        let beliefs = fractional_belief_propagation(&model, &Options { weight: rho, damping: 0.3, ..tight() }, &|| Ok(())).unwrap();
        prop_assume!(beliefs.residual < 1e-9);
        prop_assert!(beliefs.log_z >= brute_force(&model).log_z - 1e-6);
    }

    #[test]
    fn mean_field_raises_its_bound_every_sweep_and_stays_below_log_z(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..6.0_f64, 17),
        labels in prop::collection::vec(0..3_u8, 12), c in prop_oneof![Just(0.0), 0.0..12.0_f64], robust in any::<bool>(),
    ) {
        let model = full_model(&m, &w, &labels, c, robust);
        let log_z = brute_force(&model).log_z;
        let mut last = f64::NEG_INFINITY;
        for sweeps in 0..25 {
            let beliefs = mean_field(&model, &Options { max_iterations: sweeps, tolerance: 0.0, ..Options::default() }, &|| Ok(())).unwrap();
            prop_assert!(beliefs.log_z >= last - 1e-10, "{last} to {} in sweep {sweeps}", beliefs.log_z);
            prop_assert!(beliefs.log_z <= log_z + 1e-9);
            last = beliefs.log_z;
        }
    }

    #[test]
    fn mean_field_ends_where_no_single_variable_wants_to_move(
        m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..3.0_f64, 17),
        labels in prop::collection::vec(0..3_u8, 12), c in 0.0..6.0_f64,
    ) {
        let model = full_model(&m, &w, &labels, c, false);
        let beliefs = mean_field(&model, &tight(), &|| Ok(())).unwrap();
        prop_assume!(beliefs.converged());
        let mut p = beliefs.marginals();
        for v in 0..p.len() {
            let here = p[v];
            p[v] = 1.0;
            let inside = model.expectation(&p);
            p[v] = 0.0;
            prop_assert!((beliefs.s[v] - (inside - model.expectation(&p))).abs() < 1e-6);
            p[v] = here;
        }
    }

    #[test]
    fn weak_couplings_are_easy_for_everyone(
        m in prop::collection::vec(-2.0..2.0_f64, 12), w in prop::collection::vec(0.0..0.05_f64, 17),
        labels in prop::collection::vec(0..3_u8, 12), c in 0.0..0.05_f64,
    ) {
        let cut = cut_model(4, 3, &m, &w);
        let exact = brute_force(&cut);
        let all = [
            mean_field(&cut, &tight(), &|| Ok(())), belief_propagation(&cut, &tight(), &|| Ok(())), fractional_belief_propagation(&cut, &tight(), &|| Ok(())),
        ];
        for beliefs in all {
            let beliefs = beliefs.unwrap();
            prop_assert!(beliefs.converged());
            // Second order in the couplings: four edges of at most 0.05, each wrong by at most its square.
            prop_assert!(distance(&beliefs.marginals(), &exact.marginals) < 4.0 * 0.05 * 0.05);
            prop_assert!((beliefs.log_z - exact.log_z).abs() < 17.0 * 0.05 * 0.05);
        }
        let full = full_model(&m, &w, &labels, c, false);
        let (beliefs, exact) = (mean_field(&full, &tight(), &|| Ok(())).unwrap(), brute_force(&full));
        prop_assert!(distance(&beliefs.marginals(), &exact.marginals) < 0.01);
        prop_assert!(distance(&beliefs.marginals(), &mean_field_twin(&full)) < 1e-9);
    }
}

/// A grid of 120×100 with holes, large enough to be split between threads, and superpixels.
fn large(superpixels: bool) -> Model {
    let n = 12_000;
    let m: Vec<f64> = (0..n).map(|v| ((v * 7919) % 1009) as f64 / 200.0 - 2.5).collect();
    let w: Vec<f64> = (0..97).map(|i| if i % 7 == 0 { 0.0 } else { f64::from(i) / 20.0 }).collect();
    let mut layers = grid(120, 100, &m, &w);
    if superpixels {
        let scopes = (0..40_u32).map(|label| (0..n as u32).filter(|v| v / 300 == label).collect::<Vec<u32>>());
        let table = |size: usize| Box::new(Cardinality::quadratic(size, 0, size, 2.0 * size as f64).unwrap());
        layers.push(Layer::new(n, scopes.map(|scope| (scope.clone(), table(scope.len()) as _)).collect()));
    }
    Model::new(m, layers).unwrap()
}

#[test]
fn one_thread_and_four_give_the_same_bits() {
    let (cut, full) = (large(false), large(true));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let options = Options { max_iterations: 12, ..Options::default() };
            [
                mean_field(&full, &options, &|| Ok(())),
                belief_propagation(&cut, &options, &|| Ok(())),
                fractional_belief_propagation(&cut, &options, &|| Ok(())),
                belief_propagation(&cut, &Options { schedule: Schedule::Parallel, ..options }, &|| Ok(())),
            ]
            .map(|beliefs| beliefs.map(|b| (b.s, b.log_z.to_bits(), b.residual.to_bits(), b.iterations)).unwrap())
        })
    };
    assert!(run(1) == run(4));
}

#[test]
fn a_grid_has_two_classes_and_any_graph_gets_a_proper_colouring() {
    let m = vec![0.1; 35];
    let model = cut_model(7, 5, &m, &[1.0]);
    assert_eq!(mean_field::n_classes(&model), 2);
    let triangle = [(0, 1), (1, 2), (2, 0)]
        .map(|(p, q)| Layer::new(3, vec![(vec![p, q], Box::new(Edge::new(0.4).unwrap()) as Box<dyn Factor>)]));
    let triangle = Model::new(vec![0.3, -0.2, 0.1], triangle.into()).unwrap();
    assert_eq!(mean_field::n_classes(&triangle), 3);
    let beliefs = mean_field(&triangle, &tight(), &|| Ok(())).unwrap();
    assert!(distance(&beliefs.marginals(), &mean_field_twin(&triangle)) < 1e-9);
}

#[test]
fn news_travels_one_variable_per_iteration_in_parallel_and_all_the_way_by_lines() {
    let mut m = vec![0.25; 9];
    m[0] = -8.0;
    let model = cut_model(9, 1, &m, &[2.0]);
    for iterations in 1..9 {
        let options = |schedule| Options { schedule, max_iterations: iterations, tolerance: 0.0, ..Options::default() };
        let parallel = belief_propagation(&model, &options(Schedule::Parallel), &|| Ok(())).unwrap();
        // What the others know is that all neighbours want to be out; only the first variable wants in.
        let ignorant = Model::new(vec![0.25; 9], grid(9, 1, &m, &[2.0])).unwrap();
        let ignorant = belief_propagation(&ignorant, &options(Schedule::Parallel), &|| Ok(())).unwrap();
        let reached = (0..9).filter(|&v| parallel.s[v] != ignorant.s[v]).count();
        assert_eq!(reached, iterations + 1);
        let lines = belief_propagation(&model, &options(Schedule::Lines), &|| Ok(())).unwrap();
        assert!(distance(&lines.marginals(), &brute_force(&model).marginals) < 1e-12);
    }
}

#[test]
fn belief_propagation_refuses_superpixels() {
    let error = belief_propagation(&large(true), &Options::default(), &|| Ok(())).unwrap_err();
    assert!(matches!(error, Error::UnknownFactor { .. }) && error.to_string().contains("no chain"), "{error}");
}

#[test]
fn nothing_overflows_at_the_largest_weights() {
    let m = [1e9, -1e9, 3.0, 0.0, 800.0, -700.0, 1e-300, -1e9, 1e9, 5.0, -5.0, 0.0];
    for w in [0.0, 1e-300, 700.0, 1e9] {
        let model = cut_model(4, 3, &m, &[w, 1.0, 1e9]);
        for beliefs in [
            mean_field(&model, &Options::default(), &|| Ok(())),
            belief_propagation(&model, &Options::default(), &|| Ok(())),
            fractional_belief_propagation(&model, &Options::default(), &|| Ok(())),
        ] {
            let beliefs = beliefs.unwrap();
            assert!(
                beliefs.s.iter().all(|s| s.is_finite()) && beliefs.log_z.is_finite() && beliefs.residual.is_finite()
            );
        }
    }
}

#[test]
fn options_out_of_range_are_refused_and_budgets_are_kept() {
    let model = cut_model(2, 1, &[1.0, -1.0], &[0.5]);
    for broken in [
        Options { weight: 0.0, ..Options::default() },
        Options { weight: f64::NAN, ..Options::default() },
        Options { damping: 1.0, ..Options::default() },
        Options { tolerance: f64::NAN, ..Options::default() },
    ] {
        assert!(fractional_belief_propagation(&model, &broken, &|| Ok(())).is_err(), "{broken:?}");
    }
    let none = mean_field(&model, &Options { max_iterations: 0, ..Options::default() }, &|| Ok(())).unwrap();
    assert_eq!((none.iterations, none.status), (0, Status::IterationLimit));
    let hurried = Options { time_limit: Some(Duration::ZERO), tolerance: 0.0, ..Options::default() };
    let hurried = mean_field(&model, &hurried, &|| Ok(())).unwrap();
    assert_eq!((hurried.iterations, hurried.status), (1, Status::TimeLimit));
}
