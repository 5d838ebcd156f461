//! A layer: disjoint factors that together cover every variable once.
//!
//! All rows, all columns, one scale of superpixels. Vectors over a layer are stored in *layer order*, scope after scope, so that
//! projecting a layer is a parallel loop over contiguous blocks; `order` and `rank` lead to and from the order of variables.
//! Every loop over factors splits in the same places whatever the number of threads.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use rayon::prelude::*;

use crate::factor::{Chain, Factor, Scratch};
use crate::kernel::rounding::{EPSILON, at_least};

/// Disjoint factors that cover all variables.
#[derive(Debug)]
pub struct Layer {
    factors: Vec<Box<dyn Factor>>,
    /// Factor r owns places `starts[r]..starts[r + 1]` of the layer order.
    starts: Vec<usize>,
    /// `None` when the layer order is the order of the variables.
    permutation: Option<Permutation>,
}

#[derive(Debug)]
struct Permutation {
    /// The variable at each place.
    order: Vec<u32>,
    /// The place of each variable.
    rank: Vec<u32>,
}

impl Layer {
    /// Factors with their scopes, among `n_variables`. Variables outside all scopes get a factor that is zero.
    ///
    /// # Panics
    /// When scopes overlap, leave the range, or do not have the arity of their factor.
    pub fn new(n_variables: usize, factors: Vec<(Vec<u32>, Box<dyn Factor>)>) -> Self {
        let mut order = Vec::with_capacity(n_variables);
        let mut starts = vec![0];
        let mut boxed = Vec::with_capacity(factors.len());
        for (scope, factor) in factors {
            assert_eq!(scope.len(), factor.arity(), "a scope of another size than its factor");
            if scope.is_empty() {
                continue;
            }
            order.extend(scope);
            starts.push(order.len());
            boxed.push(factor);
        }
        let mut rank = vec![u32::MAX; n_variables];
        let place = |order: &[u32], rank: &mut [u32], from: usize| {
            for (place, &variable) in order.iter().enumerate().skip(from) {
                assert_eq!(rank[variable as usize], u32::MAX, "variable {variable} is in two scopes of one layer");
                rank[variable as usize] = place as u32;
            }
        };
        place(&order, &mut rank, 0);
        let covered = order.len();
        order.extend((0..n_variables as u32).filter(|&v| rank[v as usize] == u32::MAX));
        if order.len() > covered {
            place(&order, &mut rank, covered);
            starts.push(order.len());
            let zero = Chain::new(vec![0.0; order.len() - covered - 1]).expect("zero is a weight");
            boxed.push(Box::new(zero));
        }
        let in_order = order.iter().enumerate().all(|(place, &variable)| place == variable as usize);
        let permutation = (!in_order).then_some(Permutation { order, rank });
        Self { factors: boxed, starts, permutation }
    }

    /// Number of variables, all of them covered.
    pub fn n_variables(&self) -> usize {
        *self.starts.last().expect("starts begin with 0")
    }

    /// The factors, in layer order.
    pub fn factors(&self) -> &[Box<dyn Factor>] {
        &self.factors
    }

    /// Where each factor begins in the layer order, and where the last one ends.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The variable at a place of the layer order.
    #[inline]
    pub fn variable(&self, place: usize) -> usize {
        self.permutation.as_ref().map_or(place, |p| p.order[place] as usize)
    }

    /// The place of a variable in the layer order.
    #[inline]
    pub fn place(&self, variable: usize) -> usize {
        self.permutation.as_ref().map_or(variable, |p| p.rank[variable] as usize)
    }

    /// Where `earlier` keeps the variable at each place of this layer; `None` when at the same place.
    pub(crate) fn source<'a>(&'a self, earlier: &'a Layer) -> Option<Cow<'a, [u32]>> {
        match (&self.permutation, &earlier.permutation) {
            (None, None) => None,
            (Some(own), None) => Some(Cow::Borrowed(&own.order)),
            (None, Some(theirs)) => Some(Cow::Borrowed(&theirs.rank)),
            (Some(own), Some(theirs)) if own.order == theirs.order => None,
            (Some(own), Some(theirs)) => Some(own.order.par_iter().map(|&v| theirs.rank[v as usize]).collect()),
        }
    }

