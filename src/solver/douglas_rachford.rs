//! Douglas–Rachford splitting of ½‖unary + Σ y_i‖² and y_i ∈ B(F_i), on the factor graph ([`Graph`]) and in its norm.
//!
//! z ← z + prox(2y − z) − y with y the projection of z onto ∏ B(F_i). The quadratic's prox with step η moves by η/(1+η) of what leads
//! to Λ, where unary + Σ y_i = 0. For η → ∞ it is the projection onto Λ and the iteration that of averaged reflections (Jegelka, Bach &
//! Sra 2013); but the two sets do not meet, so z then wanders off and takes its digits with it, and it was slower on all models tried.
//! The shadow y is feasible at every step.

use rayon::prelude::*;

use super::graph::Graph;
use super::{Factors, Point, Solver};
use crate::model::Model;

/// η/(1+η), for η = 9. At ½ the iterates are those of `messages`.
const SHARE: f64 = 0.9;

/// State of the iteration.
pub(super) struct DouglasRachford<'a> {
    graph: Graph<'a>,
    /// z, factor after factor.
    governing: Vec<f64>,
    /// y, its projection.
    shadow: Vec<f64>,
    /// 2y − z.
    reflected: Vec<f64>,
    /// What leads from the reflection to Λ, and, after `point`, s.
    by_variable: Vec<f64>,
}

impl<'a> DouglasRachford<'a> {
    pub(super) fn new(model: &'a Model, factors: Factors) -> Self {
        let graph = Graph::new(model, factors);
        let mut mean = vec![0.0; model.n_variables()];
        // z starts in Λ with the unary shared equally among a variable's factors.
        let mut governing = vec![0.0; graph.n_pairs()];
        graph.mean(&governing, &mut mean);
        governing.iter_mut().zip(graph.variables()).for_each(|(z, &v)| *z -= mean[v as usize]);
        let mut shadow = governing.clone();
        graph.project(&mut shadow);
        let reflected = vec![0.0; graph.n_pairs()];
        Self { graph, governing, shadow, reflected, by_variable: mean }
    }
}

impl Solver for DouglasRachford<'_> {
    fn step(&mut self) {
        let Self { graph, governing, shadow, reflected, by_variable: mean } = self;
        (&mut *reflected, &*governing, &*shadow)
            .into_par_iter()
            .with_min_len(4096)
            .for_each(|(reflected, z, y)| *reflected = 2.0 * y - z);
        graph.mean(reflected, mean);
        // z + (2y − z − SHARE · mean) − y
        (&mut *governing, &mut *shadow, graph.variables()).into_par_iter().with_min_len(4096).for_each(|(z, y, &v)| {
            *z = *y - SHARE * mean[v as usize];
            *y = *z;
        });
        graph.project(shadow);
    }

    fn point(&mut self) -> Point<'_> {
        self.graph.point(&self.shadow, &mut self.by_variable)
    }
}
