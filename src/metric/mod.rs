//! How good an answer is, given the truth: marginals and mask in, [`Scores`] out.
//!
//! Pixels marked 128 in the truth never count. Each figure comes twice: over the pixels that carry no stroke
//! ([`Scores::unlabelled`], the ones an answer has to earn) and over all of them ([`Scores::all_pixels`]). A figure that means
//! nothing, such as the AUC of a truth with one class, is absent, and a photo with such a truth is `degenerate`:
//! [`Summary`] counts it and leaves it out of the means.
//!
//! [`Scores::of`] judges one answer; [`Judge`] keeps what depends on the truth alone, for many answers to the same photo.

mod boundary;
mod calibration;
mod overlap;
mod roc;
mod summary;

pub use boundary::TOLERANCE;
pub use calibration::{BINS, Bin, Calibration, SURE};
pub use overlap::Confusion;
pub use roc::Curve;
pub use summary::{Average, Summary};

use serde::{Deserialize, Serialize};

use crate::grid::{Marginals, Mask, Seed, Seeds, Shape, Truth};
use boundary::Outline;
use roc::{Area, Corners};

/// The widths of the trimap bands, in pixels to either side of the true boundary.
pub const WIDTHS: [u32; 10] = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20];

/// What one answer is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Whether the pixels without stroke are all of one class, so that there is nothing to separate.
    pub degenerate: bool,
    /// Over the pixels that carry no stroke.
    pub unlabelled: Region,
    /// Over all pixels.
    pub all_pixels: Region,
}

impl Scores {
    /// Judges one answer. Bands have the widths of [`WIDTHS`].
    ///
    /// # Panics
    /// When the shapes differ: the readers see to that.
    pub fn of(marginals: &Marginals, mask: &Mask, truth: &Truth, seeds: Option<&Seeds>) -> Self {
        Judge::new(truth, seeds, &WIDTHS).judge(marginals.as_slice(), marginals, mask).scores
    }
}

/// The scores over one set of pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Pixels that count.
    pub pixels: u64,
    /// Those of them that are foreground.
    pub foreground: u64,
    /// One number per figure.
    #[serde(flatten)]
    pub figures: Figures,
    /// The counts behind IoU, F1 and error.
    pub confusion: Confusion,
    /// AUC near the true boundary.
    pub trimap: Vec<Band>,
    /// The counts behind ECE.
    pub calibration: Calibration,
}

/// AUC among the pixels near the true boundary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Pixels to either side of the boundary.
    pub width: u32,
    /// Pixels that count in the band.
    pub pixels: u64,
    /// AUC among them; absent when they are of one class.
    pub auc: Option<f64>,
}

/// One number per figure; absent where it has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Area under the ROC curve of the marginals, ties counting one half.
    pub auc: Option<f64>,
    /// Mean AUC of the trimap bands.
    pub auct: Option<f64>,
    /// Overlap of mask and truth, |A ∩ T| / |A ∪ T|.
    pub iou: Option<f64>,
    /// 2|A ∩ T| / (|A| + |T|).
    pub f1: Option<f64>,
    /// Agreement of the outlines within 0.75 % of the diagonal.
    pub boundary_f: Option<f64>,
    /// Share of pixels on the wrong side.
    pub error: Option<f64>,
    /// Mean squared error of the marginals.
    pub brier: Option<f64>,
    /// Expected calibration error in 15 bins.
    pub ece: Option<f64>,
    /// Mean entropy of the marginals, nats.
    pub entropy: Option<f64>,
    /// Share of the wrong pixels whose marginal is beyond 0.99 on the wrong side.
    pub overconfident: Option<f64>,
}

impl Figures {
    /// Number of figures.
    pub const COUNT: usize = 10;

    /// The names, as in files.
    pub const NAMES: [&'static str; Self::COUNT] =
        ["auc", "auct", "iou", "f1", "boundary_f", "error", "brier", "ece", "entropy", "overconfident"];

    /// The figures in the order of [`Figures::NAMES`].
    pub fn values(&self) -> [Option<f64>; Self::COUNT] {
        let Self { auc, auct, iou, f1, boundary_f, error, brier, ece, entropy, overconfident } = *self;
        [auc, auct, iou, f1, boundary_f, error, brier, ece, entropy, overconfident]
    }

    /// The figures from the order of [`Figures::NAMES`].
    pub fn from_values(values: [Option<f64>; Self::COUNT]) -> Self {
        let [auc, auct, iou, f1, boundary_f, error, brier, ece, entropy, overconfident] = values;
        Self { auc, auct, iou, f1, boundary_f, error, brier, ece, entropy, overconfident }
    }
}

/// Judges many answers to one photo.
#[derive(Debug)]
pub struct Judge<'a> {
    truth: &'a Truth,
    widths: Vec<u32>,
    bands: Vec<u8>,
    outline: Outline,
    all: Vec<bool>,
    unlabelled: Vec<bool>,
}

/// Scores, and the curve behind the AUC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The scores.
    pub scores: Scores,
    /// The ROC curve over the pixels without stroke; absent when they are of one class.
    pub curve: Option<Curve>,
}