    /// Σ_r f_r(x), x over variables.
    pub fn lovasz(&self, x: &[f64]) -> f64 {
        self.total(|v| x[v], |r, x, scratch| self.factors[r].lovasz(x, scratch))
    }

    /// Σ_r F_r(A), and how far rounding can have moved it.
    pub(crate) fn energy_and_error(&self, set: &[bool]) -> (f64, f64) {
        let indicator = |v: usize| f64::from(u8::from(set[v]));
        let values = self.values(indicator, |r, x, scratch| self.factors[r].lovasz(x, scratch));
        // A factor adds up its own terms, which have one sign or are one.
        let arities = self.starts.windows(2).map(|range| range[1] - range[0]);
        let own: f64 = values.iter().zip(arities).map(|(value, n)| (n + 8) as f64 * EPSILON * value.abs()).sum();
        let sums = values.len() as f64 * EPSILON * values.iter().map(|value| value.abs()).sum::<f64>();
        (values.iter().sum(), own + sums)
    }

    /// Σ_r E\[F_r\], p over variables.
    pub fn expectation(&self, p: &[f64]) -> f64 {
        self.total(|v| p[v], |r, p, _| self.factors[r].expectation(p))
    }

    /// For each factor, how far its part of `message`, in layer order, can be from its base polytope.
    pub(crate) fn distances(&self, message: &[f64]) -> Vec<f64> {
        self.each(|r| {
            let s = &message[self.starts[r]..self.starts[r + 1]];
            with_scratch(|scratch, _| self.factors[r].distance(s, scratch))
        })
    }

    /// At least Σ_r f_r(x) − ⟨x, ŝ_r⟩, x by variable, ŝ_r the points of the base polytopes that `message` stands for.
    pub(crate) fn slack_at(
        &self,
        x: impl Fn(usize) -> f64 + Sync,
        message: &[f64],
        distance: impl Fn(usize) -> f64 + Sync,
    ) -> f64 {
        let slack = self.total(x, |r, x, scratch| {
            let s = &message[self.starts[r]..self.starts[r + 1]];
            self.factors[r].slack(x, s, distance(r), scratch)
        });
        at_least(slack, self.factors.len())
    }

    /// At least Σ_r E\[F_r\] − ⟨p, ŝ_r⟩, likewise.
    pub(crate) fn expected_slack(&self, p: &[f64], message: &[f64], distances: &[f64]) -> f64 {
        let slack = self.total(
            |v| p[v],
            |r, p, _| {
                let s = &message[self.starts[r]..self.starts[r + 1]];
                self.factors[r].expected_slack(p, s, distances[r])
            },
        );
        at_least(slack, self.factors.len())
    }

    /// A vertex of the layer's base polytope for x, which is over variables; the vertex in layer order.
    pub(crate) fn greedy(&self, x: &[f64]) -> Vec<f64> {
        self.map_scopes(x, |factor, x, scratch| factor.greedy(x, scratch))
    }

    /// ∂E\[F_r\]/∂p, p over variables; the derivatives in layer order.
    pub(crate) fn expected_gains(&self, p: &[f64]) -> Vec<f64> {
        self.map_scopes(p, |factor, p, _| factor.expected_gains(p))
    }

    /// x brought into layer order, with `work` done on the part of each factor.
    fn map_scopes(&self, x: &[f64], work: impl Fn(&dyn Factor, &mut [f64], &mut Scratch) + Sync) -> Vec<f64> {
        let mut values = vec![0.0; x.len()];
        self.map_some(x, 0..self.factors.len(), &mut values, &work);
        values
    }

