//! The factor graph of the paper: factors F_i on scopes V_i that may overlap as they like, and |δ(v)|, the number of factors at v.
//!
//! The lifted vectors y = (y_i) have one number for each pair of a factor and a pixel in its scope. The closest points of
//! Λ = { λ : m_v + Σ_i λ_iv = 0 } and ∏ B(F_i) give the minimum norm, their distance being ‖m + Σ y_i‖, if a pair (i, v) counts
//! with weight |δ(v)|: the norm ‖·‖_G* in the paper. Layers meet every variable equally often, so that there all projections
//! are plain; with single edges the degrees differ, and the factors project with weights.

use rayon::prelude::*;

use super::{Factors, Point};
use crate::factor::{Edge, Factor, Scratch};
use crate::model::{Model, with_scratch};

/// Pairs a parallel task takes at least.
const GRAIN: usize = 4096;

/// Factors, their scopes, and the pairs at each variable.
pub(super) struct Graph<'a> {
    model: &'a Model,
    factors: Vec<Part<'a>>,
    /// Factor i owns pairs `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    /// The variable of each pair.
    variables: Vec<u32>,
    /// Variable v is in the pairs `incident[incident_starts[v]..incident_starts[v + 1]]`.
    incident: Vec<u32>,
    incident_starts: Vec<usize>,
    /// |δ(v)| of each pair's variable; `None` where all are equal and weights do not matter.
    pub(super) weights: Option<Vec<f64>>,
    /// Where chains are taken apart: the messages of the layers, put together again by [`point`](Self::point).
    joined: Vec<Vec<f64>>,
}

/// A factor of the model as it stands, or an edge cut out of a chain.
enum Part<'a> {
    Whole(&'a dyn Factor),
    Edge(Edge),
}

impl Part<'_> {
    fn factor(&self) -> &dyn Factor {
        match self {
            Part::Whole(factor) => *factor,
            Part::Edge(edge) => edge,
        }
    }
}

impl<'a> Graph<'a> {
    /// The factors of all layers, or the same with every chain taken apart into its edges.
    pub(super) fn new(model: &'a Model, factors: Factors) -> Self {
        let mut graph = Self {
            model,
            factors: Vec::new(),
            starts: vec![0],
            variables: Vec::new(),
            incident: Vec::new(),
            incident_starts: Vec::new(),
            weights: None,
            joined: match factors {
                Factors::Layers => Vec::new(),
                Factors::Edges => vec![vec![0.0; model.n_variables()]; model.layers().len()],
            },
        };
        for layer in model.layers() {
            for (factor, range) in layer.factors().iter().zip(layer.starts().windows(2)) {
                let scope: Vec<u32> = (range[0]..range[1]).map(|place| layer.variable(place) as u32).collect();
                match factor.as_chain() {
                    Some(chain) if factors == Factors::Edges => {
                        // An edge of weight zero joins nothing: it is not in the graph.
                        for (pair, &w) in scope.windows(2).zip(chain.weights()).filter(|(_, w)| **w > 0.0) {
                            graph.push(Part::Edge(Edge::new(w).expect("checked by the chain")), pair);
                        }
                    }
                    _ => graph.push(Part::Whole(factor.as_ref()), &scope),
                }
            }
        }
        graph.index();
        graph
    }

    fn push(&mut self, part: Part<'a>, scope: &[u32]) {
        self.factors.push(part);
        self.variables.extend(scope);
        self.starts.push(self.variables.len());
    }

    /// Sorts the pairs by variable, and finds the weights.
    fn index(&mut self) {
        let mut degree = vec![0; self.model.n_variables()];
        self.variables.iter().for_each(|&v| degree[v as usize] += 1);
        self.incident_starts = vec![0];
        for d in &degree {
            self.incident_starts.push(self.incident_starts.last().expect("begins with 0") + d);
        }
        let mut next = self.incident_starts.clone();
        self.incident = vec![0; self.variables.len()];
        for (pair, &v) in self.variables.iter().enumerate() {
            self.incident[next[v as usize]] = pair as u32;
            next[v as usize] += 1;
        }
        let mut degrees = degree.iter().filter(|&&d| d > 0);
        let first = degrees.next();
        let regular = degrees.all(|d| Some(d) == first);
        self.weights = (!regular).then(|| self.variables.iter().map(|&v| self.degree(v as usize) as f64).collect());
    }

