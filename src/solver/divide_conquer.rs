//! Exact by repeated minimum cuts: the decomposition algorithm.
//!
//! On a piece of the picture with mean α of s, either F(A) − α|A| ≥ 0 for all A, and then s* = α there, or the minimisers cut the piece
//! in three: s* < α inside all of them, s* > α outside all, s* = α between (Fujishige 1980; Groenevelt 1991). Edges between the parts are
//! full, so the parts no longer know of each other. A step cuts all open pieces at once, as one flow problem: parts and their
//! connected components become the next pieces, and the flow found so far is kept, so a step only moves what the new means ask for.
//! Photos take about a dozen steps, whatever the strength of the coupling.
//!
//! The model has to be a graph ([`Network`]). s is what the flow leaves in the nodes: feasible at every step, and in whole units.

use super::accelerated::Accelerated;
use super::network::{Network, NotAGraph};
use super::{Point, Solver};
use crate::kernel::max_flow::Side;
use crate::model::Model;
use crate::{Checkpoint, Error, Result};

/// Edges that superpixels may need in the network, about 32 bytes each. A quadratic superpixel of n pixels needs n(n − 1)/2, a robust
/// one at most 4n.
pub const GRAPH_LIMIT: usize = 8_000_000;

/// What is left over in a closed piece, in units per node: the rounding of its mean, and of sums of real numbers.
const REST: i128 = 1 << 12;

/// Nodes reached between two checkpoints.
const CHECK_EVERY: usize = 1 << 16;

/// State of the iteration.
pub(super) struct DivideConquer<'a> {
    model: &'a Model,
    network: Network,
    /// s of each node in units; zero at auxiliary nodes.
    s: Vec<i64>,
    /// s of each variable, and the messages it is the sum of.
    point: Vec<f64>,
    messages: Vec<Vec<f64>>,
    /// Nodes of pieces that are not finished.
    open: Vec<u32>,
    calls: usize,
}

/// Nodes `order[starts[i]..starts[i + 1]]` are a connected piece, from its root outwards.
struct Pieces {
    order: Vec<u32>,
    /// The arc over which each node was reached; none at a root.
    reached: Vec<Option<u32>>,
    starts: Vec<usize>,
}

impl<'a> DivideConquer<'a> {
    pub(super) fn new(model: &'a Model, checkpoint: Checkpoint<'_>) -> Result<Self> {
        // One sweep of projections lays out the first flow. More of them spread it so thin that the cuts take longer again.
        let sweep = Accelerated::new(model, None, checkpoint)?;
        let network = Network::new(model, |_| None, &sweep.layer_messages(), GRAPH_LIMIT, checkpoint)?;
        let network = network.map_err(|why| Error::NotAGraph {
            why: match why {
                NotAGraph::Factor => "a factor is neither a chain nor a table".into(),
                NotAGraph::Edges(found) => format!(
                    "its superpixels need {found} edges and {GRAPH_LIMIT} are possible (robust superpixels need far fewer)"
                ),
            },
        })?;
        let s: Vec<i64> = (0..network.graph.n_nodes()).map(|i| -network.graph.excess(i)).collect();
        let open = (0..s.len() as u32).collect();
        let point = vec![0.0; model.n_variables()];
        let mut solver = Self { model, network, s, point, messages: Vec::new(), open, calls: 0 };
        solver.write_point(checkpoint)?;
        Ok(solver)
    }

    /// Takes the new s if it is nearer to the origin: on the way a cut can leave much in few nodes.
    fn write_point(&mut self, checkpoint: Checkpoint<'_>) -> Result<()> {
        checkpoint()?;
        let norm = |s: &[f64]| s.iter().map(|s| s * s).sum::<f64>();
        let unit = self.network.unit;
        let s: Vec<f64> = self.s[..self.point.len()].iter().map(|&s| unit.value(s)).collect();
        if self.calls == 0 || norm(&s) < norm(&self.point) || self.finished() {
            self.point = s;
            self.messages = self.network.messages(self.model, checkpoint)?;
        }
        Ok(())
    }

