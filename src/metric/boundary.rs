//! Near the true boundary: trimap bands, and how well outlines agree.
//!
//! The band of width w holds the pixels at most w away from the true boundary, on either side of it: the distance of a pixel is
//! that to the nearest pixel which is not of its class. Pixels that the truth leaves open (128) are boundary when they lie between
//! the classes, that is when their connected region touches both; a region left open inside one class is no boundary.
//!
//! Boundary F is the harmonic mean of precision (outline pixels of the mask within a tolerance of the true outline) and recall (the
//! other way round). The tolerance is 0.75 % of the diagonal, as is usual for contours; pixels may match many to one.

use crate::grid::{Shape, Truth, squared_distances};

/// The tolerance of boundary F, as a share of the photo's diagonal.
pub const TOLERANCE: f64 = 0.0075;

/// For every pixel the number of widths (ascending) that are too small to reach it from the true boundary.
pub(super) fn bands(truth: &Truth, widths: &[u32]) -> Vec<u8> {
    let (shape, labels) = (truth.shape(), truth.labels());
    let between = between(shape, labels);
    let foreign = |class: bool| -> Vec<bool> {
        labels.iter().zip(&between).map(|(&label, &between)| between || label == Some(!class)).collect()
    };
    let (to_background, to_foreground) =
        (squared_distances(shape, &foreign(true)), squared_distances(shape, &foreign(false)));
    let too_small = |squared: u64| widths.iter().filter(|&&width| u64::from(width).pow(2) < squared).count() as u8;
    let band = |(pixel, label): (usize, &Option<bool>)| {
        let distances = match label {
            Some(true) => &to_background,
            Some(false) => &to_foreground,
            None => return widths.len() as u8,
        };
        distances.as_ref().map_or(widths.len() as u8, |squared| too_small(squared[pixel]))
    };
    labels.iter().enumerate().map(band).collect()
}

/// Pixels without a label whose connected region touches both classes.
fn between(shape: Shape, labels: &[Option<bool>]) -> Vec<bool> {
    let mut between = vec![false; labels.len()];
    let mut seen = vec![false; labels.len()];
    for start in 0..labels.len() {
        if labels[start].is_some() || seen[start] {
            continue;
        }
        seen[start] = true;
        let (mut region, mut next) = (vec![start], 0);
        let (mut foreground, mut background) = (false, false);
        while let Some(&pixel) = region.get(next) {
            next += 1;
            for neighbour in neighbours(shape, pixel) {
                match labels[neighbour] {
                    Some(true) => foreground = true,
                    Some(false) => background = true,
                    None if !seen[neighbour] => {
                        seen[neighbour] = true;
                        region.push(neighbour);
                    }
                    None => {}
                }
            }
        }
        if foreground && background {
            region.into_iter().for_each(|pixel| between[pixel] = true);
        }
    }
    between
}

/// The true outline, ready to be compared with outlines of masks.
#[derive(Debug)]
pub(super) struct Outline {
    shape: Shape,
    pixels: Vec<bool>,
    distances: Option<Vec<u64>>,
    reach: u64,
}

impl Outline {
    pub(super) fn of(truth: &Truth) -> Self {
        let shape = truth.shape();
        let inside: Vec<bool> = truth.labels().iter().map(|&label| label == Some(true)).collect();
        let pixels = outline(shape, &inside);
        let distances = squared_distances(shape, &pixels);
        let diagonal = (shape.width as f64).hypot(shape.height as f64);
        Self { shape, pixels, distances, reach: (TOLERANCE * diagonal).powi(2) as u64 }
    }

    /// Boundary F of a mask for each way of counting pixels: nothing when no pixel of the true outline counts.
    pub(super) fn agreement<const N: usize>(&self, mask: &[bool], counts: [&[bool]; N]) -> [Option<f64>; N] {
        let drawn = outline(self.shape, mask);
        let distances = squared_distances(self.shape, &drawn);
        counts.map(|counts| {
            let recall = self.near(&self.pixels, distances.as_deref(), counts)?;
            let precision = self.near(&drawn, self.distances.as_deref(), counts).unwrap_or(0.0);
            let sum = precision + recall;
            Some(if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 })
        })
    }

    /// The share of the outline's counting pixels that have the other outline in reach; nothing when none counts.
    fn near(&self, outline: &[bool], other: Option<&[u64]>, counts: &[bool]) -> Option<f64> {
        let (mut near, mut all) = (0_u32, 0_u32);
        for pixel in (0..outline.len()).filter(|&pixel| outline[pixel] && counts[pixel]) {
            all += 1;
            near += u32::from(other.is_some_and(|squared| squared[pixel] <= self.reach));
        }
        (all > 0).then(|| f64::from(near) / f64::from(all))
    }
}

