//! Ground truth: what the mask should have been.

use super::Shape;

/// The right answer per pixel, where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    shape: Shape,
    labels: Vec<Option<bool>>,
}

impl Truth {
    /// Takes one label per pixel, row by row: foreground, background, or nothing where the pixel is not scored.
    ///
    /// # Panics
    /// When the number of labels is not the number of pixels.
    pub fn new(shape: Shape, labels: Vec<Option<bool>>) -> Self {
        assert_eq!(labels.len(), shape.n_pixels(), "one label per pixel of a {shape} grid");
        Self { shape, labels }
    }

    /// The shape of the grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The labels, row by row: `Some(true)` foreground, `Some(false)` background, `None` not scored.
    pub fn labels(&self) -> &[Option<bool>] {
        &self.labels
    }
}