    /// The connected components of the open nodes that have more than one variable.
    fn pieces(&self, checkpoint: Checkpoint<'_>) -> Result<Pieces> {
        let mut seen = vec![false; self.s.len()];
        let mut pieces = Pieces { order: Vec::with_capacity(self.open.len()), reached: Vec::new(), starts: vec![0] };
        for &root in &self.open {
            if seen[root as usize] {
                continue;
            }
            seen[root as usize] = true;
            let start = pieces.order.len();
            pieces.order.push(root);
            pieces.reached.push(None);
            let mut next = start;
            while let Some(&i) = pieces.order.get(next) {
                if next.is_multiple_of(CHECK_EVERY) {
                    checkpoint()?;
                }
                next += 1;
                for (arc, j) in self.network.graph.neighbours(i as usize) {
                    if !std::mem::replace(&mut seen[j], true) {
                        pieces.order.push(j as u32);
                        pieces.reached.push(Some(arc));
                    }
                }
            }
            let n_variables = pieces.order[start..].iter().filter(|&&i| (i as usize) < self.point.len()).count();
            match n_variables {
                0 | 1 => {
                    pieces.order.truncate(start);
                    pieces.reached.truncate(start);
                }
                _ => pieces.starts.push(next),
            }
        }
        Ok(pieces)
    }
}

