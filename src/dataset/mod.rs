//! Whole data sets: many photos with strokes and truth.

pub mod batch;
pub mod evaluate;
