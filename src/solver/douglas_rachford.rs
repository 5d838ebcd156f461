//! Douglas–Rachford: averaged reflections at Λ and ∏ B(F_i), the two sets of [`Graph`].
//!
//! z ← z + Π_Λ(2y − z) − y with y = Π_∏B(F_i)(z). The sets do not meet unless s* = 0, so z itself wanders off along the
//! gap between them; its shadow y stays feasible and tends to the closest point (Bauschke, Combettes & Luke 2004; for
//! decomposable submodular functions Jegelka, Bach & Sra 2013).

use rayon::prelude::*;

use super::graph::Graph;
use super::{Factors, Solver};
use crate::model::Model;

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
        // z + (2y − z − mean) − y
        (&mut *governing, &mut *shadow, graph.variables()).into_par_iter().with_min_len(4096).for_each(|(z, y, &v)| {
            *z = *y - mean[v as usize];
            *y = *z;
        });
        graph.project(shadow);
    }

    fn point(&mut self) -> &[f64] {
        self.graph.sum(&self.shadow, &mut self.by_variable);
        &self.by_variable
    }
}
