//! A superpixel: F(A) = h(|A|) with h concave and h(0) = 0.
//!
//! Sort x downwards; then f(x) = Σ x₍ᵢ₎ dᵢ with the gains dᵢ = h(i) − h(i−1), and the projection of z is isotonic
//! regression of z₍ᵢ₎ − dᵢ in that order. The projection, done in every sweep, avoids the sort ([`concave`]).
//!
//! A point s is in B(F) when its k largest numbers sum to at most h(k), for every k, and all of them to h(n). Where rounding broke
//! that by at most v, the differences of min(S_k, h(k)), S_k the sums, are a point of B(F) within v of s: both sequences are concave.
//!
//! The quadratic table is the paper's: c·φ(k/N) with φ(z) = z(1−z) on a superpixel of N pixels, of which k₀ are already known to be
//! foreground (strokes), so that the n ≤ N − k₀ free ones see h(k) = c(φ((k₀+k)/N) − φ(k₀/N)).

use super::{Factor, Scratch};
use crate::kernel::concave;
use crate::kernel::rounding::{EPSILON, Sum, at_least};
use crate::{Error, Result};

/// A concave function of the number of foreground pixels.
#[derive(Debug)]
pub struct Cardinality {
    arity: usize,
    gains: Gains,
}

#[derive(Clone, Debug)]
enum Gains {
    /// d_i = scale · (total − 2(known + i) + 1) for i = 1…n
    Quadratic { known: f64, total: f64, scale: f64 },
    /// d_1 ≥ d_2 ≥ …, and their sums h(0), h(1), …
    Table { gains: Vec<f64>, heights: Vec<f64> },
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
        Ok(Self { arity, gains })
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
        let sums = gains.iter().scan(Sum::default(), |height, gain| {
            height.add(*gain);
            Some(height.value())
        });
        let heights = std::iter::once(0.0).chain(sums).collect();
        Ok(Self { arity: gains.len(), gains: Gains::Table { gains, heights } })
    }

    /// g′(μ), where [`expectation`](Factor::expectation) is g(Σp) − c Σ p(1−p) with g concave and c the [`curvature`](Self::curvature).
    pub fn slope(&self, mean: f64) -> f64 {
        match &self.gains {
            Gains::Quadratic { known, total, scale } => scale * (total - 2.0 * (known + mean)),
            Gains::Table { gains, .. } => gains[(mean.max(0.0) as usize).min(gains.len() - 1)],
        }
    }

    /// c in the expectation g(Σp) − c Σ p(1−p): zero but for the quadratic table.
    pub fn curvature(&self) -> f64 {
        match &self.gains {
            Gains::Quadratic { scale, .. } => *scale,
            Gains::Table { .. } => 0.0,
        }
    }

    #[inline]
    fn gain(&self, i: usize) -> f64 {
        match &self.gains {
            Gains::Quadratic { known, total, scale } => scale * (total - 2.0 * (known + i as f64 + 1.0) + 1.0),
            Gains::Table { gains, .. } => gains[i],
        }
    }

    /// What a compensated sum of all gains can be off by, beyond its last digit.
    fn tiny(&self) -> f64 {
        let n = self.arity as f64;
        (n * EPSILON) * (n * EPSILON) * n * self.largest()
    }

    /// h(k) − h(j)
    #[inline]
    fn rise(&self, j: usize, k: usize) -> f64 {
        match &self.gains {
            Gains::Quadratic { known, total, scale } => scale * (k - j) as f64 * (total - 2.0 * known - (j + k) as f64),
            Gains::Table { gains, .. } if k == j + 1 => gains[j],
            Gains::Table { heights, .. } => heights[k] - heights[j],
        }
    }
}

impl Factor for Cardinality {
    fn arity(&self) -> usize {
        self.arity
    }

    fn prox(&self, z: &[f64], x: &mut [f64], scratch: &mut Scratch) {
        concave::prox(z, x, |j, k| self.rise(j, k), &mut scratch.concave);
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
        // Of an x with two values, a set above all, it is enough to count the higher ones.
        let (low, high) =
            x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        if x.iter().all(|&x| x == low || x == high) {
            let higher = x.iter().filter(|&&x| x == high).count();
            return low * self.rise(0, self.arity) + (high - low) * self.rise(0, higher);
        }
        let sorted = concave::sort_downwards(x, &mut scratch.concave);
        sorted.iter().enumerate().map(|(i, (x, _))| x * self.gain(i)).sum()
    }

