//! A superpixel: F(A) = h(|A|) with h concave and h(0) = 0.
//!
//! Sort x downwards; then f(x) = Σ x₍ᵢ₎ dᵢ with the gains dᵢ = h(i) − h(i−1), and the projection of z is isotonic
//! regression of z₍ᵢ₎ − dᵢ in that order: O(n log n) for the sort, O(n) for the rest.
//!
//! The quadratic table is the paper's: c·φ(k/N) with φ(z) = z(1−z) on a superpixel of N pixels, of which k₀ are already known to be
//! foreground (strokes), so that the n ≤ N − k₀ free ones see h(k) = c(φ((k₀+k)/N) − φ(k₀/N)).

use std::sync::{Mutex, PoisonError};

use super::{Factor, Scratch};
use crate::kernel::isotonic;
use crate::{Error, Result};

/// A concave function of the number of foreground pixels.
#[derive(Debug)]
pub struct Cardinality {
    arity: usize,
    gains: Gains,
    /// The order found by the last sort: a head start for the next one, and nothing else.
    order: Mutex<Vec<u32>>,
}

#[derive(Clone, Debug)]
enum Gains {
    /// d_i = scale · (total − 2(known + i) + 1) for i = 1…n
    Quadratic { known: f64, total: f64, scale: f64 },
    /// d_1 ≥ d_2 ≥ …
    Table(Vec<f64>),
}

impl Cardinality {
    /// c·φ(k/N), φ(z) = z(1−z), on `arity` free pixels of a superpixel of `total` with `known` foreground strokes.
    pub fn quadratic(arity: usize, known: usize, total: usize, weight: f64) -> Result<Self> {
        assert!(arity + known <= total, "more pixels than the superpixel holds");
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::Parameter {
                name: "a superpixel weight".into(),
                value: weight.to_string(),
                expected: "finite and not negative".into(),
            });
        }
        let n = total as f64;
        let gains = Gains::Quadratic { known: known as f64, total: n, scale: weight / (n * n) };
        Ok(Self { arity, gains, order: Mutex::default() })
    }

    /// Any concave table, given by its gains h(i) − h(i−1), which must be finite and must not increase.
    pub fn from_gains(gains: Vec<f64>) -> Result<Self> {
        let finite = gains.iter().all(|d| d.is_finite());
        if !finite || gains.windows(2).any(|d| d[0] < d[1]) {
            return Err(Error::Parameter {
                name: "a superpixel table".into(),
                value: "not concave".into(),
                expected: "finite, with gains h(i) − h(i−1) that never increase".into(),
            });
        }
        Ok(Self { arity: gains.len(), gains: Gains::Table(gains), order: Mutex::default() })
    }

    fn sort(&self, x: &[f64], scratch: &mut Scratch) {
        // A panic elsewhere cannot leave the order wrong for long: it is only a place to start from.
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        sort_downwards(x, &mut order, &mut scratch.keys, &mut scratch.sorted);
    }

    #[inline]
    fn gain(&self, i: usize) -> f64 {
        match &self.gains {
            Gains::Quadratic { known, total, scale } => scale * (total - 2.0 * (known + i as f64 + 1.0) + 1.0),
            Gains::Table(gains) => gains[i],
        }
    }

    /// h(k), linear between whole numbers.
    fn table(&self, k: f64) -> f64 {
        match &self.gains {
            Gains::Quadratic { .. } => unreachable!("the quadratic table has closed forms"),
            Gains::Table(gains) => {
                let whole = k.floor() as usize;
                let sum: f64 = gains[..whole].iter().sum();
                sum + (k - whole as f64) * gains.get(whole).copied().unwrap_or(0.0)
            }
        }
    }
}

