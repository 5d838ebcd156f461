//! The photo: 8-bit RGB, row by row, upright.

use super::Shape;

/// An 8-bit RGB photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    shape: Shape,
    rgb: Vec<[u8; 3]>,
}

impl Picture {
    /// Takes one RGB triple per pixel, row by row.
    ///
    /// # Panics
    /// When the number of triples is not the number of pixels.
    pub fn new(shape: Shape, rgb: Vec<[u8; 3]>) -> Self {
        assert_eq!(rgb.len(), shape.n_pixels(), "one colour per pixel of a {shape} grid");
        Self { shape, rgb }
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
