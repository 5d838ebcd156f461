//! What the stages hand to each other: pixel grids that carry their shape and keep their promises.
//!
//! Values are row-major; pixel = row · width + column. A constructor refuses what would make the mathematics false: [`Unary`] is
//! finite, [`Marginals`] lie in \[0, 1\], the labels of a [`Partition`] are dense.

mod blocks;
mod distance;
mod fold;
mod original;
mod partition;
mod picture;
mod region;
mod seeds;
mod truth;
mod values;

pub use blocks::Blocks;
pub(crate) use distance::squared_distances;
pub use fold::Folds;
pub(crate) use fold::sort_along_axis;
pub use original::{Original, Profile};
pub use partition::Partition;
pub use picture::Picture;
pub use region::components;
pub(crate) use region::{deepest, depths};
pub use seeds::{Seed, Seeds};
pub use truth::Truth;
pub use values::{Marginals, Mask, Shape, Unary};