    fn map_some(
        &self,
        x: &[f64],
        factors: Range<usize>,
        values: &mut [f64],
        work: &(impl Fn(&dyn Factor, &mut [f64], &mut Scratch) + Sync),
    ) {
        let starts = &self.starts[factors.start..=factors.end];
        if factors.len() > 1 && values.len() > SMALL {
            let (middle, at) = halve(starts);
            let (values, rest) = values.split_at_mut(at);
            let middle = factors.start + middle;
            rayon::join(
                || self.map_some(x, factors.start..middle, values, work),
                || self.map_some(x, middle..factors.end, rest, work),
            );
            return;
        }
        let mut rest = values;
        for (factor, range) in self.factors[factors].iter().zip(starts.windows(2)) {
            let part;
            (part, rest) = rest.split_at_mut(range[1] - range[0]);
            match &self.permutation {
                None => part.copy_from_slice(&x[range[0]..range[1]]),
                Some(p) => {
                    part.iter_mut().zip(&p.order[range[0]..range[1]]).for_each(|(value, &v)| *value = x[v as usize]);
                }
            }
            with_scratch(|scratch, _| work(factor.as_ref(), part, scratch));
        }
    }

    fn total(&self, x: impl Fn(usize) -> f64 + Sync, value: impl Fn(usize, &[f64], &mut Scratch) -> f64 + Sync) -> f64 {
        self.values(x, value).iter().sum()
    }

    /// `value` of each factor, given x on its scope.
    fn values(
        &self,
        x: impl Fn(usize) -> f64 + Sync,
        value: impl Fn(usize, &[f64], &mut Scratch) -> f64 + Sync,
    ) -> Vec<f64> {
        self.each(|r| {
            let places = self.starts[r]..self.starts[r + 1];
            with_scratch(|scratch, local| {
                local.clear();
                match &self.permutation {
                    None => local.extend(places.map(&x)),
                    Some(p) => local.extend(p.order[places].iter().map(|&v| x(v as usize))),
                }
                value(r, local, scratch)
            })
        })
    }

    /// One number per factor.
    fn each(&self, one: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let n = self.factors.len();
        if self.n_variables() <= SMALL {
            return (0..n).map(&one).collect();
        }
        (0..n).into_par_iter().with_min_len(n.div_ceil(64)).map(&one).collect()
    }
}

/// Where to split factors in two, near the middle of their places: how many factors and how many places come first. `starts` holds
/// where each factor begins and where the last one ends, of at least two.
pub(crate) fn halve(starts: &[usize]) -> (usize, usize) {
    let n_factors = starts.len() - 1;
    let half = starts[0].midpoint(starts[n_factors]);
    let middle = starts.partition_point(|&start| start < half).clamp(1, n_factors - 1);
    (middle, starts[middle] - starts[0])
}

/// Up to this many variables, handing work to other threads costs more than the work.
const SMALL: usize = 4096;

/// Lends the thread's scratch memory. It is taken away meanwhile: a task that this thread steals while `work` waits for others has to
/// do with fresh memory.
pub(crate) fn with_scratch<R>(work: impl FnOnce(&mut Scratch, &mut Vec<f64>) -> R) -> R {
    thread_local! {
        static MEMORY: RefCell<(Scratch, Vec<f64>)> = RefCell::default();
    }
    let (mut scratch, mut local) = MEMORY.take();
    let result = work(&mut scratch, &mut local);
    MEMORY.set((scratch, local));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_outside_all_scopes_are_covered_by_a_zero_factor() {
        let pair = Chain::new(vec![2.0]).unwrap();
        let layer = Layer::new(4, vec![(vec![3, 1], Box::new(pair))]);
        assert_eq!(layer.n_variables(), 4);
        assert_eq!((0..4).map(|place| layer.variable(place)).collect::<Vec<_>>(), [3, 1, 0, 2]);
        assert_eq!((0..4).map(|v| layer.variable(layer.place(v))).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(layer.lovasz(&[5.0, 1.0, -9.0, 0.5]), 1.0);
    }

    #[test]
    #[should_panic(expected = "two scopes")]
    fn overlapping_scopes_are_a_bug() {
        let pair = || Box::new(Chain::new(vec![2.0]).unwrap());
        Layer::new(3, vec![(vec![0, 1], pair()), (vec![1, 2], pair())]);
    }
}
