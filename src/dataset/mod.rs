//! Whole data sets: what `batch` and `evaluate` share, and the two of them.

pub mod batch;
pub mod evaluate;
pub mod manifest;
mod pair;
mod pool;
mod slot;

pub use pool::Budget;
