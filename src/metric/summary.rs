//! Scores of several photos in one line: mean and standard deviation over photos, each photo counting once.

use serde::{Deserialize, Serialize};

use super::{Band, Figures, Region, Scores, mean};

/// Means over photos, without those whose truth has one class only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Photos in the means.
    pub photos: usize,
    /// Photos left out because their truth is of one class.
    pub degenerate: usize,
    /// Over the pixels that carry no stroke.
    pub unlabelled: Average,
    /// Over all pixels.
    pub all_pixels: Average,
}

/// Mean and standard deviation of every figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Average {
    /// Means over the photos that have the figure.
    pub mean: Figures,
    /// Sample standard deviations (n − 1); absent below two photos.
    pub sd: Figures,
    /// Mean AUC of every trimap band; `pixels` is the sum over photos.
    pub trimap: Vec<Band>,
}

impl Summary {
    /// Averages the scores of photos judged with the same band widths.
    pub fn of<'a>(scores: impl IntoIterator<Item = &'a Scores>) -> Self {
        let (degenerate, proper): (Vec<&Scores>, Vec<&Scores>) = scores.into_iter().partition(|s| s.degenerate);
        let average =
            |region: fn(&Scores) -> &Region| Average::of(&proper.iter().map(|s| region(s)).collect::<Vec<_>>());
        Self {
            photos: proper.len(),
            degenerate: degenerate.len(),
            unlabelled: average(|scores| &scores.unlabelled),
            all_pixels: average(|scores| &scores.all_pixels),
        }
    }
}

impl Average {
    fn of(regions: &[&Region]) -> Self {
        let columns: Vec<_> = regions.iter().map(|region| region.figures.values()).collect();
        let column = |i: usize| columns.iter().filter_map(move |values| values[i]);
        let widths = regions.first().map_or(&[][..], |region| &region.trimap);
        let band = |i: usize| Band {
            width: widths[i].width,
            pixels: regions.iter().map(|region| region.trimap[i].pixels).sum(),
            auc: mean(regions.iter().map(|region| region.trimap[i].auc)),
        };
        Self {
            mean: Figures::from_values(std::array::from_fn(|i| mean(column(i).map(Some)))),
            sd: Figures::from_values(std::array::from_fn(|i| deviation(column(i).collect()))),
            trimap: (0..widths.len()).map(band).collect(),
        }
    }
}

fn deviation(values: Vec<f64>) -> Option<f64> {
    let n = values.len() as f64;
    let centre = mean(values.iter().map(|&value| Some(value)))?;
    (n > 1.0).then(|| (values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}
