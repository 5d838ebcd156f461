//! What a person drew: strokes (seeds), and ground truth.

use crate::field::Shape;

/// What a stroke says about one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// No stroke here.
    Unlabelled,
    /// The stroke says background.
    Background,
    /// The stroke says foreground.
    Foreground,
}

/// The strokes, one [`Seed`] per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    shape: Shape,
    labels: Vec<Seed>,
}

impl Seeds {
    /// Takes one label per pixel, row by row.
    ///
    /// # Panics
    /// When the number of labels is not the number of pixels.
    pub fn new(shape: Shape, labels: Vec<Seed>) -> Self {
        assert_eq!(labels.len(), shape.n_pixels(), "one seed label per pixel of a {shape} grid");
        Self { shape, labels }
    }

    /// The shape of the grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The labels, row by row.
    pub fn labels(&self) -> &[Seed] {
        &self.labels
    }

    /// Number of pixels that carry `seed`.
    pub fn count(&self, seed: Seed) -> usize {
        self.labels.iter().filter(|&&label| label == seed).count()
    }
}
