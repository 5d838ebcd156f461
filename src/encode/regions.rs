//! `STEM.outlines-1.png`, `STEM.means-1.png`, `STEM.superpixels.json`: superpixels to look at, and in numbers.

use png::ColorType;
use serde::Serialize;

use super::report::Tool;
use super::samples::encode8;
use crate::grid::{Partition, Picture};
use crate::superpixel::Layer;

/// Version of the summary's format.
pub const SCHEMA: &str = "lfield.superpixels/1";

const LINE: [u8; 3] = [255, 0, 170];

/// The photo with a line one pixel wide along the upper and left side of every border, as an RGB PNG.
pub fn outlines(picture: &Picture, partition: &Partition) -> Vec<u8> {
    let (width, labels) = (partition.shape().width, partition.labels());
    let on_line = |pixel: usize| {
        let right = pixel + 1;
        (!right.is_multiple_of(width) && labels[right] != labels[pixel])
            || labels.get(pixel + width).is_some_and(|&below| below != labels[pixel])
    };
    let colours = picture.rgb().iter().enumerate();
    let samples: Vec<u8> = colours.flat_map(|(pixel, &rgb)| if on_line(pixel) { LINE } else { rgb }).collect();
    encode8(partition.shape(), ColorType::Rgb, &samples)
}

/// Every region in its mean colour, as an RGB PNG.
pub fn means(picture: &Picture, partition: &Partition) -> Vec<u8> {
    let mut sums = vec![[0_u64; 3]; partition.count()];
    for (&label, rgb) in partition.labels().iter().zip(picture.rgb()) {
        for (sum, &value) in sums[label as usize].iter_mut().zip(rgb) {
            *sum += u64::from(value);
        }
    }
    let sizes = partition.sizes().into_iter().map(|size| size as u64);
    let means: Vec<[u8; 3]> = sums.iter().zip(sizes).map(|(s, n)| s.map(|s| ((s + n / 2) / n) as u8)).collect();
    let samples: Vec<u8> = partition.labels().iter().flat_map(|&label| means[label as usize]).collect();
    encode8(partition.shape(), ColorType::Rgb, &samples)
}

/// What `lfield superpixels` did, for scripts.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What wrote it.
    pub tool: Tool,
    /// The photo.
    pub input: SummaryInput,
    /// One entry per layer, in the order asked for.
    pub layers: Vec<SummaryLayer>,
    /// Names of the files written, this one included.
    pub outputs: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// The photo.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryInput {
    /// Its file.
    pub image: String,
    /// Pixels in a row.
    pub width: usize,
    /// Pixels in a column.
    pub height: usize,
}

/// One layer.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryLayer {
    /// hs, hr and M.
    #[serde(flatten)]
    pub layer: Layer,
    /// The file of the label map.
    pub labels: String,
    /// Number of regions.
    pub count: usize,
    /// Pixels per region.
    pub sizes: Quantiles,
    /// Seconds that mean shift took.
    pub seconds: f64,
}

/// Quantiles of the regions' sizes: each is the size of an actual region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// The smallest.
    pub min: usize,
    /// A twentieth are smaller.
    pub q05: usize,
    /// A quarter are smaller.
    pub q25: usize,
    /// Half are smaller.
    pub median: usize,
    /// A quarter are larger.
    pub q75: usize,
    /// A twentieth are larger.
    pub q95: usize,
    /// The largest.
    pub max: usize,
}

impl Quantiles {
    /// The quantiles of a partition's region sizes; of one without pixels, all 0.
    pub fn of(partition: &Partition) -> Self {
        let mut sizes = partition.sizes();
        sizes.sort_unstable();
        let at = |percent: usize| sizes.get(sizes.len() * percent / 100).or(sizes.last()).copied().unwrap_or(0);
        Self { min: at(0), q05: at(5), q25: at(25), median: at(50), q75: at(75), q95: at(95), max: at(100) }
    }
}

impl Summary {
    /// The summary as indented JSON with a final newline.
    pub fn to_json(&self) -> Vec<u8> {
        super::json(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;

    fn decoded(bytes: &[u8]) -> Vec<[u8; 3]> {
        let picture = image::load_from_memory(bytes).unwrap().into_rgb8();
        picture.pixels().map(|pixel| pixel.0).collect()
    }

    #[test]
    fn lines_run_along_borders_and_means_are_means() {
        let shape = Shape::new(3, 2);
        let partition = Partition::from_labels(shape, &[0, 0, 1, 0, 2, 1]);
        let grey = |value: u8| [value; 3];
        let picture = Picture::new(shape, [10, 20, 30, 41, 50, 61].map(grey).to_vec());
        assert_eq!(decoded(&outlines(&picture, &partition)), [grey(10), LINE, grey(30), LINE, LINE, grey(61)]);
        assert_eq!(decoded(&means(&picture, &partition)), [24, 24, 46, 24, 50, 46].map(grey));
    }

    #[test]
    fn quantiles_are_sizes_of_regions() {
        let labels: Vec<usize> = (1..=20).flat_map(|size| std::iter::repeat_n(size, size)).collect();
        let quantiles = Quantiles::of(&Partition::from_labels(Shape::new(210, 1), &labels));
        let expected = Quantiles { min: 1, q05: 2, q25: 6, median: 11, q75: 16, q95: 20, max: 20 };
        assert_eq!(quantiles, expected);
    }
}
