//! The only way to the disk: names of output files, the cache key, staging and renaming.

pub mod files;
mod key;
mod write;

pub use key::{BUILD, key, key_of_files};
pub use write::{Written, check_folder, output_names, write};
