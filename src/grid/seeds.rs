//! What strokes say about each pixel.

use super::Shape;
use crate::{Error, Result};

/// What a stroke says about one pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seed {
    /// No stroke here.
    #[default]
    Unlabelled,
    /// The stroke says background.
    Background,
    /// The stroke says foreground.
    Foreground,
}

/// The strokes, one [`Seed`] per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    pub(super) shape: Shape,
    pub(super) labels: Vec<Seed>,
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

    /// Refuses strokes that leave a class without a pixel; `what` names the strokes in the message.
    pub fn require_both_classes(&self, what: &str) -> Result<()> {
        let class = match (self.count(Seed::Foreground), self.count(Seed::Background)) {
            (0, 0) => "foreground and no background",
            (0, _) => "foreground",
            (_, 0) => "background",
            _ => return Ok(()),
        };
        Err(Error::MissingStroke { what: what.to_string(), class })
    }
}
