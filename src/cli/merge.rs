//! `lfield merge OUT`: one report from the shards of a batch.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use lfield::dataset::batch::{self, Counts};

use super::voice::Voice;
use super::{DONE, NOTHING, pipe};

/// Make one report from the shards of a batch
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Merge {
    /// The output folder that the shards share
    #[arg(value_name = "OUT", value_hint = ValueHint::DirPath)]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  lfield batch photos -o out --shard 1/2    on one machine
  lfield batch photos -o out --shard 2/2    on another, with the same folders
  lfield merge out                          when both are done

Writes batch.ndjson, summary.json and index.html: but for seconds, what one machine
would have written. Refuses when shards are missing, unfinished or of different plans,
and says which to run again. Exit code 3: there are no shards.";

impl Merge {
    pub(super) fn run(&self, voice: &Voice) -> Result<u8> {
        pipe::refuse("lfield merge", &[("the folder", Some(&*self.out))])?;
        let Some(summary) = batch::merge(&self.out)? else {
            voice.say(format_args!("no shards of a batch in {}", self.out.display()));
            return Ok(NOTHING);
        };
        let Counts { images, done, failed, skipped, .. } = summary.counts;
        let page = self.out.join("index.html");
        voice.say_of(
            &voice.bold(&self.out.display().to_string()),
            format_args!("{images} photos, {done} done, {failed} failed, {skipped} skipped; see {}", page.display()),
        );
        Ok(DONE)
    }
}
