//! Superpixels: the photo cut into small regions of one colour, by mean shift (Comaniciu & Meer 2002).
//!
//! Every pixel is a point (x, y, L, u, v). From each point the window |(x, y) − centre| < hs, |(L, u, v) − centre| < hr is
//! moved to the mean of the pixels inside it until it stands still: at a mode of the joint density. Neighbouring pixels
//! whose modes agree are one region, regions whose mean modes are within hr/2 are fused, and regions of fewer than M
//! pixels are absorbed by the neighbour nearest in colour. The scales are those of EDISON and pymeanshift, so
//! (hs, hr, M) means here what it means there.
//!
//! The photo's grid is the index: all pixels in a window are found by scanning it. A coarser layer goes on where the finer one
//! before it has arrived, at the finer one's modes. Work is shared out in square tiles that do not depend on the number of
//! threads, and neither does the result.

mod filter;
mod layer;
mod luv;
mod region;
#[cfg(test)]
mod tests;
mod window;

pub use layer::Layer;

use std::sync::Arc;

use rayon::prelude::*;

use crate::grid::{Partition, Picture};
use crate::{Checkpoint, Error, Result};
use filter::Modes;
use luv::Luv;

/// Cuts the photo into connected regions of at least `layer.min_size()` pixels (unless the photo is smaller). Labels are
/// numbered in the order in which a row-by-row scan first meets them.
pub fn mean_shift(picture: &Picture, layer: &Layer, checkpoint: Checkpoint<'_>) -> Result<Partition> {
    let mut partitions = layers(picture, std::slice::from_ref(layer), checkpoint)?;
    Ok(partitions.remove(0))
}

/// The partitions of several layers. A layer starts from the modes of the one before if that has no larger bandwidth in either
/// direction, and from the pixels otherwise.
pub fn layers(picture: &Picture, layers: &[Layer], checkpoint: Checkpoint<'_>) -> Result<Vec<Partition>> {
    let mut series = Series::new(picture, layers)?;
    let modes = layers.iter().map(|layer| series.climb(layer, checkpoint, &|_| {})).collect::<Result<Vec<_>>>()?;
    let cut = layers.par_iter().zip(modes);
    cut.map(|(layer, modes)| region::regions(picture.shape(), &modes, layer, checkpoint)).collect()
}

/// As [`layers`], one partition at a time, in the order of the layers given to it.
pub struct Series {
    luv: Luv,
    before: Option<(Layer, Arc<Modes>)>,
}

impl Series {
    /// For these layers of a photo.
    pub fn new(picture: &Picture, layers: &[Layer]) -> Result<Self> {
        if u32::try_from(picture.shape().n_pixels()).is_err() {
            return Err(Error::Parameter {
                name: "the size of the photo".to_string(),
                value: picture.shape().to_string(),
                expected: "at most 4294967295 pixels: scale it down".to_string(),
            });
        }
        let reach = layers.iter().map(window::Reach::pixels).max().unwrap_or_default();
        Ok(Self { luv: Luv::new(picture, reach), before: None })
    }

    /// The partition of the next layer; `progress` hears the share of the work done, in any order and from any thread.
    pub fn next(
        &mut self,
        layer: &Layer,
        checkpoint: Checkpoint<'_>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Partition> {
        let modes = self.climb(layer, checkpoint, progress)?;
        region::regions(self.luv.shape(), &modes, layer, checkpoint)
    }

    fn climb(
        &mut self,
        layer: &Layer,
        checkpoint: Checkpoint<'_>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Arc<Modes>> {
        let finer = self.before.take().filter(|(before, _)| before.is_within(layer));
        let start = finer.as_ref().map(|(_, modes)| &**modes);
        let modes = Arc::new(Modes::climb(&self.luv, layer, start, true, checkpoint, progress)?);
        self.before = Some((*layer, Arc::clone(&modes)));
        Ok(modes)
    }
}
