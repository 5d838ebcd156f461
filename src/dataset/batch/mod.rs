//! Whole data sets: a folder of photos in, a folder of results and one report out, on one machine or many.
//!
//! [`Plan::make`] decides what will be done before anything is; [`run`] does it, photo by photo as `segment` would, and writes the
//! report; [`merge`] makes one report of the shards that several machines worked on.
//!
//! ```text
//! OUT/sub/STEM.mask.png …   the outputs of each photo, where segment -o OUT/sub would put them
//! OUT/batch.ndjson          one line per photo in the order of the plan: its report, or why there is none
//! OUT/summary.json          counts, seconds, throughput, means of scores
//! OUT/index.html            a page to look through the results
//! OUT/.lfield/              scores, sizes and thumbnails, from which an interrupted batch goes on, and the locks of those at work
//! ```
//!
//! A shard writes `batch.I-of-N.ndjson` and `summary.I-of-N.json` instead of the three. What differs from run to run is seconds
//! (`timing`, `solve.seconds`, `seconds` and everything under `run`); all else is the same however the work was divided.

mod merge;
mod notes;
mod page;
mod photos;
mod plan;
mod report;
mod run;
mod shard;

pub use merge::merge;
pub use photos::{Pattern, Selection, photos_below};
pub use plan::{Common, Item, Obstacle, Plan, Sources};
pub use report::{Counts, Mention, Run, SCHEMA, Seconds, Summary};
pub use run::{Outcome, Settings, Watch, is_done, lock, run};
pub use shard::Shard;

pub use super::pair::EXTENSIONS;
