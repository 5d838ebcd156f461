//! The report of a batch: a line per photo, a summary, and a page.
//!
//! Lines are made from the reports on disk, whether they were written just now, by an earlier run or by another machine, so all
//! three ways lead to the same bytes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::notes::Notes;
use super::page;
use super::plan::{Item, Plan};
use super::run::{Outcome, Settings};
use super::shard::Shard;
use crate::encode::Thumbnails;
use crate::encode::report::{Report, Tool};
use crate::metric::{self, Scores};
use crate::read::Digest;
use crate::store::files::{Rendered, Staged, sweep_leftovers};
use crate::{Error, Result};

/// Version of the format of the summary.
pub const SCHEMA: &str = "lfield.batch/1";

/// The files of an undivided batch; the summary comes last.
pub(super) const NAMES: [&str; 3] = ["batch.ndjson", "index.html", "summary.json"];

/// A batch in numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name and version of the program.
    pub tool: Tool,
    /// A name for the plan: photos, their order, options.
    pub plan: Digest,
    /// Photos in the plan, of which a shard does its share.
    pub planned: usize,
    /// Which share this is about.
    pub shard: Option<String>,
    /// What became of the photos.
    pub counts: Counts,
    /// Pixels of the photos that are done, in millions.
    pub megapixels: f64,
    /// Means over the photos that have a truth.
    pub scores: Option<metric::Summary>,
    /// What the photos that are done took, each for itself.
    pub seconds: Seconds,
    /// This very run: what it did, and how fast.
    pub run: Run,
    /// Photos that failed.
    pub failed: Vec<Mention>,
    /// Photos without anything to go by.
    pub skipped: Vec<Mention>,
}

/// What became of the photos.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All of them.
    pub images: usize,
    /// Outputs are there.
    pub done: usize,
    /// Something was wrong.
    pub failed: usize,
    /// Nothing to go by.
    pub skipped: usize,
    /// The batch was interrupted before.
    pub pending: usize,
    /// Done, but the solver stopped before the tolerance.
    pub not_converged: usize,
    /// Compared with a truth.
    pub scored: usize,
}

/// Seconds of the photos that are done.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// Their sum.
    pub total: f64,
    /// Their mean.
    pub mean: Option<f64>,
    /// The longest.
    pub longest: Option<f64>,
}

/// One run of the program, or those of all shards.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Photos segmented.
    pub segmented: usize,
    /// Photos that were done before.
    pub resumed: usize,
    /// From start to end; of shards, the longest.
    pub seconds: f64,
    /// Photos segmented per second.
    pub images_per_second: Option<f64>,
    /// Millions of pixels segmented per second.
    pub megapixels_per_second: Option<f64>,
    /// Photos at once; of shards, the sum.
    pub jobs: usize,
    /// Threads; of shards, the sum.
    pub threads: usize,
    /// Limit on memory in bytes, if one was given.
    pub max_memory: Option<u64>,
    /// Millions of pixels segmented.
    pub megapixels: f64,
    /// Whether it stopped because the disk had no room left.
    #[serde(default)]
    pub disk_full: bool,
}

/// A photo and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// Its path below the folder.
    pub image: String,
    /// What is to be said.
    pub reason: String,
}

impl Run {
    /// With the rates that follow from the amounts.
    pub(super) fn rated(self) -> Self {
        let rate = |amount: f64| (amount > 0.0 && self.seconds > 0.0).then(|| amount / self.seconds);
        let images_per_second = rate(self.segmented as f64);
        Self { images_per_second, megapixels_per_second: rate(self.megapixels), ..self }
    }
}

/// Where the report of a photo is.
pub(super) fn report_path(out: &Path, item: &Item) -> PathBuf {
    let mut name = item.stem().to_os_string();
    name.push(".report.json");
    out.join(&item.folder).join(name)
}

/// Writes the report of a batch or of a shard. Files that would not change are left alone when nothing was segmented.
pub(super) fn write(
    plan: &Plan,
    items: &[&Item],
    outcomes: &[Outcome],
    settings: &Settings,
    run: Run,
) -> Result<Summary> {
    let before = |outcome: &&Outcome| matches!(outcome, Outcome::Done { before: true, .. });
    let segmented = outcomes.iter().filter(|o| matches!(o, Outcome::Done { before: false, .. })).count();
    let run = Run { segmented, resumed: outcomes.iter().filter(before).count(), ..run }.rated();
    let entries = items.iter().zip(outcomes).map(|(item, outcome)| entry(&settings.out, item, outcome));
    let header = Header { plan: plan.digest(), planned: plan.items.len(), shard: settings.shard, run };
    publish(&settings.out, header, entries)
}

/// What a summary says beyond its photos.
pub(super) struct Header {
    pub(super) plan: Digest,
    pub(super) planned: usize,
    pub(super) shard: Option<Shard>,
    pub(super) run: Run,
}

/// A line of `batch.ndjson`: what became of a photo, followed by its report with the scores before it, or by the reason for there
/// being none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) index: usize,
    pub(super) image: String,
    pub(super) status: State,
    /// What the paths of its outputs begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scores: Option<Scores>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(flatten)]
    pub(super) report: Option<Report>,
}

/// What became of a photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Done,
    Failed,
    Skipped,
    Pending,
}

