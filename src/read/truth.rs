//! Ground truth from a grey image.

use std::path::Path;

use super::raster::Raster;
use crate::grid::{Shape, Truth};
use crate::read::{Digest, Limits};
use crate::{Error, Result};

impl Truth {
    /// Reads a mask for a photo of shape `photo`: grey 255 foreground, 0 background, 128 not scored. A mask of only 0 and 1 is read as that.
    pub fn read(path: &Path, photo: Shape, limits: &Limits) -> Result<Self> {
        Ok(Self::read_named(path, photo, limits)?.0)
    }

    /// As [`Truth::read`], with the content hash.
    pub fn read_named(path: &Path, photo: Shape, limits: &Limits) -> Result<(Self, Digest)> {
        let raster = Raster::read(path, limits, Some(photo))?;
        let values = raster.grey.as_deref().unwrap_or(&[]);
        let foreground = if values.iter().all(|&value| value <= 1) { 1 } else { 255 };
        let label = |&value: &u16| match value {
            0 => Some(Some(false)),
            128 => Some(None),
            value if value == foreground => Some(Some(true)),
            _ => None,
        };
        match values.iter().map(label).collect::<Option<Vec<_>>>() {
            Some(labels) if raster.grey.is_some() => Ok((Self::new(raster.shape, labels), raster.digest)),
            _ => Err(Error::unsuitable(
                path,
                format!("holds {}", raster.describe()),
                "ground truth is grey 255 (foreground), 0 (background) and 128 (not scored) only",
            )),
        }
    }
}
