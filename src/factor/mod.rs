//! Potentials: submodular functions on a few pixels, seen through their base polytopes.
//!
//! A factor F with F(∅) = 0 is known to the solvers only by what this trait says: B(F) = { s : s(A) ≤ F(A) for all A,
//! s(scope) = F(scope) }, its support function f (the Lovász extension), and the Euclidean projection onto it. A new potential
//! is one file here and one line in the contract test below.

mod cardinality;
mod chain;
mod divide;
mod edge;

pub use cardinality::Cardinality;
pub use chain::Chain;
pub use edge::Edge;

use crate::kernel::{concave, total_variation};

/// A submodular function F on a small scope, seen through its base polytope B(F).
pub trait Factor: std::fmt::Debug + Send + Sync {
    /// Number of pixels in the scope.
    fn arity(&self) -> usize;

    /// x ← prox_f(z) = argmin ½‖x − z‖² + f(x) = z − Π_B(F)(z)
    fn prox(&self, z: &[f64], x: &mut [f64], scratch: &mut Scratch);

    /// The same, by a factor that may keep in `memory`, one number per pixel and zeros at first, what helps it to solve the next
    /// problem if it differs little from this one. The result does not depend on it beyond rounding.
    fn prox_again(&self, z: &[f64], x: &mut [f64], memory: &mut [i8], scratch: &mut Scratch) {
        let _ = memory;
        self.prox(z, x, scratch);
    }

    /// point ← Π_B(F)(point) = point − prox_f(point)
    fn project(&self, point: &mut [f64], scratch: &mut Scratch) {
        let mut x = std::mem::take(&mut scratch.values);
        x.resize(point.len(), 0.0);
        self.prox(point, &mut x, scratch);
        point.iter_mut().zip(&x).for_each(|(p, x)| *p -= x);
        scratch.values = x;
    }

    /// point ← argmin { Σ c_v (s_v − point_v)² : s ∈ B(F) }, weights c > 0: the projection in the paper's norm of a factor graph.
    fn project_weighted(&self, point: &mut [f64], weights: &[f64], scratch: &mut Scratch) {
        if weights.windows(2).all(|c| c[0] == c[1]) {
            self.project(point, scratch);
        } else {
            divide::project(self, point, weights, scratch);
        }
    }

    /// Lovász extension f(x) = max { ⟨x, s⟩ : s ∈ B(F) }; in particular f(1_A) = F(A).
    fn lovasz(&self, x: &[f64], scratch: &mut Scratch) -> f64;

    /// Edmonds' greedy algorithm: x ← a vertex s of B(F) with ⟨x, s⟩ = f(x).
    fn greedy(&self, x: &mut [f64], scratch: &mut Scratch);

    /// E[F(A)] when every pixel is in A on its own with probability p, or an upper bound of it.
    fn expectation(&self, p: &[f64]) -> f64;

    /// p ← the derivatives of that by each probability.
    fn expected_gains(&self, p: &mut [f64]);

    /// The largest change of F that one pixel makes, up to a factor of two.
    fn largest(&self) -> f64;

    /// How far the numbers in s can be from those of a point ŝ of B(F), one by one. Projections round, so that s is in B(F) only
    /// nearly; ŝ is the point that the two methods below speak of.
    fn distance(&self, s: &[f64], scratch: &mut Scratch) -> f64;

    /// At least f(x) − ⟨x, ŝ⟩, which is never negative: zero when s is the vertex or face for x. With x = 1_A it is F(A) − ŝ(A).
    fn slack(&self, x: &[f64], s: &[f64], distance: f64, scratch: &mut Scratch) -> f64;

    /// At least E[F(A)] − ⟨p, ŝ⟩ for pixels that are in A on their own with probability p; never negative either.
    fn expected_slack(&self, p: &[f64], s: &[f64], distance: f64) -> f64;

    /// The chain behind this factor, if it is one: cut edges are also a graph, and some methods use that.
    fn as_chain(&self) -> Option<&Chain> {
        None
    }

    /// The table behind this factor, if it counts pixels and nothing else.
    fn as_cardinality(&self) -> Option<&Cardinality> {
        None
    }

    /// h(i) − h(i−1) for i = 1…n, if F(A) = h(|A|): such tables can be written as graphs.
    fn gains(&self) -> Option<Vec<f64>> {
        None
    }
}

/// Memory that projections reuse: one per thread is enough for all factors.
#[derive(Debug, Default)]
pub struct Scratch {
    tv: total_variation::Scratch,
    concave: concave::Scratch,
    values: Vec<f64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// F(A) for the set given by the bits of `set`, by way of the Lovász extension at its indicator.
    pub(crate) fn value(factor: &dyn Factor, set: usize) -> f64 {
        let x: Vec<f64> = (0..factor.arity()).map(|i| (set >> i & 1) as f64).collect();
        factor.lovasz(&x, &mut Scratch::default())
    }

