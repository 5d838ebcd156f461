//! What the network is surest of: on either side of p = ½ the half of the pixels whose surroundings it is surest about.
//!
//! Which half does not depend on the scale of the logits. They are averaged around every pixel first, so that in a mask of 0 and 1, where all
//! are equally sure, the inside counts and the outline does not.

use crate::grid::{Seed, Seeds, Unary};
use crate::unary::context::box_mean;
use crate::{Checkpoint, Result};

/// Logits beyond this are equally sure.
const SURE: f64 = 8.0;

/// Pixels of a class that are too few to have colours of their own.
const FEW: usize = 50;

/// The radius of the surroundings, a share of the diagonal.
const RADIUS: f64 = 0.01;

/// The examples of both classes; nothing where the network sees hardly a pixel of one.
pub(super) fn surest(network: &Unary, checkpoint: Checkpoint<'_>) -> Result<Option<Seeds>> {
    let shape = network.shape();
    let radius = (RADIUS * (shape.width as f64).hypot(shape.height as f64)).round() as usize;
    let mut around: Vec<[f32; 1]> = network.as_slice().iter().map(|m| [-m.clamp(-SURE, SURE) as f32]).collect();
    for _ in 0..2 {
        around = box_mean(shape, &around, radius, checkpoint)?;
    }
    let mut labels = vec![Seed::Unlabelled; around.len()];
    for (class, sign) in [(Seed::Foreground, 1.0), (Seed::Background, -1.0)] {
        let on_side = |&pixel: &usize| -f64::from(sign) * network.as_slice()[pixel] > 0.0;
        let sureness = |pixel: usize| sign * around[pixel][0];
        let pixels: Vec<usize> = (0..around.len()).filter(on_side).collect();
        if pixels.len() < FEW {
            return Ok(None);
        }
        let mut ranked: Vec<f32> = pixels.iter().map(|&pixel| sureness(pixel)).collect();
        let median = *ranked.select_nth_unstable_by(pixels.len() / 2, f32::total_cmp).1;
        pixels.into_iter().filter(|&pixel| sureness(pixel) >= median).for_each(|pixel| labels[pixel] = class);
    }
    Ok(Some(Seeds::new(shape, labels)))
}
