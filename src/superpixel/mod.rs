//! Superpixels: the photo cut into small regions of one colour, by mean shift (Comaniciu & Meer 2002).
//!
//! Every pixel is a point (x, y, L, u, v). From each point the window |(x, y) − centre| < hs, |(L, u, v) − centre| < hr is
//! moved to the mean of the pixels inside it until it stands still: at a mode of the joint density. Neighbouring pixels
//! whose modes agree are one region, regions whose mean modes are within hr/2 are fused, and regions of fewer than M
//! pixels are absorbed by the neighbour nearest in colour. The scales are those of EDISON and pymeanshift, so
//! (hs, hr, M) means here what it means there.
//!
//! The photo's grid is the index: all pixels in a window are found by scanning it. Work is shared out in square tiles
//! that do not depend on the number of threads, and neither does the result.

mod filter;
mod layer;
mod luv;
mod region;
#[cfg(test)]
mod tests;
mod window;

pub use layer::Layer;

use crate::grid::{Partition, Picture};
use crate::{Checkpoint, Error, Result};

/// Cuts the photo into connected regions of at least `layer.min_size()` pixels (unless the photo is smaller). Labels are
/// numbered in the order in which a row-by-row scan first meets them.
pub fn mean_shift(picture: &Picture, layer: &Layer, checkpoint: Checkpoint<'_>) -> Result<Partition> {
    mean_shift_observed(picture, layer, checkpoint, &|_| {})
}

/// [`mean_shift`], calling `progress` with the share of the work done, in any order and from any thread.
pub fn mean_shift_observed(
    picture: &Picture,
    layer: &Layer,
    checkpoint: Checkpoint<'_>,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Partition> {
    if u32::try_from(picture.shape().n_pixels()).is_err() {
        return Err(Error::Parameter {
            name: "the size of the photo".to_string(),
            value: picture.shape().to_string(),
            expected: "at most 4294967295 pixels: scale it down".to_string(),
        });
    }
    let colours = luv::Luv::new(picture);
    let modes = filter::modes(&colours, layer, true, checkpoint, progress)?;
    region::regions(picture.shape(), &modes, layer, checkpoint)
}