impl<'a> Judge<'a> {
    /// Prepares for answers to a photo with this truth and these strokes; `widths` of trimap bands ascend, at most 255 of them.
    ///
    /// # Panics
    /// When truth and strokes differ in shape, or the widths do not ascend.
    pub fn new(truth: &'a Truth, seeds: Option<&Seeds>, widths: &[u32]) -> Self {
        assert!(widths.is_sorted() && widths.len() < 256, "fewer than 256 ascending widths");
        let all: Vec<bool> = truth.labels().iter().map(Option::is_some).collect();
        let mut unlabelled = all.clone();
        if let Some(seeds) = seeds {
            assert_eq!(seeds.shape(), truth.shape(), "strokes of another shape");
            for (counts, &seed) in unlabelled.iter_mut().zip(seeds.labels()) {
                *counts &= seed == Seed::Unlabelled;
            }
        }
        let (bands, outline) = (boundary::bands(truth, widths), Outline::of(truth));
        Self { truth, widths: widths.to_vec(), bands, outline, all, unlabelled }
    }

    /// The shape of the photo.
    pub fn shape(&self) -> Shape {
        self.truth.shape()
    }

    /// Judges one answer. `order` ranks the pixels for ROC, foreground last: the marginals, or −s where those have run into 1.
    ///
    /// # Panics
    /// When the shapes differ.
    pub fn judge(&self, order: &[f64], marginals: &Marginals, mask: &Mask) -> Judgement {
        assert!(marginals.shape() == self.shape() && mask.shape() == self.shape(), "an answer of another shape");
        assert_eq!(order.len(), self.all.len(), "one rank per pixel");
        let mut unlabelled = Tally::new(self.widths.len());
        let mut all = unlabelled.clone();
        let mut corners = Corners::new();
        let truth = |pixel: usize| self.truth.labels()[pixel] == Some(true);
        roc::by_rank(
            order,
            |pixel| self.all[pixel],
            |group| {
                for &pixel in group {
                    let pixel = pixel as usize;
                    all.rank(self.bands[pixel], truth(pixel));
                    if self.unlabelled[pixel] {
                        unlabelled.rank(self.bands[pixel], truth(pixel));
                    }
                }
                all.next_rank();
                let (positives, negatives) = unlabelled.next_rank();
                corners.add(positives, negatives);
            },
        );
        for pixel in (0..self.all.len()).filter(|&pixel| self.all[pixel]) {
            let (p, inside) = (marginals.as_slice()[pixel], mask.as_slice()[pixel]);
            all.count(p, inside, truth(pixel));
            if self.unlabelled[pixel] {
                unlabelled.count(p, inside, truth(pixel));
            }
        }
        let [f_unlabelled, f_all] = self.outline.agreement(mask.as_slice(), [&self.unlabelled, &self.all]);
        let curve = corners.curve();
        let scores = Scores {
            degenerate: curve.is_none(),
            unlabelled: unlabelled.region(&self.widths, f_unlabelled),
            all_pixels: all.region(&self.widths, f_all),
        };
        Judgement { scores, curve }
    }
}

/// Running counts over one set of pixels. The last area is that of all of them, the others are those of the bands.
#[derive(Clone, Debug)]
struct Tally {
    areas: Vec<Area>,
    /// Foreground and background pixels of the present rank by the smallest band that holds them.
    rank: Vec<[u64; 2]>,
    confusion: Confusion,
    calibration: Calibration,
}

impl Tally {
    fn new(bands: usize) -> Self {
        let (areas, rank) = (vec![Area::default(); bands + 1], vec![[0; 2]; bands + 1]);
        Self { areas, rank, confusion: Confusion::default(), calibration: Calibration::default() }
    }

    fn rank(&mut self, band: u8, truth: bool) {
        self.rank[usize::from(band)][usize::from(!truth)] += 1;
    }

    /// Closes a rank; foreground and background pixels in it.
    fn next_rank(&mut self) -> (u64, u64) {
        let (mut positives, mut negatives) = (0, 0);
        for (area, [more_positives, more_negatives]) in self.areas.iter_mut().zip(&mut self.rank) {
            positives += std::mem::take(more_positives);
            negatives += std::mem::take(more_negatives);
            area.add(positives, negatives);
        }
        (positives, negatives)
    }

    fn count(&mut self, p: f64, inside: bool, truth: bool) {
        self.confusion.add(inside, truth);
        self.calibration.add(p, truth);
    }

    fn region(self, widths: &[u32], boundary_f: Option<f64>) -> Region {
        let Self { areas, confusion, calibration, .. } = self;
        let area = areas[widths.len()];
        let band = |(&width, area): (&u32, &Area)| Band { width, pixels: area.pixels(), auc: area.auc() };
        let trimap: Vec<Band> = widths.iter().zip(&areas).map(band).collect();
        let figures = Figures {
            auc: area.auc(),
            auct: mean(trimap.iter().map(|band| band.auc)),
            iou: confusion.iou(),
            f1: confusion.f1(),
            boundary_f,
            error: confusion.error(),
            brier: calibration.brier(),
            ece: calibration.ece(),
            entropy: calibration.entropy(),
            overconfident: calibration.overconfident(confusion.wrong()),
        };
        Region { pixels: area.pixels(), foreground: area.positives(), figures, confusion, trimap, calibration }
    }
}

/// The mean of what is there; nothing when nothing is.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let there: Vec<f64> = values.flatten().collect();
    (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
}

#[cfg(test)]
mod tests;