/// Sorts the values downwards, each with its place; equal values keep their order.
///
/// `order` is the order found last time. Between two sweeps little changes, so straight insertion from there is nearly linear;
/// when it takes more than a few moves per element, the values are sorted from scratch. The order found is the same either way.
fn sort_downwards(x: &[f64], order: &mut Vec<u32>, keys: &mut Vec<u64>, sorted: &mut Vec<(f64, u32)>) {
    const MOVES_PER_ELEMENT: usize = 6;
    if order.len() == x.len() {
        sorted.clear();
        sorted.extend(order.iter().map(|&place| (x[place as usize], place)));
        if !insert_downwards(sorted, MOVES_PER_ELEMENT * x.len()) {
            sort_from_scratch(x, keys, sorted);
        }
    } else {
        sort_from_scratch(x, keys, sorted);
    }
    order.clear();
    order.extend(sorted.iter().map(|(_, place)| place));
}

/// Straight insertion within a budget of moves; `false` when that was not enough.
fn insert_downwards(sorted: &mut [(f64, u32)], mut budget: usize) -> bool {
    let before = |a: (f64, u32), b: (f64, u32)| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1);
    for i in 1..sorted.len() {
        let moving = sorted[i];
        let mut hole = i;
        while hole > 0 && before(moving, sorted[hole - 1]) {
            sorted[hole] = sorted[hole - 1];
            hole -= 1;
        }
        sorted[hole] = moving;
        match budget.checked_sub(i - hole) {
            Some(left) => budget = left,
            None => return false,
        }
    }
    true
}

