//! The best primal point in the order of −s.
//!
//! Along a fixed order of the variables, the Lovász extension is linear on the vectors x that do not increase: f(x) = ⟨x, g⟩, g the gain
//! of each variable when they are added one by one. So the least P(x) = f(x) + ½‖x‖² among them is found by isotonic regression of −g.
//! The order taken is that of −s, which is then one of these vectors: P(x) ≤ P(−s), and in practice P(x) is far smaller.
//!
//! With the sets A_k of the first k in the order and D_k = F(A_k) − s(A_k) = Σ_{i≤k} (g_i − s_i), which is not negative, the duality gap is
//!
//! P(x) + ½‖s‖² = ½‖x + s‖² + Σ_k (x_k − x_{k+1}) D_k.

use crate::kernel::{concave, isotonic};
use crate::model::{Model, ordered_sum};

/// The point, and the order it was found in. Memory is reused from one point to the next.
#[derive(Default)]
pub(super) struct Primal {
    /// The variables by rising s.
    pub(super) order: Vec<u32>,
    /// What each adds to the energy of those before it, in that order.
    pub(super) gains: Vec<f64>,
    /// x over variables.
    pub(super) x: Vec<f64>,
    /// P(x) + ½‖s‖², as far as rounding lets it be known and s is feasible.
    pub(super) gap: f64,
    along: Vec<f64>,
    sorting: concave::Scratch,
    pooling: isotonic::Scratch,
}

impl Primal {
    /// Finds the best x in the order of −s.
    pub(super) fn find(&mut self, model: &Model, s: &[f64]) {
        let Self { order, gains, x, gap, along, sorting, pooling } = self;
        let n = s.len();
        x.clear();
        x.extend(s.iter().map(|s| -s));
        order.clear();
        order.extend(concave::sort_downwards(x, sorting).iter().map(|&(_, v)| v));
        // Ranks instead of values, so that every factor breaks ties alike.
        order.iter().enumerate().for_each(|(k, &v)| x[v as usize] = (n - k) as f64);
        let vertex = model.greedy(x);
        gains.clear();
        gains.extend(order.iter().map(|&v| vertex[v as usize]));
        along.clear();
        along.extend(gains.iter().map(|gain| -gain));
        isotonic::non_increasing(along, pooling);
        let (mut slack, mut total) = (0.0, 0.0);
        for (k, &v) in order.iter().enumerate() {
            x[v as usize] = along[k];
            slack += gains[k] - s[v as usize];
            let fall = along[k] - along.get(k + 1).unwrap_or(&along[k]);
            total += fall * f64::max(slack, 0.0);
        }
        total += ordered_sum(x, s, |x, s| 0.5 * (x + s) * (x + s));
        *gap = if total.is_nan() { f64::INFINITY } else { total };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::grid_model;
    use super::*;

    proptest! {
        #![proptest_config(crate::cases(100))]

        #[test]
        fn the_point_is_no_worse_than_any_other_in_its_order(
            m in prop::collection::vec(-3.0..3.0_f64, 12), w in prop::collection::vec(0.0..1.5_f64, 24),
            labels in prop::collection::vec(0..3_u8, 12), c in 0.0..6.0_f64, towards in prop::collection::vec(-3.0..3.0_f64, 12),
            steps in prop::collection::vec(0.0..1.0_f64, 12), ties in any::<bool>(),
        ) {
            let model = grid_model(4, 3, &m, &w, &labels, c);
            // Any vertex is feasible; with ties it is the vertex for a direction of few values.
            let towards: Vec<f64> = if ties { towards.iter().map(|t| t.round()).collect() } else { towards };
            let s = model.greedy(&towards);
            let mut primal = Primal::default();
            primal.find(&model, &s);
            let half_norm = |v: &[f64]| 0.5 * v.iter().map(|v| v * v).sum::<f64>();
            let value = |x: &[f64]| model.lovasz(x) + half_norm(x);
            let best = value(&primal.x);
            prop_assert!((best + half_norm(&s) - primal.gap).abs() < 1e-9);
            prop_assert!(best <= value(&s.iter().map(|s| -s).collect::<Vec<_>>()) + 1e-9);
            let mut other = vec![0.0; 12];
            let mut level = 3.0;
            for (&v, step) in primal.order.iter().zip(steps) {
                level -= step;
                other[v as usize] = level;
            }
            prop_assert!(best <= value(&other) + 1e-9);
            prop_assert!(primal.order.windows(2).all(|v| s[v[0] as usize] <= s[v[1] as usize]));
        }
    }
}