    fn sum_over(s: &[f64], set: usize) -> f64 {
        s.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, s)| s).sum()
    }

    fn in_base_polytope(factor: &dyn Factor, s: &[f64]) -> bool {
        let n = factor.arity();
        (0..1 << n).all(|set| sum_over(s, set) <= value(factor, set) + 1e-9)
            && (sum_over(s, (1 << n) - 1) - value(factor, (1 << n) - 1)).abs() < 1e-9
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn factors() -> impl Strategy<Value = Box<dyn Factor>> {
        prop_oneof![
            (0.0..2.0_f64).prop_map(|w| Box::new(Edge::new(w).unwrap()) as Box<dyn Factor>),
            prop::collection::vec(0.0..2.0_f64, 0..7).prop_map(|w| Box::new(Chain::new(w).unwrap()) as Box<dyn Factor>),
            (1..8_usize, 0..3_usize, 0..3_usize, 0.0..9.0_f64)
                .prop_map(|(n, k, extra, c)| Box::new(Cardinality::quadratic(n, k, n + k + extra, c).unwrap()) as _),
            prop::collection::vec(-2.0..2.0_f64, 1..8).prop_map(|mut gains| {
                gains.sort_by(|a, b| b.total_cmp(a));
                Box::new(Cardinality::from_gains(gains).unwrap()) as _
            }),
        ]
    }

    proptest! {
        #![proptest_config(crate::cases(600))]

        #[test]
        fn every_factor_keeps_the_contract(
            factor in factors(), z in prop::collection::vec(-3.0..3.0_f64, 8), ties in any::<bool>(),
            weights in prop::collection::vec(prop_oneof![Just(1.0), Just(2.0), 0.2..5.0_f64], 8),
        ) {
            let factor = factor.as_ref();
            let n = factor.arity();
            let scratch = &mut Scratch::default();
            let mut z = z[..n].to_vec();
            if ties {
                z.iter_mut().for_each(|z| *z = z.round());
            }

            // Diminishing returns: F(A + i) − F(A) ≥ F(A + j + i) − F(A + j).
            for set in 0..1_usize << n {
                for i in (0..n).filter(|i| set >> i & 1 == 0) {
                    for j in (0..n).filter(|&j| j != i && set >> j & 1 == 0) {
                        let gain = |a: usize| value(factor, a | 1 << i) - value(factor, a);
                        prop_assert!(gain(set) >= gain(set | 1 << j) - 1e-9);
                    }
                }
            }
            prop_assert!(value(factor, 0).abs() < 1e-12);

            // p is the projection: p ∈ B(F), and z − p is normal to B(F) at p.
            let mut p = z.clone();
            factor.project(&mut p, scratch);
            prop_assert!(in_base_polytope(factor, &p));
            let x: Vec<f64> = z.iter().zip(&p).map(|(z, p)| z - p).collect();
            prop_assert!((factor.lovasz(&x, scratch) - dot(&x, &p)).abs() < 1e-9);

            // Whatever is remembered.
            let mut again = z.clone();
            let mut memory: Vec<i8> = weights[..n].iter().map(|c| (*c as i8) - 1).map(i8::signum).collect();
            for _ in 0..2 {
                factor.prox_again(&z, &mut again, &mut memory, scratch);
                prop_assert!(again.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-9));
            }

            // So is the weighted projection, in its own norm: c(z − p) is normal to B(F) at p. (The paper's factor graph and factor update.)
            let mut p = z.clone();
            factor.project_weighted(&mut p, &weights[..n], scratch);
            prop_assert!(in_base_polytope(factor, &p));
            let x: Vec<f64> = z.iter().zip(&p).zip(&weights).map(|((z, p), c)| c * (z - p)).collect();
            prop_assert!((factor.lovasz(&x, scratch) - dot(&x, &p)).abs() < 1e-9);

            // With weights that happen to be equal it is the plain one.
            let mut generic = z.clone();
            divide::project(factor, &mut generic, &vec![2.0; n], scratch);
            let mut plain = z.clone();
            factor.project(&mut plain, scratch);
            prop_assert!(generic.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-9));

            // The greedy vertex attains the support function, and no other point does better than it.
            let mut vertex = z.clone();
            factor.greedy(&mut vertex, scratch);
            prop_assert!(in_base_polytope(factor, &vertex));
            let f = factor.lovasz(&z, scratch);
            prop_assert!((f - dot(&z, &vertex)).abs() < 1e-9);
            prop_assert!(dot(&z, &p) <= f + 1e-9);

            // The expectation, against the sum over all sets; exact but for general tables, where it is an upper bound.
            let prob: Vec<f64> = z.iter().map(|z| 1.0 / (1.0 + z.exp())).collect();
            let exact: f64 = (0..1_usize << n)
                .map(|set| {
                    let chance: f64 = (0..n).map(|i| if set >> i & 1 == 1 { prob[i] } else { 1.0 - prob[i] }).product();
                    chance * value(factor, set)
                })
                .sum();
            prop_assert!(factor.expectation(&prob) >= exact - 1e-9);

            // Its derivatives, where it has any: a general table has corners at whole numbers.
            let mut slopes = prob.clone();
            factor.expected_gains(&mut slopes);
            let mean: f64 = prob.iter().sum();
            for (i, slope) in slopes.into_iter().enumerate().filter(|_| (mean - mean.round()).abs() > 1e-3) {
                let at = |by: f64| factor.expectation(&prob.iter().zip(0..).map(|(p, j)| if i == j { p + by } else { *p }).collect::<Vec<_>>());
                prop_assert!((slope - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-6);
            }
        }

        #[test]
        fn expectations_of_chains_and_quadratic_superpixels_are_exact(p in prop::collection::vec(0.0..1.0_f64, 5), k in 0..3_usize) {
            let chain = Chain::new(vec![0.3, 1.0, 0.0, 2.0]).unwrap();
            let superpixel = Cardinality::quadratic(5, k, 6 + k, 3.0).unwrap();
            for factor in [&chain as &dyn Factor, &superpixel] {
                let exact: f64 = (0..32_usize)
                    .map(|set| {
                        let chance: f64 = (0..5).map(|i| if set >> i & 1 == 1 { p[i] } else { 1.0 - p[i] }).product();
                        chance * value(factor, set)
                    })
                    .sum();
                prop_assert!((factor.expectation(&p) - exact).abs() < 1e-9);
            }
        }
    }
}
