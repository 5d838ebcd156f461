//! What the stages hand to each other: pixel grids that carry their shape and keep their promises.
//!
//! Each type is a thin wrapper over an `ndarray` grid (row-major, `(height, width)`) whose constructor refuses what
//! would make the mathematics false: [`Unary`] is finite, [`Marginals`] lie in \[0, 1\], the labels of a [`Partition`]
//! are dense. Pixels are numbered row by row: pixel = row · width + column.

mod grid;
mod partition;

pub use grid::{Marginals, Mask, Shape, Unary};
pub use partition::Partition;
