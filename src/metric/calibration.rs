//! Whether probabilities mean what they say: Brier score, reliability in bins, and how sure the wrong pixels were.
//!
//! Brier = mean (p − t)². ECE = Σ_b (n_b/n)·|mean p − share of foreground| over equal bins of p. The paper's complaint about belief
//! propagation is neither of these but that its errors look certain: `overconfident` is the share of the wrong pixels that
//! have a probability beyond 0.99 on the wrong side.

use serde::{Deserialize, Serialize};

use super::overlap::ratio;

/// Bins of the reliability diagram.
pub const BINS: usize = 15;

/// Beyond this, or below one minus this, a probability claims to be sure.
pub const SURE: f64 = 0.99;

/// What a set of pixels says about the probabilities it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The bins, from 0 to 1.
    pub bins: Vec<Bin>,
    /// Wrong pixels whose probability is beyond 0.99 on the wrong side.
    pub sure_and_wrong: u64,
    /// The sum of (p − t)².
    pub squares: f64,
    /// The sum of the entropies of the probabilities, in nats.
    pub entropy: f64,
}

/// Pixels with nearly the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Pixels in the bin.
    pub pixels: u64,
    /// Those of them that are foreground.
    pub foreground: u64,
    /// The sum of their probabilities.
    pub probability: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { bins: vec![Bin::default(); BINS], sure_and_wrong: 0, squares: 0.0, entropy: 0.0 }
    }
}

impl Calibration {
    /// Counts one pixel.
    pub(super) fn add(&mut self, p: f64, truth: bool) {
        let bin = &mut self.bins[((p * BINS as f64) as usize).min(BINS - 1)];
        bin.pixels += 1;
        bin.foreground += u64::from(truth);
        bin.probability += p;
        let doubt = if truth { 1.0 - p } else { p };
        self.squares += doubt * doubt;
        self.sure_and_wrong += u64::from(doubt > SURE);
        self.entropy += entropy(p);
    }

    /// Adds the pixels of another photo, for a diagram of several.
    pub fn merge(&mut self, other: &Self) {
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.pixels += more.pixels;
            bin.foreground += more.foreground;
            bin.probability += more.probability;
        }
        self.sure_and_wrong += other.sure_and_wrong;
        self.squares += other.squares;
        self.entropy += other.entropy;
    }

    /// Pixels counted.
    pub fn pixels(&self) -> u64 {
        self.bins.iter().map(|bin| bin.pixels).sum()
    }

    /// Expected calibration error; nothing without pixels.
    pub fn ece(&self) -> Option<f64> {
        let off: f64 = self.bins.iter().map(|bin| (bin.probability - bin.foreground as f64).abs()).sum();
        self.per_pixel(off)
    }

    /// The mean squared error of the probabilities; nothing without pixels.
    pub(super) fn brier(&self) -> Option<f64> {
        self.per_pixel(self.squares)
    }

    /// The mean entropy of the probabilities, in nats; nothing without pixels.
    pub(super) fn entropy(&self) -> Option<f64> {
        self.per_pixel(self.entropy)
    }

    /// The share of `wrong` pixels that were sure of themselves; nothing when none is wrong.
    pub(super) fn overconfident(&self, wrong: u64) -> Option<f64> {
        ratio(self.sure_and_wrong, wrong)
    }

    fn per_pixel(&self, sum: f64) -> Option<f64> {
        let pixels = self.pixels();
        (pixels > 0).then(|| sum / pixels as f64)
    }
}

fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(p) + term(1.0 - p)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_scores_are_their_definitions(pixels in proptest::collection::vec((0_u32..=61, any::<bool>()), 1..50)) {
            let pixels: Vec<(f64, bool)> = pixels.into_iter().map(|(p, truth)| (f64::from(p) / 61.0, truth)).collect();
            let n = pixels.len() as f64;
            let mut calibration = Calibration::default();
            pixels.iter().for_each(|&(p, truth)| calibration.add(p, truth));

            let brier = pixels.iter().map(|&(p, truth)| (p - f64::from(u8::from(truth))).powi(2)).sum::<f64>() / n;
            prop_assert!((calibration.brier().unwrap() - brier).abs() < 1e-12);

            let mut ece = 0.0;
            for b in 0..BINS {
                let (low, high) = (b as f64 / BINS as f64, (b + 1) as f64 / BINS as f64);
                let inside = |p: f64| p >= low && (p < high || b == BINS - 1);
                let bin: Vec<_> = pixels.iter().filter(|(p, _)| inside(*p)).collect();
                if !bin.is_empty() {
                    let mean = bin.iter().map(|(p, _)| p).sum::<f64>() / bin.len() as f64;
                    let share = bin.iter().filter(|(_, truth)| *truth).count() as f64 / bin.len() as f64;
                    ece += bin.len() as f64 / n * (mean - share).abs();
                }
            }
            prop_assert!((calibration.ece().unwrap() - ece).abs() < 1e-9);

            let sure = pixels.iter().filter(|&&(p, truth)| (p > 0.99 && !truth) || (p < 0.01 && truth)).count();
            prop_assert_eq!(calibration.sure_and_wrong, sure as u64);
        }
    }

    #[test]
    fn entropy_is_largest_in_doubt_and_zero_when_sure() {
        assert_eq!((entropy(0.0), entropy(1.0)), (0.0, 0.0));
        assert!((entropy(0.5) - 2_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn two_photos_are_one_set_of_pixels() {
        let pixels = [(0.1, false), (0.7, true), (0.995, false), (0.4, true)];
        let count = |pixels: &[(f64, bool)]| {
            let mut calibration = Calibration::default();
            pixels.iter().for_each(|&(p, truth)| calibration.add(p, truth));
            calibration
        };
        let mut merged = count(&pixels[..1]);
        merged.merge(&count(&pixels[1..]));
        let whole = count(&pixels);
        assert_eq!((&merged.bins, merged.sure_and_wrong), (&whole.bins, whole.sure_and_wrong));
        assert!((merged.squares - whole.squares).abs() < 1e-12 && (merged.entropy - whole.entropy).abs() < 1e-12);
    }
}
