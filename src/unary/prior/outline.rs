//! How well the outline p = ½ follows the edges of the photo.
//!
//! R is the mean, over the pairs of neighbours that the outline divides, of (c + 1)/(c̄ + 1): c = ‖rgb_p − rgb_q‖ across it, c̄ the mean of
//! such differences in the square of 9 × 9 pixels around. An outline drawn to the pixel lies where differences are largest, and R is 2 or more;
//! one that is off by a few pixels, or noise, crosses what lies around, and R is about 1. The 1, on the scale of 0 to 255, is what rounding
//! makes of equal colours.

use super::{LOOSE, MOST, POWER};
use crate::grid::{Picture, Shape, Unary};
use crate::unary::context::box_mean;
use crate::{Checkpoint, Result};

/// The radius of the square around a pixel.
const RADIUS: usize = 4;

/// How many times surer of its outline than of its logits the network may be taken to be: 1 or more.
pub(super) fn trust(picture: &Picture, network: &Unary, checkpoint: Checkpoint<'_>) -> Result<f64> {
    let ratio = following(picture, network, checkpoint)?;
    Ok((ratio / LOOSE).powf(POWER).clamp(1.0, MOST))
}

/// R; 1 where there is no outline.
pub(super) fn following(picture: &Picture, network: &Unary, checkpoint: Checkpoint<'_>) -> Result<f64> {
    let Shape { width, height } = picture.shape();
    let (rgb, m) = (picture.rgb(), network.as_slice());
    let difference = |p: usize, q: usize| {
        let squared = |i: usize| (f64::from(rgb[p][i]) - f64::from(rgb[q][i])).powi(2);
        (0..3).map(squared).sum::<f64>().sqrt()
    };
    // To the right and down, where there is a neighbour.
    let neighbours = |pixel: usize| {
        let right = (pixel % width + 1 < width).then_some(pixel + 1);
        let below = (pixel / width + 1 < height).then_some(pixel + width);
        right.into_iter().chain(below)
    };
    let own = |pixel: usize| mean(neighbours(pixel).map(|other| difference(pixel, other))).unwrap_or(0.0);
    let differences: Vec<[f32; 1]> = (0..m.len()).map(|pixel| [own(pixel) as f32]).collect();
    let around = box_mean(picture.shape(), &differences, RADIUS, checkpoint)?;
    let divided = (0..m.len()).flat_map(|pixel| neighbours(pixel).map(move |other| (pixel, other)));
    let divided = divided.filter(|&(p, q)| (m[p] < 0.0) != (m[q] < 0.0));
    let ratio = |(p, q): (usize, usize)| (difference(p, q) + 1.0) / (f64::from(around[p][0]) + 1.0);
    Ok(mean(divided.map(ratio)).unwrap_or(1.0))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}
