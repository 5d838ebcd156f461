//! Fujishige–Wolfe: the minimum-norm point of B(F) exactly, in finitely many steps, for small models.
//!
//! s is kept as the combination of affinely independent vertices (the *corral*) that is nearest to the origin on their affine hull.
//! A step adds the greedy vertex for −s; while the nearest point of the new hull has a negative weight, s moves towards it as far
//! as the weights stay positive, and the vertices that got weight 0 leave. Each corral gives its hull's minimum, which
//! falls strictly, so none comes twice (Wolfe 1976).
//!
//! The affine minimum solves (σ·11ᵀ + VᵀV) u = 1, weights u/Σu, through a triangular factor R with RᵀR that matrix, updated in
//! O(k²) when a vertex comes or goes.

use super::{Point, Solver};
use crate::model::Model;
use crate::{Error, Result};

/// Largest model: the corral and its factor are square in the number of variables.
pub const MIN_NORM_LIMIT: usize = 2000;

/// Relative size at which a vertex counts as lying in the hull already.
const DEPENDENT: f64 = 1e-12;

/// State of the iteration.
pub(super) struct MinNorm<'a> {
    model: &'a Model,
    corral: Vec<Vec<f64>>,
    /// What each vertex of the corral is the sum of, but for m: one message per layer.
    messages: Vec<Vec<Vec<f64>>>,
    weights: Vec<f64>,
    /// Column k of R holds its k + 1 numbers down to the diagonal.
    factor: Vec<Vec<f64>>,
    /// σ: of the size of the vertices, so that the matrix is well scaled.
    sigma: f64,
    point: Vec<f64>,
    /// The messages of the point.
    point_messages: Vec<Vec<f64>>,
    /// No vertex brings the point nearer to the origin, to the last digit.
    finished: bool,
}

impl<'a> MinNorm<'a> {
    pub(super) fn new(model: &'a Model) -> Result<Self> {
        let found = model.n_variables();
        if found > MIN_NORM_LIMIT {
            return Err(Error::TooManyVariables { solver: "min-norm", found, limit: MIN_NORM_LIMIT });
        }
        let towards: Vec<f64> = model.unary().iter().map(|m| -m).collect();
        let messages = model.greedy_messages(&towards);
        let vertex = model.total(&messages);
        let sigma = dot(&vertex, &vertex).max(1.0);
        let mut solver = Self {
            model,
            corral: Vec::new(),
            messages: Vec::new(),
            weights: vec![1.0],
            factor: Vec::new(),
            sigma,
            point: vertex.clone(),
            point_messages: messages.clone(),
            finished: false,
        };
        solver.admit(vertex, messages);
        Ok(solver)
    }

    /// Adds a vertex and its column of R, unless it lies in the hull of the corral.
    fn admit(&mut self, vertex: Vec<f64>, messages: Vec<Vec<f64>>) -> bool {
        let mut column: Vec<f64> = self.corral.iter().map(|v| self.sigma + dot(v, &vertex)).collect();
        solve_transposed(&self.factor, &mut column);
        let diagonal = self.sigma + dot(&vertex, &vertex);
        let rest = diagonal - dot(&column, &column);
        if rest <= DEPENDENT * diagonal {
            return false;
        }
        column.push(rest.sqrt());
        self.factor.push(column);
        self.corral.push(vertex);
        self.messages.push(messages);
        true
    }

    /// Removes a vertex; rotations make R triangular again.
    fn dismiss(&mut self, k: usize) {
        self.corral.remove(k);
        self.messages.remove(k);
        self.weights.remove(k);
        self.factor.remove(k);
        for row in k..self.factor.len() {
            // Column `row` reaches one below its new diagonal.
            let (a, b) = (self.factor[row][row], self.factor[row][row + 1]);
            let length = a.hypot(b);
            let (cos, sin) = (a / length, b / length);
            for column in &mut self.factor[row..] {
                let (upper, lower) = (column[row], column[row + 1]);
                column[row] = cos * upper + sin * lower;
                column[row + 1] = cos * lower - sin * upper;
            }
            self.factor[row].truncate(row + 1);
        }
    }

    /// Weights of the point of the affine hull that is nearest to the origin.
    fn affine_minimum(&self) -> Vec<f64> {
        let mut u = vec![1.0; self.corral.len()];
        solve_transposed(&self.factor, &mut u);
        solve(&self.factor, &mut u);
        let sum: f64 = u.iter().sum();
        u.iter_mut().for_each(|u| *u /= sum);
        u
    }
}

impl Solver for MinNorm<'_> {
    fn step(&mut self) {
        let downhill: Vec<f64> = self.point.iter().map(|s| -s).collect();
        let messages = self.model.greedy_messages(&downhill);
        let vertex = self.model.total(&messages);
        let norm = dot(&self.point, &self.point);
        self.finished = norm <= dot(&self.point, &vertex) || !self.admit(vertex, messages);
        if self.finished {
            return;
        }
        self.weights.push(0.0);
        loop {
            let target = self.affine_minimum();
            // As far towards the target as no weight turns negative.
            let reach = self.weights.iter().zip(&target).filter(|(_, t)| **t <= 0.0).map(|(w, t)| w / (w - t));
            let Some(reach) = reach.reduce(f64::min) else {
                self.weights = target;
                break;
            };
            let mut least = (0, f64::INFINITY);
            for (k, (w, t)) in self.weights.iter_mut().zip(&target).enumerate() {
                *w += reach * (t - *w);
                if *t <= 0.0 && *w < least.1 {
                    least = (k, *w);
                }
            }
            self.dismiss(least.0);
        }
        let sum: f64 = self.weights.iter().sum();
        let mut messages = vec![vec![0.0; self.point.len()]; self.model.layers().len()];
        for (weight, vertices) in self.weights.iter().zip(&self.messages) {
            for (message, vertex) in messages.iter_mut().zip(vertices) {
                message.iter_mut().zip(vertex).for_each(|(s, v)| *s += weight / sum * v);
            }
        }
        let point = self.model.total(&messages);
        // The norm falls strictly until rounding is all that is left.
        self.finished = dot(&point, &point) >= norm;
        if !self.finished {
            (self.point, self.point_messages) = (point, messages);
        }
    }

    fn point(&mut self) -> Point<'_> {
        Point { s: &self.point, messages: self.point_messages.iter().map(|message| &message[..]).collect() }
    }

    fn finished(&self) -> bool {
        self.finished
    }
}

/// b ← R⁻ᵀ b
fn solve_transposed(factor: &[Vec<f64>], b: &mut [f64]) {
    for (k, column) in factor.iter().enumerate() {
        b[k] = (b[k] - dot(&column[..k], &b[..k])) / column[k];
    }
}

/// b ← R⁻¹ b
fn solve(factor: &[Vec<f64>], b: &mut [f64]) {
    for (k, column) in factor.iter().enumerate().rev() {
        b[k] /= column[k];
        let value = b[k];
        b[..k].iter_mut().zip(column).for_each(|(b, r)| *b -= value * r);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
