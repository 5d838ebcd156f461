//! The only way to the disk: names of output files, the cache key, locks, staging and renaming.

pub mod files;
mod key;
mod lock;
mod write;

pub use key::{BUILD, key, key_of_files};
pub use lock::Lock;
pub use write::{Prepared, Written, check_folder, output_names, prepare, prepare_as, single, write};