    /// Number of factors.
    pub(super) fn n_factors(&self) -> usize {
        self.factors.len()
    }

    /// Number of pairs of a factor and a variable: the length of a lifted vector.
    pub(super) fn n_pairs(&self) -> usize {
        self.variables.len()
    }

    /// The pairs of a factor.
    pub(super) fn pairs(&self, factor: usize) -> std::ops::Range<usize> {
        self.starts[factor]..self.starts[factor + 1]
    }

    /// The variable of each pair.
    pub(super) fn variables(&self) -> &[u32] {
        &self.variables
    }

    /// |δ(v)|.
    pub(super) fn degree(&self, variable: usize) -> usize {
        self.incident_starts[variable + 1] - self.incident_starts[variable]
    }

    /// total ← m + Σ_i y_i, over variables.
    pub(super) fn sum(&self, lifted: &[f64], total: &mut [f64]) {
        total.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, total)| {
            for (v, total) in (chunk * GRAIN..).zip(total) {
                let pairs = &self.incident[self.incident_starts[v]..self.incident_starts[v + 1]];
                *total = pairs.iter().fold(self.model.unary()[v], |sum, &pair| sum + lifted[pair as usize]);
            }
        });
    }

    /// s in `total`, and the messages of the layers.
    pub(super) fn point<'b>(&'b mut self, lifted: &'b [f64], total: &'b mut [f64]) -> Point<'b> {
        self.sum(lifted, total);
        let n = self.model.n_variables();
        if self.joined.is_empty() {
            // Layer after layer, as the factors were taken.
            return Point { s: total, messages: lifted.chunks(n.max(1)).collect() };
        }
        let mut pair = 0;
        for (layer, message) in self.model.layers().iter().zip(&mut self.joined) {
            message.fill(0.0);
            for (factor, range) in layer.factors().iter().zip(layer.starts().windows(2)) {
                let message = &mut message[range[0]..range[1]];
                let Some(chain) = factor.as_chain() else {
                    message.copy_from_slice(&lifted[pair..pair + message.len()]);
                    pair += message.len();
                    continue;
                };
                for (i, _) in chain.weights().iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    message[i] += lifted[pair];
                    message[i + 1] += lifted[pair + 1];
                    pair += 2;
                }
            }
        }
        Point { s: total, messages: self.joined.iter().map(|message| &message[..]).collect() }
    }

    /// mean ← (m + Σ_i y_i) / |δ(v)|: subtracted from y at every pair, it leads to the nearest point of Λ.
    pub(super) fn mean(&self, lifted: &[f64], mean: &mut [f64]) {
        self.sum(lifted, mean);
        mean.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, mean)| {
            for (v, mean) in (chunk * GRAIN..).zip(mean) {
                *mean /= self.degree(v).max(1) as f64;
            }
        });
    }

    /// lifted ← its projection onto ∏ B(F_i) in ‖·‖_G*, all factors in parallel.
    pub(super) fn project(&self, lifted: &mut [f64]) {
        self.project_range(0..self.factors.len(), lifted);
    }

    fn project_range(&self, factors: std::ops::Range<usize>, lifted: &mut [f64]) {
        if factors.len() > 1 && lifted.len() > GRAIN {
            let first = self.starts[factors.start];
            let half = first + lifted.len() / 2;
            let middle = self.starts.partition_point(|&start| start < half).clamp(factors.start + 1, factors.end - 1);
            let (left, right) = lifted.split_at_mut(self.starts[middle] - first);
            rayon::join(
                || self.project_range(factors.start..middle, left),
                || self.project_range(middle..factors.end, right),
            );
            return;
        }
        with_scratch(|scratch, _| {
            let mut rest = lifted;
            for i in factors {
                let (point, next) = rest.split_at_mut(self.pairs(i).len());
                match &self.weights {
                    None => self.factors[i].factor().project(point, scratch),
                    Some(weights) => self.factors[i].factor().project_weighted(point, &weights[self.pairs(i)], scratch),
                }
                rest = next;
            }
        });
    }

    /// The plain projection onto one B(F_i).
    pub(super) fn project_one(&self, factor: usize, point: &mut [f64], scratch: &mut Scratch) {
        self.factors[factor].factor().project(point, scratch);
    }
}
