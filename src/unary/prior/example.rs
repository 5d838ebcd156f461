//! What the network is surest of: on either side of p = ½ the half of the pixels whose surroundings it is surest about.
//!
//! Which half does not depend on the scale of the logits. They are averaged around every pixel first, so that in a mask of 0 and 1, where all
//! are equally sure, the inside counts and the outline does not.

use crate::grid::{Picture, Shape, Unary};
use crate::unary::context::box_mean;
use crate::{Checkpoint, Result};

/// Logits beyond this are equally sure.
const SURE: f64 = 8.0;

/// Pixels of a class that are too few to have colours of their own.
const FEW: usize = 50;

/// The radius of the surroundings, a share of the diagonal.
const RADIUS: f64 = 0.01;

/// Colours of foreground and background, row by row; nothing where the network sees hardly a pixel of a class.
pub(super) fn colours(
    picture: &Picture,
    network: &Unary,
    checkpoint: Checkpoint<'_>,
) -> Result<Option<(Vec<[u8; 3]>, Vec<[u8; 3]>)>> {
    let Shape { width, height } = picture.shape();
    let radius = (RADIUS * (width as f64).hypot(height as f64)).round() as usize;
    let mut around: Vec<[f32; 1]> = network.as_slice().iter().map(|m| [-m.clamp(-SURE, SURE) as f32]).collect();
    for _ in 0..2 {
        around = box_mean(picture.shape(), &around, radius, checkpoint)?;
    }
    let class = |sign: f64| {
        let on_side = |&pixel: &usize| -sign * network.as_slice()[pixel] > 0.0;
        let sureness = |pixel: usize| sign as f32 * around[pixel][0];
        let mut pixels: Vec<usize> = (0..around.len()).filter(on_side).collect();
        let mut ranked: Vec<f32> = pixels.iter().map(|&pixel| sureness(pixel)).collect();
        if ranked.len() < FEW {
            return None;
        }
        let middle = ranked.len() / 2;
        let median = *ranked.select_nth_unstable_by(middle, f32::total_cmp).1;
        pixels.retain(|&pixel| sureness(pixel) >= median);
        Some(pixels.into_iter().map(|pixel| picture.rgb()[pixel]).collect())
    };
    Ok(class(1.0).zip(class(-1.0)))
}
