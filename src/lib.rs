//! Photos and a few brush strokes in, a mask and an honest probability for every pixel out.

mod error;

pub use error::{Error, Result};

/// What stages hand to each other.
pub mod field;

/// The decoded photo.
pub mod picture;

/// Strokes and ground truth.
pub mod annotation;

/// From strokes to log-odds: colour mixtures and stroke distance.
pub mod unary;

/// Pictures, arrays and reports of the result.
pub mod render;

/// Algorithms on slices.
pub mod kernel;
