//! What the page sees of a photo: the size at which strokes are answered, pictures for the screen, log-odds in 16 bits.
//!
//! A large photo is worked on at about a megapixel, so that an answer takes as long as on a small one; results are written at full size.
//! A pixel of the working size has the mean colour of its block and the label that most strokes in its block have.

use crate::encode;
use crate::grid::{Picture, Seed, Seeds, Shape};

/// Photos with more pixels are worked on at a smaller size.
const LARGE: usize = 3 << 19;
/// The most pixels of that size.
const WORKING: f64 = (1 << 20) as f64;
/// The sides of a tile of the photo at full size.
pub(super) const TILE: usize = 512;
/// Levels of log-odds per nat.
pub(super) const LEVELS: f64 = 1000.0;

/// A decoded photo, at full size and at the size it is worked on.
#[derive(Debug)]
pub(super) struct View {
    pub(super) full: Picture,
    working: Option<Picture>,
}

impl View {
    pub(super) fn new(full: Picture) -> Self {
        let shape = full.shape();
        let working = (shape.n_pixels() > LARGE).then(|| {
            let scale = (WORKING / shape.n_pixels() as f64).sqrt();
            let side = |length: usize| ((length as f64 * scale).round() as usize).max(1);
            encode::shrunk(&full, Shape::new(side(shape.width), side(shape.height)))
        });
        Self { full, working }
    }

    /// The photo at the size it is worked on.
    pub(super) fn working(&self) -> &Picture {
        self.working.as_ref().unwrap_or(&self.full)
    }

    /// Strokes at the size the photo is worked on.
    pub(super) fn working_seeds(&self, seeds: Seeds) -> Seeds {
        match &self.working {
            None => seeds,
            Some(working) => shrunk_seeds(&seeds, working.shape()),
        }
    }

    /// The pixel of the working size that a pixel of the full size belongs to.
    pub(super) fn working_pixel(&self, pixel: usize) -> usize {
        let (full, small) = (self.full.shape(), self.working().shape());
        // The inverse of i ↦ i·full/small, rounded down, which is where a block begins.
        let side = |i: usize, full: usize, small: usize| ((i + 1) * small - 1) / full;
        side(pixel / full.width, full.height, small.height) * small.width
            + side(pixel % full.width, full.width, small.width)
    }

    /// A square of the photo at full size, by its column and row; `None` outside of the photo.
    pub(super) fn tile(&self, column: usize, row: usize) -> Option<Picture> {
        let Shape { width, height } = self.full.shape();
        let (left, top) = (column.checked_mul(TILE)?, row.checked_mul(TILE)?);
        if left >= width || top >= height {
            return None;
        }
        let (right, bottom) = ((left + TILE).min(width), (top + TILE).min(height));
        let rows = (top..bottom).flat_map(|y| &self.full.rgb()[y * width + left..y * width + right]);
        Some(Picture::new(Shape::new(right - left, bottom - top), rows.copied().collect()))
    }
}

/// Block by block, the label of most labelled pixels; none where there is a tie.
fn shrunk_seeds(seeds: &Seeds, small: Shape) -> Seeds {
    let (shape, labels) = (seeds.shape(), seeds.labels());
    let block = |i: usize, from: usize, to: usize| i * from / to..(i + 1) * from / to;
    let mut result = Vec::with_capacity(small.n_pixels());
    for row in 0..small.height {
        for column in 0..small.width {
            let mut balance = 0_i32;
            for y in block(row, shape.height, small.height) {
                for x in block(column, shape.width, small.width) {
                    balance += match labels[y * shape.width + x] {
                        Seed::Foreground => 1,
                        Seed::Background => -1,
                        Seed::Unlabelled => 0,
                    };
                }
            }
            result.push(match balance {
                1.. => Seed::Foreground,
                0 => Seed::Unlabelled,
                _ => Seed::Background,
            });
        }
    }
    Seeds::new(small, result)
}

/// ⌈1000·x⌉ in 16 bits: for every λ that is a multiple of a thousandth, x > λ exactly when the level is above 1000·λ.
pub(super) fn levels(log_odds: &[f64]) -> Vec<i16> {
    log_odds.iter().map(|x| (LEVELS * x).ceil().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn levels_keep_the_sign_and_the_far_ends() {
        assert_eq!(levels(&[0.0, 1e-300, -1e-300, 1e9, -1e9, 0.0015]), [0, 1, 0, i16::MAX, i16::MIN, 2]);
    }

    proptest! {
        #![proptest_config(crate::cases(256))]

        #[test]
        fn levels_compare_as_log_odds_do(x in -40.0..40.0_f64, threshold in -20_000_i32..20_000) {
            let is_above = x * LEVELS > f64::from(threshold);
            prop_assert_eq!(i32::from(levels(&[x])[0]) > threshold, is_above);
        }

        /// Every pixel lies in the block of its working pixel.
        #[test]
        fn blocks_divide_the_photo(width in 1_usize..40, height in 1_usize..40, a in 1_usize..40, b in 1_usize..40) {
            let (full, small) = (Shape::new(width, height), Shape::new(a.min(width), b.min(height)));
            let blank = |shape: Shape| Picture::new(shape, vec![[0; 3]; shape.n_pixels()]);
            let view = View { full: blank(full), working: Some(blank(small)) };
            for pixel in 0..full.n_pixels() {
                let mut labels = vec![Seed::Unlabelled; full.n_pixels()];
                labels[pixel] = Seed::Foreground;
                let seeds = view.working_seeds(Seeds::new(full, labels));
                let at: Vec<usize> = (0..small.n_pixels()).filter(|&i| seeds.labels()[i] != Seed::Unlabelled).collect();
                prop_assert_eq!(at, vec![view.working_pixel(pixel)]);
            }
        }
    }

    #[test]
    fn tiles_are_the_photo() {
        let shape = Shape::new(600, 700);
        let rgb = |pixel: usize| [(pixel % 251) as u8, (pixel / 600 % 256) as u8, 7];
        let view = View::new(Picture::new(shape, (0..shape.n_pixels()).map(rgb).collect()));
        assert_eq!(view.working(), &view.full);
        let tile = view.tile(1, 1).unwrap();
        assert_eq!(tile.shape(), Shape::new(88, 188));
        assert_eq!(tile.rgb()[0], rgb(512 * 600 + 512));
        assert!(view.tile(2, 0).is_none() && view.tile(0, 2).is_none() && view.tile(usize::MAX, 0).is_none());
    }
}
