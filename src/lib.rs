//! Photos and a few brush strokes in, a mask and an honest probability for every pixel out.

mod error;

pub use error::{Error, Result};

/// The stages in order: what the program does, from files to files.
pub mod pipeline;

/// What stages hand to each other.
pub mod field;

/// What every reader of files shares.
pub mod input;

/// The decoded photo.
pub mod picture;

/// Strokes and ground truth.
pub mod annotation;

/// Costs, probabilities and superpixels that another program made.
pub mod evidence;

/// Photo → regions of one colour.
pub mod superpixel;

/// From strokes to log-odds: colour mixtures and stroke distance.
pub mod unary;

/// The seam: picture, unary, superpixels and strokes become a model.
pub mod assemble;

/// Algorithms on slices.
pub mod kernel;

/// Potentials, seen through their base polytopes.
pub mod factor;

/// Unary and layers of disjoint factors.
pub mod model;

/// Minimum norm, with proof.
pub mod solver;

/// Pictures, arrays and reports of the result.
pub mod render;
