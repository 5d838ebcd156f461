//! The paper's parallel message passing: alternating projections between Λ and ∏ B(F_i) on the factor graph ([`Graph`]).
//!
//! Variables to factors, all in parallel: the mean of what the factors sent, m_v = (unary_v + Σ_{i ∈ δ(v)} y_iv) / |δ(v)|.
//! Factors to variables, all in parallel: y_i ← the point of B(F_i) nearest to y_i − m in the norm with weights |δ(v)|.
//!
//! Every y_i is in its polytope after every step, so the marginals of s = unary + Σ y_i can be read at any time. The distance of the
//! two sets' points never grows, and it shrinks linearly: the appendix of the paper proves the factor 1 − 1/(|V|²Δ²) for
//! graphs of degree Δ (its main text prints (1 − 1/(|V|Δ))², which the proof does not give).

use rayon::prelude::*;

use super::graph::Graph;
use super::{Factors, Point, Solver};
use crate::model::Model;

/// State of the iteration.
pub(super) struct Messages<'a> {
    pub(super) graph: Graph<'a>,
    /// y_i, factor after factor: the messages from factors to variables.
    pub(super) lifted: Vec<f64>,
    /// The messages from variables to factors, and, after `point`, s.
    by_variable: Vec<f64>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(model: &'a Model, factors: Factors) -> Self {
        Self::on(Graph::new(model, factors), model)
    }

    /// Starts with the step from y = 0, which makes every message feasible.
    pub(super) fn on(graph: Graph<'a>, model: &Model) -> Self {
        let lifted = vec![0.0; graph.n_pairs()];
        let mut solver = Self { graph, lifted, by_variable: vec![0.0; model.n_variables()] };
        solver.step();
        solver
    }
}

impl Solver for Messages<'_> {
    fn step(&mut self) {
        let Self { graph, lifted, by_variable: mean } = self;
        graph.mean(lifted, mean);
        lifted.par_iter_mut().with_min_len(4096).zip(graph.variables()).for_each(|(y, &v)| *y -= mean[v as usize]);
        graph.project(lifted);
    }

    fn point(&mut self) -> Point<'_> {
        self.graph.point(&self.lifted, &mut self.by_variable)
    }
}