impl Solver for DivideConquer<'_> {
    fn step(&mut self) {
        self.step_until(&|| Ok(())).expect("this checkpoint does not fail");
    }

    fn step_until(&mut self, checkpoint: Checkpoint<'_>) -> Result<()> {
        let n_variables = self.point.len();
        let pieces = self.pieces(checkpoint)?;
        checkpoint()?;
        let is_variable = |i: &&u32| (**i as usize) < n_variables;
        let graph = &mut self.network.graph;
        for range in pieces.starts.windows(2) {
            let piece = &pieces.order[range[0]..range[1]];
            let count = piece.iter().filter(is_variable).count() as i128;
            let sum: i128 = piece.iter().map(|&i| i128::from(self.s[i as usize])).sum();
            let (mean, rest) = (sum.div_euclid(count) as i64, sum.rem_euclid(count));
            // Whole units only: the first few variables aim one unit higher.
            for (&i, k) in piece.iter().filter(is_variable).zip(0..) {
                let aim = mean + i64::from(k < rest);
                graph.set_excess(i as usize, aim - self.s[i as usize]);
                self.s[i as usize] = aim;
            }
        }
        // Along a spanning tree most of the flow finds its place without a search. Auxiliary nodes must not be left with an excess.
        checkpoint()?;
        if graph.n_nodes() == n_variables {
            pieces.reached.iter().rev().flatten().for_each(|&arc| graph.draw_back(arc));
        }
        graph.solve_until(pieces.order.iter().map(|&i| i as usize), checkpoint)?;
        checkpoint()?;
        self.calls += pieces.starts.len() - 1;
        self.open.clear();
        for range in pieces.starts.windows(2) {
            let piece = &pieces.order[range[0]..range[1]];
            let mut left = 0;
            for &i in piece.iter().filter(is_variable) {
                let excess = graph.excess(i as usize);
                self.s[i as usize] -= excess;
                left += i128::from(excess.max(0));
            }
            if left > REST * piece.len() as i128 {
                let start = self.open.len();
                self.open.extend(piece.iter().filter(|&&i| graph.side(i as usize) != Side::Free));
                self.open[start..].iter().for_each(|&i| graph.separate(i as usize));
            }
        }
        self.write_point(checkpoint)
    }

    fn point(&mut self) -> Point<'_> {
        Point { s: &self.point, messages: self.messages.iter().map(|message| &message[..]).collect() }
    }

    fn finished(&self) -> bool {
        self.open.is_empty()
    }

    fn map_calls(&self) -> Option<usize> {
        Some(self.calls)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SolverKind;
    use super::super::tests::{grid_model, is_done, run, sets, tight};
    use super::*;
    use crate::factor::{Cardinality, Factor, Scratch};
    use crate::model::Layer;

    /// The grid with one more layer: robust superpixels, crosswise to the others.
    fn with_robust(m: &[f64], w: &[f64], labels: &[u8], c: f64, q: f64) -> Model {
        let robust = |scope: Vec<u32>| {
            let n = scope.len() as f64;
            let h = |k: usize| c * (k as f64 / n / q).min((1.0 - k as f64 / n) / q).min(1.0);
            let mut gains: Vec<f64> = (0..scope.len()).map(|k| h(k + 1) - h(k)).collect();
            (1..gains.len()).for_each(|i| gains[i] = gains[i].min(gains[i - 1]));
            (scope, Box::new(Cardinality::from_gains(gains).unwrap()) as Box<dyn Factor>)
        };
        let grid = grid_model(4, 3, m, w, labels, c);
        let across = (0..2).map(|half| robust((0..12).filter(|v| v % 2 == half).collect())).collect();
        let mut layers = grid.into_layers();
        layers.push(Layer::new(12, across));
        Model::new(m[..12].to_vec(), layers).unwrap()
    }

    proptest! {
        #![proptest_config(crate::cases(24))]

        #[test]
        fn every_step_is_feasible_and_the_last_is_the_optimum(
            m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..1.5_f64, 24),
            labels in prop::collection::vec(0..3_u8, 12), c in 0.0..6.0_f64, q in 0.05..0.5_f64, ties in any::<bool>(),
        ) {
            let round = |v: Vec<f64>| -> Vec<f64> { if ties { v.iter().map(|v| v.round()).collect() } else { v } };
            let model = with_robust(&round(m), &round(w), &labels, c, q);
            let energies: Vec<f64> = sets(12).map(|set| model.energy(&set)).collect();
            let mut solver = DivideConquer::new(&model, &|| Ok(())).unwrap();
            let mut steps = 0;
            loop {
                let s = solver.point().s.to_vec();
                for (set, f) in sets(12).zip(&energies) {
                    let sum: f64 = s.iter().zip(&set).filter(|(_, inside)| **inside).map(|(s, _)| s).sum();
                    prop_assert!(sum <= f + 1e-11);
                }
                prop_assert!((s.iter().sum::<f64>() - energies[energies.len() - 1]).abs() < 1e-11);
                if solver.finished() {
                    break;
                }
                solver.step();
                steps += 1;
                prop_assert!(steps <= 12, "every step but the last cuts every open piece");
            }
            let reference = run(&model, &tight(SolverKind::Accelerated));
            prop_assert!(is_done(&reference));
            for (s, expected) in solver.point().s.iter().zip(&reference.s) {
                prop_assert!((s - expected).abs() < 1e-6);
            }
            let x: Vec<f64> = solver.point().s.iter().map(|s| -s).collect();
            prop_assert!((model.lovasz(&x) + x.iter().map(|x| x * x).sum::<f64>()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_larger_grid_is_solved_exactly_and_counts_its_cuts() {
        let noise = |i: usize, scale: f64| (((i * 7919) % 1009) as f64 / 504.5 - 1.0) * scale;
        let m: Vec<f64> = (0..1200).map(|v| noise(v, 3.0)).collect();
        let w: Vec<f64> = (0..2400).map(|e| 1.0 + noise(e + 5, 1.0)).collect();
        let labels: Vec<u8> = (0..1200).map(|v| (v % 40 / 8 + v / 40 / 6 * 5) as u8).collect();
        let model = grid_model(40, 30, &m, &w, &labels, 4.0);
        let exact = run(&model, &tight(SolverKind::DivideConquer));
        assert!(is_done(&exact));
        assert!(exact.certificate.gap_per_pixel < 1e-14, "{:e}", exact.certificate.gap_per_pixel);
        assert!(exact.map_calls.unwrap() >= exact.iterations);
        let iterated = run(&model, &tight(SolverKind::Accelerated));
        let apart = exact.s.iter().zip(&iterated.s).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-6, "{apart:e}");
        assert_eq!(iterated.map_calls, None);
    }

    #[derive(Debug)]
    struct Opaque;

    impl Factor for Opaque {
        fn arity(&self) -> usize {
            1
        }
        fn prox(&self, _: &[f64], _: &mut [f64], _: &mut Scratch) {}
        fn lovasz(&self, _: &[f64], _: &mut Scratch) -> f64 {
            0.0
        }
        fn greedy(&self, _: &mut [f64], _: &mut Scratch) {}
        fn expectation(&self, _: &[f64]) -> f64 {
            0.0
        }
        fn expected_gains(&self, _: &mut [f64]) {}
        fn largest(&self) -> f64 {
            0.0
        }
        fn distance(&self, _: &[f64], _: &mut Scratch) -> f64 {
            0.0
        }
        fn slack(&self, _: &[f64], _: &[f64], _: f64, _: &mut Scratch) -> f64 {
            0.0
        }
        fn expected_slack(&self, _: &[f64], _: &[f64], _: f64) -> f64 {
            0.0
        }
    }

    #[test]
    fn models_that_are_no_graph_are_refused() {
        let opaque = Model::new(vec![1.0], vec![Layer::new(1, vec![(vec![0], Box::new(Opaque))])]).unwrap();
        assert!(matches!(DivideConquer::new(&opaque, &|| Ok(())), Err(Error::NotAGraph { .. })));
        let n = 5000;
        let large = Cardinality::quadratic(n, 0, n, 1.0).unwrap();
        let layer = Layer::new(n, vec![((0..n as u32).collect(), Box::new(large))]);
        let model = Model::new(vec![0.0; n], vec![layer]).unwrap();
        let Err(error) = DivideConquer::new(&model, &|| Ok(())) else { panic!() };
        assert!(error.to_string().contains("12497500"), "{error}");
    }
}
