//! What messages prove, with the rounding of every step counted in.
//!
//! Let s_r be the messages of the layers, ŝ_r points of B(F_r) near them, and ŝ = m + Σ ŝ_r, which is in B(F). Every statement
//! of the [certificate](super::Certificate) is a sum over factors of terms that are not negative:
//!
//! - duality gap P(x) + ½‖ŝ‖² = ½‖x + ŝ‖² + Σ_r ( f_r(x) − ⟨x, ŝ_r⟩ ), for any x;
//! - F(A) − min F ≤ Σ_{A} max(ŝ, 0) + Σ_{V∖A} max(−ŝ, 0) + Σ_r ( F_r(A) − ŝ_r(A) ), for any A;
//! - log Z ≤ Σ log(1 + e^{−ŝ}), and this exceeds H(p) − E_p\[F\] ≤ log Z by Σ_r ( E_p\[F_r\] − ⟨p, ŝ_r⟩ ) and the divergence of the
//!   coins p from the coins 1/(1+e^ŝ), for any p.
//!
//! So nothing large cancels, whatever the size of the costs. Factors verify how far s_r is from ŝ_r ([`Factor::distance`]) instead of
//! trusting the projections, and `error` bounds |s − ŝ| for every variable. A number that overflowed proves nothing: the claim is
//! infinite.
//!
//! [`Factor::distance`]: crate::factor::Factor::distance

use rayon::prelude::*;

use super::Point;
use crate::kernel::logistic::{probability, softplus};
use crate::kernel::rounding::{EPSILON, at_least};
use crate::model::{Model, ordered_sum};

/// Messages, and how far from feasible they can be.
pub(super) struct Proof<'a> {
    model: &'a Model,
    messages: &'a [&'a [f64]],
    /// For each layer and factor.
    distances: Vec<Vec<f64>>,
    /// s, as added up by the solver.
    pub(super) s: &'a [f64],
    /// Bounds of |s − ŝ|.
    pub(super) error: Vec<f64>,
}

impl<'a> Proof<'a> {
    /// Verifies a point.
    pub(super) fn new(model: &'a Model, point: &'a Point<'a>) -> Self {
        let Point { s, messages } = point;
        let distances: Vec<Vec<f64>> =
            model.layers().iter().zip(messages).map(|(layer, message)| layer.distances(message)).collect();
        let common: f64 = distances.iter().map(|of| of.iter().copied().fold(0.0, f64::max)).sum();
        let operations = (model.layers().len() + 2) as f64;
        let one = |v: usize| {
            let mut total = model.unary()[v];
            let mut size = total.abs();
            for (layer, message) in model.layers().iter().zip(messages) {
                let part = message[layer.place(v)];
                total += part;
                size += part.abs();
            }
            let error = (s[v] - total).abs() + operations * EPSILON * size + common;
            if error.is_nan() { f64::INFINITY } else { error }
        };
        let mut error: Vec<f64> = (0..s.len()).into_par_iter().with_min_len(4096).map(one).collect();
        for &(v, off) in &model.rounding().unary {
            error[v as usize] += off;
        }
        Self { model, messages, distances, s, error }
    }

    /// At least the duality gap at x.
    pub(super) fn gap(&self, x: &[f64]) -> f64 {
        let apart = |v: usize| (x[v] + self.s[v]).abs() * (1.0 + EPSILON) + self.error[v];
        let chunk = |from: usize| (from..x.len().min(from + CHUNK)).map(|v| 0.5 * apart(v) * apart(v)).sum::<f64>();
        let chunks: Vec<f64> = (0..x.len().div_ceil(CHUNK)).into_par_iter().map(|i| chunk(i * CHUNK)).collect();
        claim(at_least(chunks.iter().sum(), x.len()) + self.slack_at(|v| x[v]))
    }

    /// At least F(A) − min F.
    pub(super) fn map_gap(&self, set: &[bool]) -> f64 {
        let beyond = |v: usize| (if set[v] { self.s[v] } else { -self.s[v] }).max(0.0) + self.error[v];
        let own = at_least((0..set.len()).map(beyond).sum(), set.len());
        claim(own + self.slack_at(|v| f64::from(u8::from(set[v]))))
    }

    /// Σ log(1 + e^{−s}), at least and at most, for s = ŝ.
    pub(super) fn log_normaliser(&self) -> (f64, f64) {
        let sum = ordered_sum(self.s, self.s, |s, _| softplus(-s));
        let off = self.error_sum() + (self.s.len() + 8) as f64 * EPSILON * sum;
        (sum - off, claim(sum + off))
    }

    /// At least Σ log(1 + e^{−ŝ}) − ( H(p) − E_p\[F\] ), for any p.
    pub(super) fn log_gap(&self, p: &[f64]) -> f64 {
        let layers = self.model.layers().iter().zip(self.messages).zip(&self.distances);
        let slack: f64 = layers.map(|((layer, message), distances)| layer.expected_slack(p, message, distances)).sum();
        let divergence = ordered_sum(p, self.s, divergence) + self.error_sum();
        claim(at_least(slack + divergence, p.len()))
    }

    /// At least max_A log Q′(A)/Q(A), Q′ with log-odds −ŝ and Q with log-odds x. A variable adds log(1+eˣ) − log(1+e^{−ŝ}) if x ≥ −ŝ and
    /// log(1+e^{−x}) − log(1+e^ŝ) if not, which is at most |x + ŝ| times the probability that goes with x.
    pub(super) fn ratio(&self, x: &[f64]) -> f64 {
        let one = |x: f64, s: f64| (x + s).abs() * probability(if x >= -s { x } else { -x });
        claim(at_least(ordered_sum(x, self.s, one) + self.error_sum(), x.len()))
    }

    /// Σ |s − ŝ|
    pub(super) fn error_sum(&self) -> f64 {
        at_least(self.error.iter().sum(), self.error.len())
    }

    fn slack_at(&self, x: impl Fn(usize) -> f64 + Sync) -> f64 {
        let layers = self.model.layers().iter().zip(self.messages).zip(&self.distances);
        let slack = layers.map(|((layer, message), distances)| layer.slack_at(&x, message, |r| distances[r]));
        at_least(slack.sum(), self.messages.len())
    }
}

/// Variables summed in one go.
const CHUNK: usize = 8192;

/// At least the divergence of the coin p from the coin with log-odds −s.
fn divergence(p: f64, s: f64) -> f64 {
    let part = |p: f64, log_p: f64, log_q: f64| match p {
        0.0 => (0.0, 0.0),
        _ => (p * (log_p - log_q), p * (log_p + log_q).abs()),
    };
    let (inside, size_inside) = part(p, p.ln(), -softplus(s));
    let (outside, size_outside) = part(1.0 - p, (-p).ln_1p(), -softplus(-s));
    (inside + outside).max(0.0) + 8.0 * EPSILON * (size_inside + size_outside)
}

/// What cannot be computed cannot be claimed.
fn claim(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}
