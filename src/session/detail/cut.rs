//! Superpixels where the finer level needs them.
//!
//! The photo is laid out in squares of [`SIDE`] pixels. Mean shift sees of each square only the rectangle around its open pixels, and as much
//! around that as its window reaches; regions end at the rectangle. Everywhere else the regions are the coarser level's, enlarged.

use rayon::prelude::*;

use crate::grid::{Blocks, Partition, Picture, Shape};
use crate::superpixel::{self, Layer};
use crate::{Checkpoint, Result};

/// Pixels along the side of a square.
const SIDE: usize = 128;

/// Columns and rows `left..right`, `top..bottom`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

/// One layer at the finer level: cut anew around the open pixels, `coarse` elsewhere.
pub(super) fn layer(
    blocks: Blocks,
    coarse: &Partition,
    picture: &Picture,
    layer: &Layer,
    is_open: impl Fn(usize) -> bool + Sync,
    checkpoint: Checkpoint<'_>,
) -> Result<Partition> {
    let shape = blocks.fine();
    let squares: Vec<Rectangle> = around_open(shape, &is_open);
    let cut = squares.par_iter().map(|&square| {
        let seen = square.grown(layer.spatial().ceil() as usize, shape);
        let regions = superpixel::mean_shift(&seen.of(picture), layer, checkpoint)?;
        Ok((square, seen, regions))
    });
    let cut: Vec<_> = cut.collect::<Result<_>>()?;
    let mut labels = blocks.spread(coarse.labels());
    let mut n_labels = coarse.count() as u32;
    for (square, seen, regions) in cut {
        for row in square.top..square.bottom {
            let own = (row - seen.top) * seen.shape().width + square.left - seen.left;
            let own = &regions.labels()[own..][..square.shape().width];
            let out = &mut labels[row * shape.width + square.left..][..own.len()];
            out.iter_mut().zip(own).for_each(|(out, own)| *out = n_labels + own);
        }
        n_labels += regions.count() as u32;
    }
    Ok(dense(shape, labels, n_labels))
}

/// The rectangles around the open pixels of each square.
fn around_open(shape: Shape, is_open: &(impl Fn(usize) -> bool + Sync)) -> Vec<Rectangle> {
    let columns = shape.width.div_ceil(SIDE);
    let squares = (0..columns * shape.height.div_ceil(SIDE)).into_par_iter();
    let around = squares.map(|square| {
        let (left, top) = (square % columns * SIDE, square / columns * SIDE);
        let (right, bottom) = ((left + SIDE).min(shape.width), (top + SIDE).min(shape.height));
        let mut found: Option<Rectangle> = None;
        for (row, column) in (top..bottom).flat_map(|row| (left..right).map(move |column| (row, column))) {
            if is_open(row * shape.width + column) {
                let one = Rectangle { left: column, top: row, right: column + 1, bottom: row + 1 };
                found = Some(found.map_or(one, |found| found.with(one)));
            }
        }
        found
    });
    around.collect::<Vec<_>>().into_iter().flatten().collect()
}

impl Rectangle {
    fn shape(self) -> Shape {
        Shape::new(self.right - self.left, self.bottom - self.top)
    }

    /// The smallest rectangle around both.
    fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// With so many pixels more on each side, as far as the photo goes.
    fn grown(self, by: usize, photo: Shape) -> Self {
        Self {
            left: self.left.saturating_sub(by),
            top: self.top.saturating_sub(by),
            right: (self.right + by).min(photo.width),
            bottom: (self.bottom + by).min(photo.height),
        }
    }

    /// This part of a photo.
    fn of(self, picture: &Picture) -> Picture {
        let width = picture.shape().width;
        let rows = (self.top..self.bottom).map(|row| &picture.rgb()[row * width..][self.left..self.right]);
        Picture::new(self.shape(), rows.flatten().copied().collect())
    }
}

/// Labels below `n_labels`, renumbered in scan order without gaps.
fn dense(shape: Shape, mut labels: Vec<u32>, n_labels: u32) -> Partition {
    let mut number = vec![u32::MAX; n_labels as usize];
    let mut count = 0;
    for label in &mut labels {
        let number = &mut number[*label as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *label = *number;
    }
    Partition::from_dense(shape, labels, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(shape: Shape) -> Picture {
        let colour = |pixel: usize| {
            let (x, y) = (pixel % shape.width, pixel / shape.width);
            [(40 * (x / 9) % 256) as u8, (60 * (y / 7) % 256) as u8, (pixel * 31 % 5) as u8]
        };
        Picture::new(shape, (0..shape.n_pixels()).map(colour).collect())
    }

    #[test]
    fn everywhere_else_the_regions_are_the_coarser_ones() {
        let blocks = Blocks::new(Shape::new(300, 140), 2);
        let picture = noisy(blocks.fine());
        let layer_options = Layer::new(3.0, 6.5, 8).unwrap();
        let check: Checkpoint<'_> = &|| Ok(());
        let coarse = superpixel::mean_shift(&blocks.picture(&picture), &layer_options, check).unwrap();
        let is_open = |pixel: usize| (20..60).contains(&(pixel % 300)) && (30..50).contains(&(pixel / 300));
        let fine = layer(blocks, &coarse, &picture, &layer_options, is_open, check).unwrap();
        let enlarged = blocks.spread(coarse.labels());
        let inside = |pixel: usize| is_open(pixel);
        // Two pixels outside are together exactly where they were; none outside is with one inside.
        let outside: Vec<usize> = (0..enlarged.len()).filter(|&pixel| !inside(pixel)).collect();
        for pair in outside.windows(2) {
            let together = |labels: &[u32]| labels[pair[0]] == labels[pair[1]];
            assert_eq!(together(fine.labels()), together(&enlarged));
        }
        let of = |want: bool| -> std::collections::BTreeSet<u32> {
            (0..enlarged.len()).filter(|&pixel| inside(pixel) == want).map(|pixel| fine.labels()[pixel]).collect()
        };
        assert!(of(true).is_disjoint(&of(false)));
        assert!(of(true).len() > 4);
    }

    #[test]
    fn a_photo_that_is_open_all_over_is_cut_as_a_whole() {
        let blocks = Blocks::new(Shape::new(60, 50), 2);
        let picture = noisy(blocks.fine());
        let check: Checkpoint<'_> = &|| Ok(());
        let coarse = superpixel::mean_shift(&blocks.picture(&picture), &Layer::FINE, check).unwrap();
        let fine = layer(blocks, &coarse, &picture, &Layer::FINE, |_| true, check).unwrap();
        assert_eq!(fine, superpixel::mean_shift(&picture, &Layer::FINE, check).unwrap());
    }
}