/// Whole numbers sort several times faster than pairs: the key is the value's bits, made to order like the value, with the place in
/// the lowest bits instead of the last digits. Runs that agree in all other bits are then sorted by the values themselves.
fn sort_from_scratch(x: &[f64], keys: &mut Vec<u64>, sorted: &mut Vec<(f64, u32)>) {
    let place_bits = usize::BITS - x.len().leading_zeros();
    let places = (1_u64 << place_bits) - 1;
    keys.clear();
    keys.extend(x.iter().zip(0..).map(|(x, place): (_, u64)| (falling(*x) & !places) | place));
    keys.sort_unstable();
    sorted.clear();
    sorted.extend(keys.iter().map(|key| {
        let place = (key & places) as u32;
        (x[place as usize], place)
    }));
    let mut start = 0;
    for run in keys.chunk_by(|a, b| a & !places == b & !places) {
        let end = start + run.len();
        // Equal values already stand in order of place.
        if run.len() > 1 && !sorted[start..end].is_sorted_by(|a, b| a.0 >= b.0) {
            sorted[start..end].sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        start = end;
    }
}

/// Bits that order upwards as the value orders downwards.
fn falling(x: f64) -> u64 {
    // Negative numbers order backwards by their bits, and all come before the positive ones. Minus zero is zero.
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 0 { !(bits | 1 << 63) } else { bits }
}

impl Factor for Cardinality {
    fn arity(&self) -> usize {
        self.arity
    }

    fn project(&self, point: &mut [f64], scratch: &mut Scratch) {
        self.sort(point, scratch);
        let y = &mut scratch.values;
        y.clear();
        y.extend(scratch.sorted.iter().enumerate().map(|(i, (z, _))| z - self.gain(i)));
        isotonic::non_increasing(y, &mut scratch.isotonic);
        for ((z, place), x) in scratch.sorted.iter().zip(y) {
            point[*place as usize] = z - *x;
        }
    }

    /// Divide and conquer where F − t is minimised by a prefix of the sorted t. Pixels of one weight keep their order whatever λ is, so
    /// that a block is a few sorted runs, and sorting it merges them: O(n) for each level of splits.
    fn project_weighted(&self, point: &mut [f64], weights: &[f64], scratch: &mut Scratch) {
        if weights.windows(2).all(|c| c[0] == c[1]) {
            return self.project(point, scratch);
        }
        let mut order: Vec<usize> = (0..self.arity).collect();
        order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]).then(point[b].total_cmp(&point[a])));
        let mut above = vec![false; self.arity];
        let mut sorted: Vec<(f64, usize)> = Vec::with_capacity(self.arity);
        // A block is a run of `order` that owns the gains of the same run.
        let mut blocks = vec![(0, self.arity)];
        while let Some((start, end)) = blocks.pop() {
            let members = &mut order[start..end];
            let gains: f64 = (start..end).map(|i| self.gain(i)).sum();
            let sum: f64 = members.iter().map(|&v| point[v]).sum();
            let softness: f64 = members.iter().map(|&v| 1.0 / weights[v]).sum();
            let lambda = (gains - sum) / softness;
            sorted.clear();
            sorted.extend(members.iter().map(|&v| (point[v] + lambda / weights[v], v)));
            sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (mut size, mut worst, mut violation, mut scale) = (0, 0.0, 0.0, 0.0);
            for (i, (t, _)) in sorted.iter().enumerate() {
                let gain = self.gain(start + i);
                violation += t - gain;
                scale += t.abs() + gain.abs();
                if violation > worst {
                    (size, worst) = (i + 1, violation);
                }
            }
            // What rounding can do to the sums is no violation.
            if size == 0 || size == members.len() || worst <= 1e-13 * scale {
                sorted.iter().for_each(|&(t, v)| point[v] = t);
                continue;
            }
            sorted.iter().enumerate().for_each(|(i, &(_, v))| above[v] = i < size);
            members.sort_by_key(|&v| !above[v]);
            let middle = start + size;
            blocks.extend([(start, middle), (middle, end)]);
        }
    }

    fn lovasz(&self, x: &[f64], scratch: &mut Scratch) -> f64 {
        self.sort(x, scratch);
        scratch.sorted.iter().enumerate().map(|(i, (x, _))| x * self.gain(i)).sum()
    }

    fn greedy(&self, x: &mut [f64], scratch: &mut Scratch) {
        self.sort(x, scratch);
        for (i, (_, place)) in scratch.sorted.iter().enumerate() {
            x[*place as usize] = self.gain(i);
        }
    }

    /// Exact for the quadratic table; for others h(E k), an upper bound by Jensen's inequality.
    fn expectation(&self, p: &[f64]) -> f64 {
        let mean: f64 = p.iter().sum();
        match &self.gains {
            Gains::Quadratic { known, total, scale } => {
                let variance: f64 = p.iter().map(|p| p * (1.0 - p)).sum();
                let k = known + mean;
                scale * (k * (total - k) - variance - known * (total - known))
            }
            Gains::Table(_) => self.table(mean.clamp(0.0, self.arity as f64)),
        }
    }

    fn gains(&self) -> Option<Vec<f64>> {
        Some((0..self.arity).map(|i| self.gain(i)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::value;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_printed_potential_is_zero_when_uniform_and_largest_at_half() {
        let factor = Cardinality::quadratic(8, 0, 8, 1.0).unwrap();
        let h: Vec<f64> = (0..=8).map(|k| value(&factor, (1 << k) - 1)).collect();
        for (k, h) in h.iter().enumerate() {
            let z = k as f64 / 8.0;
            assert!((h - z * (1.0 - z)).abs() < 1e-15);
        }
        assert!(h.iter().all(|&v| v <= h[4]));
    }

    proptest! {
        #[test]
        fn whole_numbers_sort_like_the_values(x in prop::collection::vec(prop_oneof![-3.0..3.0_f64, -1e-300..1e300_f64], 0..70), near in any::<bool>()) {
            // Also values that differ only in the digits the place has taken.
            let x: Vec<f64> = x.iter().map(|x| if near { 1.0 + (x % 40.0).round() * f64::EPSILON } else { *x }).collect();
            let mut twin: Vec<(f64, u32)> = x.iter().copied().zip(0..).collect();
            twin.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut sorted = Vec::new();
            sort_from_scratch(&x, &mut Vec::new(), &mut sorted);
            prop_assert_eq!(&sorted, &twin);
            // From a good start, a bad one, and none.
            let right: Vec<u32> = twin.iter().map(|(_, place)| *place).collect();
            let wrong = right.iter().rev().copied().collect();
            for mut order in [right.clone(), wrong, Vec::new()] {
                sort_downwards(&x, &mut order, &mut Vec::new(), &mut sorted);
                prop_assert_eq!(&sorted, &twin);
                prop_assert_eq!(&order, &right);
            }
        }
    }

    #[test]
    fn a_table_that_is_not_concave_is_refused() {
        assert!(Cardinality::from_gains(vec![0.0, 1.0]).is_err());
        assert!(Cardinality::from_gains(vec![f64::NAN]).is_err());
    }
}
