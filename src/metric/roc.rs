//! Receiver operating characteristic: how well the order of the probabilities separates the classes, at every threshold at once.
//!
//! AUC = P(p of a foreground pixel > p of a background pixel) + ½ P(equal), the rank statistic of Mann and Whitney. Pixels
//! of equal p pass a threshold together, so the curve runs straight across a tie and no order within it can matter. Areas are counted
//! in half unit squares, in whole numbers: the AUC is exact up to one division.

use serde::{Deserialize, Serialize};

/// Ranks pixels by `order`, the largest first; hands `visit` one group of equal values after the other.
pub(super) fn by_rank(order: &[f64], scored: impl Fn(usize) -> bool, mut visit: impl FnMut(&[u32])) {
    let mut ranked: Vec<(u64, u32)> =
        (0..order.len()).filter(|&pixel| scored(pixel)).map(|pixel| (descending(order[pixel]), pixel as u32)).collect();
    ranked.sort_unstable();
    let mut group = Vec::new();
    for tie in ranked.chunk_by(|a, b| a.0 == b.0) {
        group.clear();
        group.extend(tie.iter().map(|&(_, pixel)| pixel));
        visit(&group);
    }
}

/// A number that is the smaller the larger `value` is, in the order of `total_cmp` but for the zeros, which are equal.
fn descending(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 0 { !bits & (u64::MAX >> 1) } else { bits }
}

/// Area under the curve of one set of pixels, group by group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Area {
    positives: u64,
    negatives: u64,
    half_squares: u128,
}

impl Area {
    /// Takes the next group of equal values.
    pub(super) fn add(&mut self, positives: u64, negatives: u64) {
        self.half_squares += u128::from(negatives) * u128::from(2 * self.positives + positives);
        self.positives += positives;
        self.negatives += negatives;
    }

    /// The AUC; nothing when a class is missing.
    pub(super) fn auc(self) -> Option<f64> {
        let squares = 2 * u128::from(self.positives) * u128::from(self.negatives);
        (squares > 0).then(|| self.half_squares as f64 / squares as f64)
    }

    pub(super) fn positives(self) -> u64 {
        self.positives
    }

    pub(super) fn pixels(self) -> u64 {
        self.positives + self.negatives
    }
}

/// A ROC curve at fixed false positive rates ([`Curve::rates`]), so that curves of different photos can be averaged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve(pub Vec<f64>);

impl Curve {
    /// Samples of a curve.
    pub const SAMPLES: usize = 101;

    /// The false positive rates of the samples: (i/100)², dense where few false positives are let through.
    pub fn rates() -> impl Iterator<Item = f64> {
        let last = (Self::SAMPLES - 1) as f64;
        (0..Self::SAMPLES).map(move |i| (i as f64 / last).powi(2))
    }

    /// The mean true positive rate at every false positive rate.
    pub fn mean<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Option<Curve> {
        let mut sum = vec![0.0; Self::SAMPLES];
        let mut count = 0;
        for curve in curves {
            sum.iter_mut().zip(&curve.0).for_each(|(sum, rate)| *sum += rate);
            count += 1;
        }
        (count > 0).then(|| Curve(sum.into_iter().map(|sum| sum / f64::from(count)).collect()))
    }
}

/// The corners of a curve, in pixels that have passed so far.
#[derive(Clone, Debug)]
pub(super) struct Corners(Vec<(u64, u64)>);

impl Corners {
    pub(super) fn new() -> Self {
        Self(vec![(0, 0)])
    }

    /// Takes the next group of equal values.
    pub(super) fn add(&mut self, positives: u64, negatives: u64) {
        let (fp, tp) = self.0[self.0.len() - 1];
        if positives + negatives > 0 {
            self.0.push((fp + negatives, tp + positives));
        }
    }

