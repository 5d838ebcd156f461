//! `ep`: one factor at a time, in the manner of expectation propagation under D∞.
//!
//! Factor i is taken out, the rest stays as it is (the cavity unary + Σ_{k≠i} y_k), and y_i becomes the best point of B(F_i) for it. The
//! divergence D∞ and the squared norm share this optimum, so the update is a plain projection, y_i = Π(−cavity), and a step is a
//! pass of exact block coordinate descent over all factors: ½‖unary + Σ y_i‖² never grows.

use super::graph::Graph;
use super::{Factors, Point, Solver};
use crate::model::{Model, with_scratch};

/// State of the iteration.
pub(super) struct Sequential<'a> {
    graph: Graph<'a>,
    /// y_i, factor after factor.
    lifted: Vec<f64>,
    /// unary + Σ y_i.
    total: Vec<f64>,
}

impl<'a> Sequential<'a> {
    pub(super) fn new(model: &'a Model, factors: Factors) -> Self {
        let graph = Graph::new(model, factors);
        let lifted = vec![0.0; graph.n_pairs()];
        let mut solver = Self { graph, lifted, total: model.unary().to_vec() };
        // A first pass makes every y_i feasible.
        solver.step();
        solver
    }
}

impl Solver for Sequential<'_> {
    fn step(&mut self) {
        let Self { graph, lifted, total } = self;
        with_scratch(|scratch, before| {
            for factor in 0..graph.n_factors() {
                let y = &mut lifted[graph.pairs(factor)];
                let scope = &graph.variables()[graph.pairs(factor)];
                before.clear();
                before.extend_from_slice(y);
                y.iter_mut().zip(scope).for_each(|(y, &v)| *y -= total[v as usize]);
                graph.project_one(factor, y, scratch);
                for ((y, before), &v) in y.iter().zip(&*before).zip(scope) {
                    total[v as usize] += y - before;
                }
            }
        });
    }

    fn point(&mut self) -> Point<'_> {
        // Summed anew, free of the rounding errors that a running total gathers.
        self.graph.point(&self.lifted, &mut self.total)
    }
}
