//! Weighted projection of any factor by divide and conquer: s = argmin { Σ c_v (s_v − z_v)² : s ∈ B(F) }.
//!
//! Forget all constraints but s(V) = F(V): then c_v (s_v − z_v) is one number for all v, which gives t. If no set A has
//! F(A) < t(A), t is the answer. Otherwise take the A that minimises F(A) − t(A): the answer is tight there, s(A) = F(A), and
//! falls apart into F on A and F(A ∪ ·) − F(A) on the rest. Each split is one minimisation of F − t, and by Fujishige's
//! theorem the factor's own plain projection does it: with x = t − Π(t), the minimiser is {x > 0}. At most one split per pixel.

use super::{Factor, Scratch};

/// Relative rounding that is no violation of a constraint.
const SLACK: f64 = 1e-13;

/// point ← argmin { Σ c_v (s_v − point_v)² : s ∈ B(F) } with weights c > 0.
pub(super) fn project<F: Factor + ?Sized>(factor: &F, point: &mut [f64], weights: &[f64], scratch: &mut Scratch) {
    let n = point.len();
    let reach = reach(factor, scratch);
    // A block is a run of `order`: the pixels before it are in the sets already split off, those behind it are not.
    let mut order: Vec<usize> = (0..n).collect();
    let mut blocks = vec![(0, n)];
    while let Some((start, end)) = blocks.pop() {
        let (before, rest) = order.split_at_mut(start);
        let members = &mut rest[..end - start];
        let base = value(factor, before, &[], scratch);
        let whole = value(factor, before, members, scratch) - base;
        let sum: f64 = members.iter().map(|&v| point[v]).sum();
        let softness: f64 = members.iter().map(|&v| 1.0 / weights[v]).sum();
        let lambda = (whole - sum) / softness;
        let t: Vec<f64> = point.iter().zip(weights).map(|(z, c)| z + lambda / c).collect();

        // So far out that the other pixels stay on their side whatever the factor does.
        let far = 2.0 * (members.iter().map(|&v| t[v].abs()).fold(reach, f64::max) + reach) + 1.0;
        let mut s = vec![-far; n];
        before.iter().for_each(|&v| s[v] = far);
        members.iter().for_each(|&v| s[v] = t[v]);
        factor.project(&mut s, scratch);
        members.sort_by_key(|&v| t[v] <= s[v]);
        let above = members.partition_point(|&v| t[v] > s[v]);
        let excess: f64 = members[..above].iter().map(|&v| t[v]).sum();
        let violation = excess - (value(factor, before, &members[..above], scratch) - base);
        if above == 0 || above == members.len() || violation <= SLACK * members.len() as f64 * far {
            members.iter().for_each(|&v| point[v] = t[v]);
        } else {
            let middle = start + above;
            blocks.extend([(start, middle), (middle, end)]);
        }
    }
}

/// F of the union of two sets.
fn value<F: Factor + ?Sized>(factor: &F, a: &[usize], b: &[usize], scratch: &mut Scratch) -> f64 {
    let mut x = vec![0.0; factor.arity()];
    a.iter().chain(b).for_each(|&v| x[v] = 1.0);
    factor.lovasz(&x, scratch)
}

/// A bound of |s_v| on B(F): F(V) − F(V − v) ≤ s_v ≤ F({v}).
fn reach<F: Factor + ?Sized>(factor: &F, scratch: &mut Scratch) -> f64 {
    let n = factor.arity();
    let all = factor.lovasz(&vec![1.0; n], scratch);
    let mut x = vec![0.0; n];
    let mut reach = 0.0_f64;
    for v in 0..n {
        x[v] = 1.0;
        reach = reach.max(factor.lovasz(&x, scratch).abs());
        x.fill(1.0);
        x[v] = 0.0;
        reach = reach.max((all - factor.lovasz(&x, scratch)).abs());
        x.fill(0.0);
    }
    reach
}
