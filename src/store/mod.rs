//! The only way to the disk: names of output files, the cache key, staging and renaming.

pub mod files;
mod key;
mod write;

pub use write::{Written, output_names};