/// A line about a photo, and its pictures.
pub(super) struct Entry {
    pub(super) line: Line,
    pub(super) thumbnails: Option<Thumbnails>,
}

fn entry(out: &Path, item: &Item, outcome: &Outcome) -> Result<Entry> {
    let mut line = Line {
        index: item.index,
        image: item.name.clone(),
        status: State::Pending,
        stem: None,
        scores: None,
        error: None,
        reason: None,
        report: None,
    };
    let mut thumbnails = None;
    match outcome {
        Outcome::Done { .. } => {
            line.status = State::Done;
            line.stem = Some(item.results());
            let path = report_path(out, item);
            let report = Report::from_json(&std::fs::read(&path).map_err(Error::unreadable(&path))?)
                .map_err(|error| Error::Damaged { path: path.clone(), problem: error.to_string() })?;
            if let Some(notes) = Notes::read(out, item)?.filter(|notes| Some(notes.fingerprint) == report.fingerprint) {
                line.scores = notes.scores.filter(|_| item.truth.is_some());
                thumbnails = Some(notes.thumbnails);
            }
            line.report = Some(report);
        }
        Outcome::Failed(reason) => (line.status, line.error) = (State::Failed, Some(reason.clone())),
        Outcome::Skipped(reason) => (line.status, line.reason) = (State::Skipped, Some(reason.clone())),
        Outcome::Pending => {}
    }
    Ok(Entry { line, thumbnails })
}

/// Counts as lines go by.
#[derive(Default)]
struct Tally {
    counts: Counts,
    pixels: f64,
    seconds: Vec<f64>,
    scores: Vec<Scores>,
    failed: Vec<Mention>,
    skipped: Vec<Mention>,
}

impl Tally {
    fn add(&mut self, line: &Line) {
        let mention =
            |reason: &Option<String>| Mention { image: line.image.clone(), reason: reason.clone().unwrap_or_default() };
        self.counts.images += 1;
        match line.status {
            State::Done => {
                self.counts.done += 1;
                if let Some(report) = &line.report {
                    self.counts.not_converged += usize::from(!report.solve.converged);
                    self.pixels += report.model.pixels as f64;
                    self.seconds.push(report.timing.total);
                }
                self.scores.extend(line.scores.clone());
            }
            State::Failed => {
                self.counts.failed += 1;
                self.failed.push(mention(&line.error));
            }
            State::Skipped => {
                self.counts.skipped += 1;
                self.skipped.push(mention(&line.reason));
            }
            State::Pending => self.counts.pending += 1,
        }
    }

    fn summary(self, header: &Header) -> Summary {
        // The sum of nothing is −0.
        let total = self.seconds.iter().sum::<f64>() + 0.0;
        let scored = self.scores.len();
        Summary {
            schema: SCHEMA.to_string(),
            tool: Tool::this(),
            plan: header.plan,
            planned: header.planned,
            shard: header.shard.map(|shard| shard.to_string()),
            counts: Counts { scored, ..self.counts },
            megapixels: self.pixels / 1e6,
            scores: (scored > 0).then(|| metric::Summary::of(&self.scores)),
            seconds: Seconds {
                total,
                mean: (!self.seconds.is_empty()).then(|| total / self.seconds.len() as f64),
                longest: self.seconds.iter().copied().reduce(f64::max),
            },
            run: header.run,
            failed: self.failed,
            skipped: self.skipped,
        }
    }
}

/// Writes line by line, so that no data set is too large; a page is made of an undivided batch only.
pub(super) fn publish(out: &Path, header: Header, entries: impl Iterator<Item = Result<Entry>>) -> Result<Summary> {
    let names = names(header.shard);
    let [lines, page, summary] = &names;
    sweep_leftovers(out, &names)?;
    let mut staged = Staged::new(out)?;
    let mut tally = Tally::default();
    let mut rows = page::Rows::default();
    let mut trouble = Ok(());
    staged.add_written(lines.clone(), |file| {
        for entry in entries {
            match entry {
                Ok(entry) => {
                    tally.add(&entry.line);
                    if header.shard.is_none() {
                        rows.add(&entry);
                    }
                    serde_json::to_writer(&mut *file, &entry.line)?;
                    file.write_all(b"\n")?;
                }
                Err(error) => {
                    trouble = Err(error);
                    break;
                }
            }
        }
        Ok(())
    })?;
    trouble?;
    let result = tally.summary(&header);
    let expected = names.iter().filter(|&name| name != page || header.shard.is_none());
    if header.run.segmented == 0 && staged.is_unchanged(0)? && expected.into_iter().all(|name| out.join(name).exists())
    {
        return Ok(result);
    }
    if header.shard.is_none() {
        staged.add_written(page.clone(), |file| rows.write(&result, file))?;
    }
    staged.add(&[Rendered { name: summary.clone(), bytes: crate::encode::json(&result) }])?;
    staged.commit()?;
    Ok(result)
}

/// The files of a batch or of a shard.
pub(super) fn names(shard: Option<Shard>) -> [OsString; 3] {
    NAMES.map(|name| match (shard, name.split_once('.')) {
        (Some(shard), Some((stem, ending))) => format!("{stem}.{}.{ending}", shard.label()).into(),
        _ => name.into(),
    })
}
