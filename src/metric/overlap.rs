//! How a mask overlaps the truth: confusion counts, IoU and F1.

use serde::{Deserialize, Serialize};

/// Pixels by answer and truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// Object, and found.
    pub true_positives: u64,
    /// Background taken for object.
    pub false_positives: u64,
    /// Background, and left out.
    pub true_negatives: u64,
    /// Object that was missed.
    pub false_negatives: u64,
}

impl Confusion {
    /// Counts one pixel.
    pub fn add(&mut self, answer: bool, truth: bool) {
        match (answer, truth) {
            (true, true) => self.true_positives += 1,
            (true, false) => self.false_positives += 1,
            (false, false) => self.true_negatives += 1,
            (false, true) => self.false_negatives += 1,
        }
    }

    /// All pixels.
    pub fn pixels(&self) -> u64 {
        self.true_positives + self.true_negatives + self.wrong()
    }

    /// Pixels on the wrong side.
    pub fn wrong(&self) -> u64 {
        self.false_positives + self.false_negatives
    }

    /// |A ∩ T| / |A ∪ T|; nothing when both are empty.
    pub fn iou(&self) -> Option<f64> {
        ratio(self.true_positives, self.true_positives + self.wrong())
    }

    /// 2|A ∩ T| / (|A| + |T|), the harmonic mean of precision and recall; nothing when both are empty.
    pub fn f1(&self) -> Option<f64> {
        ratio(2 * self.true_positives, 2 * self.true_positives + self.wrong())
    }

    /// The share of wrong pixels; nothing when there are no pixels.
    pub fn error(&self) -> Option<f64> {
        ratio(self.wrong(), self.pixels())
    }
}

/// The quotient, unless there is nothing to divide by.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_scores_are_those_of_the_sets(pixels in proptest::collection::vec(any::<(bool, bool)>(), 0..30)) {
            let mut confusion = Confusion::default();
            pixels.iter().for_each(|&(answer, truth)| confusion.add(answer, truth));
            let of = |member: fn(&(bool, bool)) -> bool| -> BTreeSet<usize> {
                (0..pixels.len()).filter(|&i| member(&pixels[i])).collect()
            };
            let (a, t) = (of(|p| p.0), of(|p| p.1));
            let (both, either) = (a.intersection(&t).count() as f64, a.union(&t).count() as f64);
            prop_assert_eq!(confusion.iou(), (either > 0.0).then(|| both / either));
            prop_assert_eq!(confusion.f1(), (either > 0.0).then(|| 2.0 * both / (a.len() + t.len()) as f64));
            let wrong = a.symmetric_difference(&t).count() as f64;
            prop_assert_eq!(confusion.error(), (!pixels.is_empty()).then(|| wrong / pixels.len() as f64));
        }
    }
}
