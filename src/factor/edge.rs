//! A single cut edge: F(A) = w [a ∈ A ≠ b ∈ A], f(x) = w·abs(x_a − x_b).
//!
//! B(F) = { (u, −u) : |u| ≤ w } is a segment, so both projections are closed forms: the nearest u on the line, clamped. This is
//! the factor of the paper's own graph; the fast path joins edges into chains.

use super::{Chain, Factor, Scratch};
use crate::Result;

/// Two pixels joined by a non-negative weight.
#[derive(Clone, Debug)]
pub struct Edge {
    /// A chain of two: an edge differs only in how it projects.
    chain: Chain,
}

impl Edge {
    /// An edge; its weight must be finite and not negative.
    pub fn new(weight: f64) -> Result<Self> {
        Ok(Self { chain: Chain::new(vec![weight])? })
    }

    /// The weight.
    pub fn weight(&self) -> f64 {
        self.chain.weights()[0]
    }
}

impl Factor for Edge {
    fn arity(&self) -> usize {
        2
    }

    fn prox(&self, z: &[f64], x: &mut [f64], _: &mut Scratch) {
        let u = (0.5 * (z[0] - z[1])).clamp(-self.weight(), self.weight());
        x.copy_from_slice(&[z[0] - u, z[1] + u]);
    }

    fn project(&self, point: &mut [f64], _: &mut Scratch) {
        let u = (0.5 * (point[0] - point[1])).clamp(-self.weight(), self.weight());
        point.copy_from_slice(&[u, -u]);
    }

    fn project_weighted(&self, point: &mut [f64], weights: &[f64], _: &mut Scratch) {
        let mean = (weights[0] * point[0] - weights[1] * point[1]) / (weights[0] + weights[1]);
        let u = mean.clamp(-self.weight(), self.weight());
        point.copy_from_slice(&[u, -u]);
    }

    fn lovasz(&self, x: &[f64], scratch: &mut Scratch) -> f64 {
        self.chain.lovasz(x, scratch)
    }

    fn greedy(&self, x: &mut [f64], scratch: &mut Scratch) {
        self.chain.greedy(x, scratch);
    }

    fn expectation(&self, p: &[f64]) -> f64 {
        self.chain.expectation(p)
    }

    fn expected_gains(&self, p: &mut [f64]) {
        self.chain.expected_gains(p);
    }

    fn largest(&self) -> f64 {
        self.weight()
    }

    fn distance(&self, s: &[f64], scratch: &mut Scratch) -> f64 {
        self.chain.distance(s, scratch)
    }

    fn slack(&self, x: &[f64], s: &[f64], distance: f64, scratch: &mut Scratch) -> f64 {
        self.chain.slack(x, s, distance, scratch)
    }

    fn expected_slack(&self, p: &[f64], s: &[f64], distance: f64) -> f64 {
        self.chain.expected_slack(p, s, distance)
    }

    fn as_chain(&self) -> Option<&Chain> {
        Some(&self.chain)
    }
}
