//! A bound for every variable: where the solution can be, from what s proves about each of its level sets.
//!
//! {x* > λ} minimises F(A) + λ|A|. Of A = {−s > λ} it is known that F(A) + λ|A| is above the least by at most D = F(A) − s(A). A set that
//! differs from A at v costs at least |s_v + λ| more than the lower bound that s gives, so it is no minimiser unless |s_v + λ| ≤ D.
//! Hence x*_v ≥ λ where −s_v ≥ λ + D, and x*_v ≤ λ where −s_v ≤ λ − D: this is the argument of the exact mask ([`map`](super::map)) for all
//! levels at once.
//!
//! With the variables in the order of −s, A is one of the sets A_k of the first k, for λ between the values of −s on its two sides, and
//! D_k the sum of the first k gains less s. For each variable the nearest k on either side that proves something is found in one scan,
//! since it moves along with the order.

use super::primal::Primal;
use super::proof::Proof;
use crate::kernel::rounding::{EPSILON, Sum};
use crate::model::Model;

/// For each variable, how far x* can be from x: never more than `most`, which holds for all of them.
pub(super) fn bounds(model: &Model, proof: &Proof<'_>, primal: &Primal, most: f64) -> Vec<f64> {
    let order = &primal.order;
    let n = order.len();
    let slack = slack(model, proof, primal);
    let value = |k: usize| -proof.s[order[k] as usize];
    let off = |k: usize| proof.error[order[k] as usize];
    let mut bounds = vec![0.0; n];

    // Below: the smallest set A_k, thus the highest level, with D_k ≤ −s_v − λ for some λ between its sides.
    let mut k = 0;
    for (i, &v) in order.iter().enumerate() {
        let y = value(i) - off(i);
        let floor = |k: usize| if k < n { value(k) } else { f64::NEG_INFINITY };
        let proves = |k: usize| floor(k) + slack[k] <= y;
        while k <= n && !proves(k) {
            k += 1;
        }
        let least = match k {
            0 => y - slack[0],
            k if k <= n => (y - slack[k]).min(value(k - 1)),
            _ => f64::NEG_INFINITY,
        };
        bounds[v as usize] = primal.x[v as usize] - least;
    }
    // Above, likewise from the other end.
    let mut k = n;
    for (i, &v) in order.iter().enumerate().rev() {
        let y = value(i) + off(i);
        let ceiling = |k: usize| if k > 0 { value(k - 1) } else { f64::INFINITY };
        let proves = |k: usize| ceiling(k) - slack[k] >= y;
        while k > 0 && !proves(k) {
            k -= 1;
        }
        let largest = if k < n { (y + slack[k]).max(value(k)) } else { y + slack[k] };
        let bound = &mut bounds[v as usize];
        *bound = bound.max(largest - primal.x[v as usize]);
    }
    for (bound, x) in bounds.iter_mut().zip(&primal.x) {
        let rounded = (*bound + 4.0 * EPSILON * (bound.abs() + x.abs())).max(0.0);
        // No number is no bound.
        *bound = if rounded <= most { rounded } else { most };
    }
    bounds
}

/// At least D_k = F(A_k) − ŝ(A_k), for k = 0…n.
fn slack(model: &Model, proof: &Proof<'_>, primal: &Primal) -> Vec<f64> {
    let factors: f64 = model
        .layers()
        .iter()
        .map(|layer| layer.factors().iter().map(|factor| factor.largest()).fold(0.0, f64::max))
        .sum();
    let operations = (2 * model.layers().len() + 8) as f64;
    let largest = proof.s.iter().fold(0.0_f64, |largest, s| largest.max(s.abs()));
    // ŝ is that far from s, in the sums and on the sides of a level; levels themselves are rounded.
    let mut off = 2.0 * proof.error_sum() + 4.0 * EPSILON * largest;
    let mut sum = Sum::default();
    let mut slack = Vec::with_capacity(primal.order.len() + 1);
    slack.push(off);
    for (&v, &gain) in primal.order.iter().zip(&primal.gains) {
        let v = v as usize;
        sum.add(gain);
        sum.add(-proof.s[v]);
        // A gain adds up numbers of this size.
        off += operations * EPSILON * (model.unary()[v].abs() + 2.0 * factors);
        let total = sum.value().max(0.0) + sum.error() + off * (1.0 + slack.len() as f64 * EPSILON);
        slack.push(if total.is_nan() { f64::INFINITY } else { total });
    }
    slack
}