    fn greedy(&self, x: &mut [f64], scratch: &mut Scratch) {
        let sorted = concave::sort_downwards(x, &mut scratch.concave);
        for (i, (_, place)) in sorted.iter().enumerate() {
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
            Gains::Table { gains, heights } => {
                let k = mean.clamp(0.0, self.arity as f64);
                let whole = k.floor() as usize;
                heights[whole] + (k - whole as f64) * gains.get(whole).copied().unwrap_or(0.0)
            }
        }
    }

    fn expected_gains(&self, p: &mut [f64]) {
        let (slope, c) = (self.slope(p.iter().sum()), self.curvature());
        p.iter_mut().for_each(|p| *p = slope - c * (1.0 - 2.0 * *p));
    }

    /// Gains fall, so the first or the last is the furthest from zero.
    fn largest(&self) -> f64 {
        match self.arity {
            0 => 0.0,
            n => self.gain(0).abs().max(self.gain(n - 1).abs()),
        }
    }

    fn distance(&self, s: &[f64], scratch: &mut Scratch) -> f64 {
        let mut sum = Sum::default();
        let (mut most, mut largest, mut over) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (i, (s, _)) in concave::sort_downwards(s, &mut scratch.concave).iter().enumerate() {
            sum.add(*s);
            let h = self.rise(0, i + 1);
            over = sum.value() - h;
            most = most.max(over);
            largest = largest.max(h.abs());
        }
        // The sums are concave: none is larger than this, and none further below zero than the last.
        let error = 2.0 * EPSILON * (largest + most) + sum.error() + self.tiny();
        // What is missing in the whole is shared out first, which moves every sum by as much at most.
        (most + error + 2.0 * (over.abs() + error)) * (1.0 + 8.0 * EPSILON)
    }

    /// Σ_k (h(k) − S_k)(x₍ₖ₎ − x₍ₖ₊₁₎), S_k the sum of ŝ where x is among the k largest.
    fn slack(&self, x: &[f64], s: &[f64], distance: f64, scratch: &mut Scratch) -> f64 {
        let n = self.arity;
        let tiny = self.tiny();
        let (mut sum, mut slack) = (Sum::default(), 0.0);
        for (k, pair) in (1..).zip(concave::sort_downwards(x, &mut scratch.concave).windows(2)) {
            sum.add(s[pair[0].1 as usize]);
            let h = self.rise(0, k);
            // The sum of all is off by no more than one number is.
            let off = sum.error() + 4.0 * EPSILON * h.abs() + tiny + k.min(n - k + 1) as f64 * distance;
            slack += (pair[0].0 - pair[1].0) * (h - sum.value() + off);
        }
        at_least(slack, n)
    }

    fn expected_slack(&self, p: &[f64], s: &[f64], distance: f64) -> f64 {
        let (mut product, mut products) = (0.0, 0.0);
        for (p, s) in p.iter().zip(s) {
            product += p * s;
            products += (p * s).abs();
        }
        let n = self.arity as f64;
        let heights = match &self.gains {
            // scale·k(total − k) twice, and the variance, each below a quarter of scale·total².
            Gains::Quadratic { total, scale, .. } => scale * total * total,
            Gains::Table { .. } => n * self.largest(),
        };
        let error = (2.0 * n + 8.0) * EPSILON * (products + heights) + distance * n * (1.0 + n * EPSILON);
        self.expectation(p) - product + error + n * f64::MIN_POSITIVE
    }

    fn as_cardinality(&self) -> Option<&Cardinality> {
        Some(self)
    }

    fn gains(&self) -> Option<Vec<f64>> {
        Some((0..self.arity).map(|i| self.gain(i)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::value;
    use super::*;

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

    #[test]
    fn a_table_that_is_not_concave_is_refused() {
        assert!(Cardinality::from_gains(vec![0.0, 1.0]).is_err());
        assert!(Cardinality::from_gains(vec![f64::NAN]).is_err());
    }
}