/// Pixels inside that have a 4-neighbour outside.
fn outline(shape: Shape, inside: &[bool]) -> Vec<bool> {
    let edge = |pixel: usize| inside[pixel] && neighbours(shape, pixel).any(|neighbour| !inside[neighbour]);
    (0..inside.len()).map(edge).collect()
}

fn neighbours(Shape { width, height }: Shape, pixel: usize) -> impl Iterator<Item = usize> {
    let (x, y) = (pixel % width, pixel / width);
    let up = (y > 0).then(|| pixel - width);
    let left = (x > 0).then(|| pixel - 1);
    let right = (x + 1 < width).then_some(pixel + 1);
    let down = (y + 1 < height).then_some(pixel + width);
    [up, left, right, down].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(shape: Shape, a: usize, b: usize) -> f64 {
        let place = |pixel: usize| ((pixel % shape.width) as f64, (pixel / shape.width) as f64);
        let ((ax, ay), (bx, by)) = (place(a), place(b));
        (ax - bx).hypot(ay - by)
    }

    fn scene() -> impl Strategy<Value = Truth> {
        (1_usize..9, 1_usize..9).prop_flat_map(|(width, height)| {
            let label = prop_oneof![2 => Just(Some(true)), 4 => Just(Some(false)), 1 => Just(None)];
            proptest::collection::vec(label, width * height)
                .prop_map(move |labels| Truth::new(Shape::new(width, height), labels))
        })
    }

    proptest! {
        #[test]
        fn bands_are_those_of_a_slow_distance_transform(truth in scene()) {
            let (shape, labels) = (truth.shape(), truth.labels());
            let widths = [1, 2, 4];
            let between = between(shape, labels);
            let bands = bands(&truth, &widths);
            for pixel in (0..labels.len()).filter(|&pixel| labels[pixel].is_some()) {
                let foreign = (0..labels.len()).filter(|&q| between[q] || labels[q] == labels[pixel].map(|class| !class));
                let nearest = foreign.map(|q| distance(shape, pixel, q)).fold(f64::INFINITY, f64::min);
                for (index, &width) in widths.iter().enumerate() {
                    prop_assert_eq!(usize::from(bands[pixel]) <= index, nearest <= f64::from(width) + 1e-9);
                }
            }
        }

        #[test]
        fn outlines_agree_as_trying_every_pair_says(truth in scene(), seed in any::<u64>()) {
            let (shape, n) = (truth.shape(), truth.labels().len());
            let mask: Vec<bool> = (0..n).map(|pixel| seed >> (pixel % 64) & 1 == 1).collect();
            let counts: Vec<bool> = truth.labels().iter().map(Option::is_some).collect();
            let mut of_truth = Outline::of(&truth);
            of_truth.reach = 2;
            let drawn = outline(shape, &mask);
            let near = |from: &[bool], to: &[bool]| {
                let from: Vec<usize> = (0..n).filter(|&p| from[p] && counts[p]).collect();
                let reached = |&&p: &&usize| (0..n).any(|q| to[q] && distance(shape, p, q) <= 2_f64.sqrt() + 1e-9);
                (!from.is_empty()).then(|| from.iter().filter(reached).count() as f64 / from.len() as f64)
            };
            let f = near(&of_truth.pixels, &drawn).map(|recall| {
                let precision = near(&drawn, &of_truth.pixels).unwrap_or(0.0);
                if recall + precision > 0.0 { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
            });
            prop_assert_eq!(of_truth.agreement(&mask, [&counts]), [f]);
        }
    }

    #[test]
    fn a_region_left_open_is_boundary_only_between_the_classes() {
        let label = |c: char| match c {
            'F' => Some(true),
            'b' => Some(false),
            _ => None,
        };
        let labels: Vec<_> = "FF..bbb.bb".chars().map(label).collect();
        let shape = Shape::new(10, 1);
        let open: Vec<usize> = (0..10).filter(|&pixel| between(shape, &labels)[pixel]).collect();
        assert_eq!(open, [2, 3]);
        let bands = bands(&Truth::new(shape, labels), &[1, 2]);
        assert_eq!(bands, [1, 0, 2, 2, 0, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn the_right_mask_has_boundary_f_of_one_and_an_empty_one_of_zero() {
        let inside: Vec<bool> = (0..64).map(|pixel| pixel % 8 > 2 && pixel / 8 > 3).collect();
        let shape = Shape::new(8, 8);
        let truth = Truth::new(shape, inside.iter().map(|&inside| Some(inside)).collect());
        let outline = Outline::of(&truth);
        let all = vec![true; 64];
        assert_eq!(outline.agreement(&inside, [&all]), [Some(1.0)]);
        assert_eq!(outline.agreement(&[false; 64], [&all]), [Some(0.0)]);
        assert_eq!(outline.agreement(&inside, [&[false; 64]]), [None]);
    }
}
