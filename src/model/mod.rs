//! The model: F(A) = constant + m(A) + Σ_r F_r(A), a modular term and layers of disjoint factors.
//!
//! It is a function of *free* variables only. Pixels under hard strokes are not here: conditioning contracts them into
//! the unary, the factors and the constant ([`assemble`](crate::assemble)). So the solvers never ask whether a pixel may move.

mod layer;

pub use layer::Layer;
pub(crate) use layer::with_scratch;

use rayon::prelude::*;

use crate::kernel::logistic::softplus_sum;
use crate::{Error, Result};

/// A submodular function on variables `0..n_variables`.
#[derive(Debug)]
pub struct Model {
    unary: Vec<f64>,
    layers: Vec<Layer>,
    constant: f64,
}

impl Model {
    /// m and the layers; every layer is over the same variables, and every cost is finite.
    pub fn new(unary: Vec<f64>, layers: Vec<Layer>) -> Result<Self> {
        if let Some(m) = unary.iter().find(|m| !m.is_finite()) {
            return Err(Error::Parameter {
                name: "a unary cost".into(),
                value: m.to_string(),
                expected: "a finite number".into(),
            });
        }
        for layer in &layers {
            assert_eq!(layer.n_variables(), unary.len(), "a layer over other variables");
        }
        Ok(Self { unary, layers, constant: 0.0 })
    }

    /// The same model with `constant` added to the energy of every set.
    pub fn with_constant(self, constant: f64) -> Self {
        Self { constant, ..self }
    }

    /// Number of free variables.
    pub fn n_variables(&self) -> usize {
        self.unary.len()
    }

    /// The modular term m.
    pub fn unary(&self) -> &[f64] {
        &self.unary
    }

    /// The layers.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The layers, for another model.
    pub fn into_layers(self) -> Vec<Layer> {
        self.layers
    }

    /// F(∅): what the contracted strokes cost by themselves.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The Lovász extension without the constant, f(x) = ⟨m, x⟩ + Σ_r f_r(x).
    pub fn lovasz(&self, x: &[f64]) -> f64 {
        let modular = ordered_sum(x, &self.unary, |x, m| x * m);
        self.layers.iter().fold(modular, |sum, layer| sum + layer.lovasz(x))
    }

    /// A vertex s of B(F) with ⟨x, s⟩ = f(x): the gain of each variable when they are added in the order of falling x.
    pub fn greedy(&self, x: &[f64]) -> Vec<f64> {
        let mut vertex = self.unary.clone();
        for layer in &self.layers {
            layer.add_greedy(x, &mut vertex);
        }
        vertex
    }

    /// F(A), with the constant.
    pub fn energy(&self, set: &[bool]) -> f64 {
        let modular = ordered_sum(set, &self.unary, |inside, m| if inside { m } else { 0.0 });
        let indicator = |v: usize| f64::from(u8::from(set[v]));
        self.layers.iter().fold(self.constant + modular, |sum, layer| sum + layer.lovasz_at(indicator))
    }

    /// f(−s) + ‖s‖²: how far s ∈ B(F) can be from the point nearest to zero, half its distance squared at most.
    pub(crate) fn gap(&self, s: &[f64]) -> f64 {
        let modular = ordered_sum(s, &self.unary, |s, m| s * (s - m));
        self.layers.iter().fold(modular, |sum, layer| sum + layer.lovasz_at(|v| -s[v]))
    }

    /// E[F(A)] with the constant, under independent variables with probabilities p; an upper bound of it where a factor's table
    /// has no closed form.
    pub fn expectation(&self, p: &[f64]) -> f64 {
        let modular = ordered_sum(p, &self.unary, |p, m| p * m);
        self.layers.iter().fold(self.constant + modular, |sum, layer| sum + layer.expectation(p))
    }
}

/// Elements summed in one go; fixed, so that sums have the same bits at any number of threads.
const CHUNK: usize = 8192;

/// Σ g(aᵢ, bᵢ) in a fixed order of fixed chunks.
pub(crate) fn ordered_sum<A: Copy + Sync>(a: &[A], b: &[f64], g: impl Fn(A, f64) -> f64 + Sync) -> f64 {
    assert_eq!(a.len(), b.len(), "two vectors over the same variables");
    sum_chunks(a, b, |a, b| a.iter().zip(b).map(|(&a, &b)| g(a, b)).sum())
}

/// Σ log(1 + e^{−sᵢ}) in the same order.
pub(crate) fn ordered_softplus(s: &[f64]) -> f64 {
    sum_chunks(s, s, |s, _| softplus_sum(s.iter().map(|s| -s)))
}

fn sum_chunks<A: Sync>(a: &[A], b: &[f64], g: impl Fn(&[A], &[f64]) -> f64 + Sync) -> f64 {
    if a.len() <= CHUNK {
        return g(a, b);
    }
    let partial: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(|(a, b)| g(a, b)).collect();
    partial.iter().sum()
}
