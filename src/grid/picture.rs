//! The photo: 8-bit RGB, row by row, upright.

use std::sync::Arc;

use super::{Original, Shape};
use crate::{Error, Result};

/// An 8-bit RGB photo.
///
/// ```
/// use lfield::{Limits, Picture, Shape};
///
/// # fn main() -> lfield::Result<()> {
/// let picture = Picture::from_rgb(Shape::new(2, 1), vec![[255, 0, 0], [0, 0, 255]])?;
/// assert_eq!(picture.rgb()[1], [0, 0, 255]);
/// let plain = Picture::decode(b"P6 1 1 255 abc", &Limits::default())?;
/// assert_eq!(plain.rgb(), [*b"abc"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    shape: Shape,
    rgb: Vec<[u8; 3]>,
    original: Option<Arc<Original>>,
}

impl Picture {
    /// Takes one RGB triple per pixel, row by row.
    ///
    /// # Panics
    /// When the number of triples is not the number of pixels.
    pub fn new(shape: Shape, rgb: Vec<[u8; 3]>) -> Self {
        assert_eq!(rgb.len(), shape.n_pixels(), "one colour per pixel of a {shape} grid");
        Self { shape, rgb, original: None }
    }

    /// The same, and an error instead of a panic.
    pub fn from_rgb(shape: Shape, rgb: Vec<[u8; 3]>) -> Result<Self> {
        if rgb.is_empty() || rgb.len() != shape.width.saturating_mul(shape.height) {
            return Err(Error::parameter(
                "the number of colours",
                rgb.len(),
                format!("one per pixel of a {shape} grid that is not empty"),
            ));
        }
        Ok(Self { shape, rgb, original: None })
    }

    /// The same photo with what its file holds beyond 8-bit colours, which must be of the same size.
    ///
    /// # Panics
    /// When the number of pixels is another.
    #[must_use]
    pub fn with_original(self, original: Original) -> Self {
        assert!(original.rgba.as_ref().is_none_or(|rgba| rgba.len() == self.rgb.len()), "one colour per pixel");
        Self { original: (!original.is_plain()).then(|| Arc::new(original)), ..self }
    }

    /// What the photo's file holds beyond 8-bit colours, if anything.
    pub fn original(&self) -> Option<&Original> {
        self.original.as_deref()
    }

    /// The shape of the grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The colours, row by row.
    pub fn rgb(&self) -> &[[u8; 3]] {
        &self.rgb
    }
}
