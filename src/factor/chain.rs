//! A chain of pixels joined by cut edges: F(A) = Σ wᵢ [i ∈ A ≠ i+1 ∈ A], f(x) = Σ wᵢ |xᵢ − xᵢ₊₁|.
//!
//! B(F) is what flows along the edges can bring about: sᵢ = uᵢ − uᵢ₋₁ with |uᵢ| ≤ wᵢ. So a point proves its own feasibility: its sums
//! from the left are the flow, and f(x) − ⟨x, s⟩ = Σ wᵢ|xᵢ − xᵢ₊₁| − uᵢ(xᵢ − xᵢ₊₁), no term of which is negative.
//!
//! Projection is one weighted 1-D total-variation problem ([`total_variation`]), exact and linear in the length. A zero weight
//! simply cuts the chain, which is how strokes are taken out of a row.

use super::{Factor, Scratch};
use crate::kernel::rounding::{EPSILON, at_least};
use crate::kernel::total_variation;
use crate::{Error, Result};

/// Neighbours along a line, joined by non-negative weights.
#[derive(Clone, Debug)]
pub struct Chain {
    weights: Vec<f64>,
}

impl Chain {
    /// A chain of `weights.len() + 1` pixels. Weights must be finite and not negative.
    pub fn new(weights: Vec<f64>) -> Result<Self> {
        match weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            None => Ok(Self { weights }),
            Some(w) => Err(Error::Parameter {
                name: "an edge weight".into(),
                value: w.to_string(),
                expected: "finite and not negative".into(),
            }),
        }
    }

    /// The weights, one per pair of neighbours.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The flow over each edge that brings s about, as far as the weights allow.
    fn flows(&self, s: &[f64]) -> impl Iterator<Item = f64> {
        self.weights.iter().zip(s).scan(0.0_f64, |flow, (&w, s)| {
            *flow = (*flow + s).clamp(-w, w);
            Some(*flow)
        })
    }
}

impl Factor for Chain {
    fn arity(&self) -> usize {
        self.weights.len() + 1
    }

    fn prox(&self, z: &[f64], x: &mut [f64], scratch: &mut Scratch) {
        total_variation::solve(z, &self.weights, x, &mut scratch.tv);
    }

    fn prox_again(&self, z: &[f64], x: &mut [f64], memory: &mut [i8], scratch: &mut Scratch) {
        total_variation::again::solve(z, &self.weights, x, memory, &mut scratch.tv);
    }

    fn lovasz(&self, x: &[f64], _: &mut Scratch) -> f64 {
        x.windows(2).zip(&self.weights).map(|(x, w)| w * (x[0] - x[1]).abs()).sum()
    }

    fn greedy(&self, x: &mut [f64], _: &mut Scratch) {
        let mut inflow = 0.0;
        for (i, w) in self.weights.iter().enumerate() {
            // The edge sends its whole weight from the higher end to the lower; level ends take it from the first in order.
            let outflow = if x[i] >= x[i + 1] { *w } else { -w };
            x[i] = outflow - inflow;
            inflow = outflow;
        }
        if let Some(last) = x.last_mut() {
            *last = -inflow;
        }
    }

    fn expectation(&self, p: &[f64]) -> f64 {
        p.windows(2).zip(&self.weights).map(|(p, w)| w * (p[0] * (1.0 - p[1]) + p[1] * (1.0 - p[0]))).sum()
    }

    fn expected_gains(&self, p: &mut [f64]) {
        let mut from_left = 0.0;
        for i in 0..p.len() {
            let from_right = p.get(i + 1).map_or(0.0, |right| self.weights[i] * (1.0 - 2.0 * right));
            let to_right = self.weights.get(i).map_or(0.0, |w| w * (1.0 - 2.0 * p[i]));
            p[i] = from_left + from_right;
            from_left = to_right;
        }
    }

    fn largest(&self) -> f64 {
        self.weights.iter().copied().fold(0.0, f64::max)
    }

    fn distance(&self, s: &[f64], _: &mut Scratch) -> f64 {
        let mut inflow = 0.0_f64;
        let mut worst = 0.0_f64;
        for (s, outflow) in s.iter().zip(self.flows(s).chain([0.0])) {
            let off = (s - (outflow - inflow)).abs() + 2.0 * EPSILON * (outflow.abs() + inflow.abs());
            worst = worst.max(off);
            inflow = outflow;
        }
        worst
    }

    fn slack(&self, x: &[f64], s: &[f64], _: f64, _: &mut Scratch) -> f64 {
        let term = |((x, flow), w): ((&[f64], f64), &f64)| {
            let fall = x[0] - x[1];
            if fall >= 0.0 { fall * (w - flow) } else { -fall * (w + flow) }
        };
        at_least(x.windows(2).zip(self.flows(s)).zip(&self.weights).map(term).sum(), x.len())
    }

    fn expected_slack(&self, p: &[f64], s: &[f64], _: f64) -> f64 {
        let term =
            |((p, flow), w): ((&[f64], f64), &f64)| p[0] * (1.0 - p[1]) * (w - flow) + p[1] * (1.0 - p[0]) * (w + flow);
        at_least(p.windows(2).zip(self.flows(s)).zip(&self.weights).map(term).sum(), p.len())
    }

    fn as_chain(&self) -> Option<&Chain> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_weights_are_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Chain::new(vec![1.0, bad]).is_err());
        }
    }
}
