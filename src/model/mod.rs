//! The model: F(A) = constant + m(A) + Σ_r F_r(A), a modular term and layers of disjoint factors.
//!
//! It is a function of *free* variables only. Pixels under hard strokes are not here: conditioning contracts them into
//! the unary, the factors and the constant ([`assemble`](crate::assemble)). So the solvers never ask whether a pixel may move.

mod layer;

pub use layer::Layer;
pub(crate) use layer::{halve, with_scratch};

use std::sync::Arc;

use rayon::prelude::*;

use crate::kernel::logistic::softplus_sum;
use crate::kernel::rounding::EPSILON;
use crate::{Error, Result};

/// A submodular function on variables `0..n_variables`.
#[derive(Debug)]
pub struct Model {
    unary: Vec<f64>,
    layers: Arc<Vec<Layer>>,
    constant: f64,
    rounding: Rounding,
}

/// How far the numbers of a model are from those it was made from, where it was made with rounding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounding {
    /// Variables whose unary is off by up to this.
    pub(crate) unary: Vec<(u32, f64)>,
    /// By how much the constant may be off.
    pub(crate) constant: f64,
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
        Ok(Self { unary, layers: Arc::new(layers), constant: 0.0, rounding: Rounding::default() })
    }

    /// The same model with `constant` added to the energy of every set.
    pub fn with_constant(self, constant: f64) -> Self {
        Self { constant, ..self }
    }

    /// F(A) + λ·(|A| + `known`): a model with the same layers, in which `known` variables that were contracted count as inside.
    pub(crate) fn with_bias(&self, bias: f64, known: usize) -> Self {
        let unary: Vec<f64> = self.unary.iter().map(|m| m + bias).collect();
        let added = bias * known as f64;
        let mut rounding = self.rounding.clone();
        rounding.constant += EPSILON * (2.0 * added.abs() + self.constant.abs());
        Self { unary, layers: Arc::clone(&self.layers), constant: self.constant + added, rounding }
    }

    /// The same model with what making it has rounded away.
    pub(crate) fn with_rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }

    /// What making the model has rounded away.
    pub(crate) fn rounding(&self) -> &Rounding {
        &self.rounding
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
    ///
    /// # Panics
    /// While another model has the same ones.
    pub fn into_layers(self) -> Vec<Layer> {
        Arc::into_inner(self.layers).expect("no other model holds these layers")
    }

    /// F(∅): what the contracted strokes cost by themselves.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The largest cost of a variable, of an edge, or of adding a variable to a superpixel.
    pub(crate) fn largest(&self) -> f64 {
        let factors = self.layers.iter().flat_map(Layer::factors).map(|factor| factor.largest());
        self.unary.iter().map(|m| m.abs()).chain(factors).fold(0.0, f64::max)
    }

    /// How far rounding can move an energy, an expected energy or an entropy of this model when it is added up in any order.
    pub(crate) fn rounding_of_sums(&self) -> f64 {
        let factors = self.layers.iter().flat_map(Layer::factors);
        let size: f64 = factors.map(|factor| factor.arity() as f64 * factor.largest()).sum();
        let size = size + self.unary.iter().map(|m| m.abs()).sum::<f64>() + self.constant.abs();
        let n = self.n_variables() as f64;
        let error = (n + 16.0) * EPSILON * (size + n) + self.rounding.constant;
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// The Lovász extension without the constant, f(x) = ⟨m, x⟩ + Σ_r f_r(x).
    pub fn lovasz(&self, x: &[f64]) -> f64 {
        let modular = ordered_sum(x, &self.unary, |x, m| x * m);
        self.layers.iter().fold(modular, |sum, layer| sum + layer.lovasz(x))
    }

    /// A vertex s of B(F) with ⟨x, s⟩ = f(x): the gain of each variable when they are added in the order of falling x.
    pub fn greedy(&self, x: &[f64]) -> Vec<f64> {
        self.total(&self.greedy_messages(x))
    }

    /// What that vertex is the sum of, but for m: a vertex of every layer, in layer order.
    pub(crate) fn greedy_messages(&self, x: &[f64]) -> Vec<Vec<f64>> {
        self.layers.iter().map(|layer| layer.greedy(x)).collect()
    }

    /// ∂E[F(A)]/∂p under independent variables with probabilities p: what a variable adds to the energy when the others are drawn.
    pub(crate) fn expected_gains(&self, p: &[f64]) -> Vec<f64> {
        let layers: Vec<Vec<f64>> = self.layers.iter().map(|layer| layer.expected_gains(p)).collect();
        self.total(&layers)
    }

    /// s = m + Σ_r s_r over variables, from one message per layer in layer order.
    pub(crate) fn total(&self, messages: &[impl AsRef<[f64]> + Sync]) -> Vec<f64> {
        let mut total = vec![0.0; self.n_variables()];
        self.total_into(messages, &mut total);
        total
    }

    /// The same into memory that is there.
    pub(crate) fn total_into(&self, messages: &[impl AsRef<[f64]> + Sync], total: &mut [f64]) {
        total.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, total)| {
            let from = chunk * CHUNK;
            total.copy_from_slice(&self.unary[from..from + total.len()]);
            for (layer, message) in self.layers.iter().zip(messages) {
                let message = message.as_ref();
                for (i, t) in total.iter_mut().enumerate() {
                    *t += message[layer.place(from + i)];
                }
            }
        });
    }

    /// F(A), with the constant.
    pub fn energy(&self, set: &[bool]) -> f64 {
        self.energy_and_error(set).0
    }

    /// F(A), with the constant, and how far rounding can have moved it.
    pub(crate) fn energy_and_error(&self, set: &[bool]) -> (f64, f64) {
        let modular = |g: fn(f64) -> f64| ordered_sum(set, &self.unary, |inside, m| if inside { g(m) } else { 0.0 });
        let mut energy = self.constant + modular(|m| m);
        let n = self.n_variables();
        let mut error = self.rounding.constant + (CHUNK.min(n) + n / CHUNK) as f64 * EPSILON * modular(f64::abs);
        let mut size = energy.abs();
        for layer in self.layers.iter() {
            let (value, value_error) = layer.energy_and_error(set);
            energy += value;
            error += value_error;
            size += value.abs();
        }
        error += (self.layers.len() + 8) as f64 * EPSILON * (size + self.constant.abs());
        error += self.rounding.unary.iter().filter(|(v, _)| set[*v as usize]).map(|(_, off)| off).sum::<f64>();
        (energy, if error.is_nan() { f64::INFINITY } else { error })
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