    /// The curve through the corners, at its upper end where it is vertical; nothing when a class is missing.
    pub(super) fn curve(&self) -> Option<Curve> {
        let (negatives, positives) = *self.0.last()?;
        if negatives == 0 || positives == 0 {
            return None;
        }
        let mut right = 0;
        let samples = Curve::rates().map(|rate| {
            let x = rate * negatives as f64;
            while right < self.0.len() && self.0[right].0 as f64 <= x {
                right += 1;
            }
            let (x0, y0) = self.0[right - 1];
            let (x1, y1) = *self.0.get(right).unwrap_or(&(x0 + 1, y0));
            let share = (x - x0 as f64) / (x1 - x0) as f64;
            let exact = (y0 as f64 + share * (y1 - y0) as f64) / positives as f64;
            // Six digits: more than a plot shows, and a third of the room in a file.
            (exact * 1e6).round() / 1e6
        });
        Some(Curve(samples.collect()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fast(order: &[f64], truth: &[bool]) -> (Option<f64>, Option<Curve>) {
        let (mut area, mut corners) = (Area::default(), Corners::new());
        by_rank(
            order,
            |_| true,
            |group| {
                let positives = group.iter().filter(|&&pixel| truth[pixel as usize]).count() as u64;
                area.add(positives, group.len() as u64 - positives);
                corners.add(positives, group.len() as u64 - positives);
            },
        );
        (area.auc(), corners.curve())
    }

    /// Every pair of a foreground and a background pixel.
    fn rank_statistic(order: &[f64], truth: &[bool]) -> Option<f64> {
        let (mut won, mut pairs) = (0.0, 0.0);
        for (p, _) in order.iter().zip(truth).filter(|(_, truth)| **truth) {
            for (q, _) in order.iter().zip(truth).filter(|(_, truth)| !**truth) {
                won += if p > q {
                    1.0
                } else if p == q {
                    0.5
                } else {
                    0.0
                };
                pairs += 1.0;
            }
        }
        (pairs > 0.0).then(|| won / pairs)
    }

    /// The best true positive rate of mixing two thresholds whose false positive rates average to `rate`.
    fn slow_curve(order: &[f64], truth: &[bool], rate: f64) -> f64 {
        let mut thresholds = order.to_vec();
        thresholds.push(f64::INFINITY);
        thresholds.sort_by(|a, b| b.total_cmp(a));
        thresholds.dedup();
        let share = |threshold: f64, class: bool| {
            let of_class: Vec<f64> = order.iter().zip(truth).filter(|(_, t)| **t == class).map(|(p, _)| *p).collect();
            of_class.iter().filter(|&&p| p >= threshold).count() as f64 / of_class.len() as f64
        };
        let corner = |threshold: &f64| (share(*threshold, false), share(*threshold, true));
        let corners: Vec<(f64, f64)> = thresholds.iter().map(corner).collect();
        let between = |pair: &[(f64, f64)]| {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let inside = x0 - 1e-12 <= rate && rate <= x1 + 1e-12;
            inside.then(|| if x1 > x0 { y0 + (rate - x0) / (x1 - x0) * (y1 - y0) } else { y1 })
        };
        corners.windows(2).filter_map(between).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn the_area_is_the_rank_statistic_with_ties(pixels in proptest::collection::vec((-4_i8..4, any::<bool>()), 0..40)) {
            let order: Vec<f64> = pixels.iter().map(|&(level, _)| f64::from(level) / 3.0).collect();
            let truth: Vec<bool> = pixels.iter().map(|&(_, truth)| truth).collect();
            let (auc, curve) = fast(&order, &truth);
            prop_assert_eq!(auc, rank_statistic(&order, &truth));
            prop_assert_eq!(curve.is_some(), auc.is_some());
            for (rate, sample) in Curve::rates().zip(curve.map_or(Vec::new(), |curve| curve.0)) {
                prop_assert!((sample - slow_curve(&order, &truth, rate)).abs() < 1e-6, "at {}", rate);
            }
        }

        #[test]
        fn the_ranking_is_that_of_the_numbers(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(descending(a).cmp(&descending(b)), b.partial_cmp(&a).unwrap());
        }
    }

    #[test]
    fn the_two_zeros_are_one_value() {
        assert_eq!(descending(0.0), descending(-0.0));
        assert_eq!(fast(&[0.0, -0.0], &[true, false]).0, Some(0.5));
    }

    #[test]
    fn curves_average_point_by_point() {
        let half = |level| Curve(vec![level; Curve::SAMPLES]);
        assert_eq!(Curve::mean([&half(0.25), &half(0.75)]), Some(half(0.5)));
        assert_eq!(Curve::mean([]), None);
    }
}
