//! One report from the shards of a batch.
//!
//! The lines of the shards are merged by their index. That only makes sense if all shards are there, are finished and followed the same plan;
//! anything else is refused, with the shards to run again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::notes::FOLDER;
use super::report::{Entry, Header, Line, Run, Summary, names, publish};
use super::shard::Shard;
use crate::encode::Thumbnails;
use crate::store::Lock;
use crate::{Error, Result};

/// Merges the shards in `out` into `batch.ndjson`, `summary.json` and `index.html`; nothing to merge gives nothing.
pub fn merge(out: &Path) -> Result<Option<Summary>> {
    if find(out)?.is_empty() {
        return Ok(None);
    }
    let Some(_lock) = Lock::try_take(&out.join(FOLDER), None)? else {
        return Err(Error::Busy { path: out.to_path_buf() });
    };
    let shards = find(out)?;
    let Some((&first, _)) = shards.first_key_value() else { return Ok(None) };
    if let Some((&other, _)) = shards.iter().find(|(shard, _)| shard.1 != first.1) {
        return Err(refusal(
            out,
            format!("holds shards of {} and of {}", first.1, other.1),
            "remove the files batch.I-of-N.ndjson and summary.I-of-N.json of one of them".into(),
        ));
    }
    let count = first.1;
    let missing: Vec<usize> = (1..=count).filter(|&index| !shards.contains_key(&(index, count))).collect();
    if !missing.is_empty() {
        return Err(again(out, "has no report", &missing, count));
    }
    let plan = shards[&first].plan;
    if shards.values().any(|shard| shard.plan != plan) {
        return Err(refusal(
            out,
            "holds shards of different plans: photos or options have changed between them".into(),
            "run all shards again; what is done already is not done again".into(),
        ));
    }
    let unfinished: Vec<usize> =
        shards.iter().filter(|(_, shard)| shard.counts.pending > 0).map(|(&(index, _), _)| index).collect();
    if !unfinished.is_empty() {
        return Err(again(out, "has an unfinished report", &unfinished, count));
    }

    let header = Header { plan, planned: shards[&first].planned, shard: None, run: together(shards.values()) };
    let mut sources = Vec::new();
    for &(index, count) in shards.keys() {
        sources.push(Lines::open(out, Shard::new(index, count)?)?);
    }
    let planned = header.planned;
    let merged = Merged { sources, next: 0, planned, out };
    publish(out, header, merged).map(Some)
}

/// The summaries of shards, by (index, count).
fn find(out: &Path) -> Result<BTreeMap<(usize, usize), Summary>> {
    let mut shards = BTreeMap::new();
    for entry in std::fs::read_dir(out).map_err(Error::unreadable(out))? {
        let entry = entry.map_err(Error::unreadable(out))?;
        let name = entry.file_name();
        let label = name.to_str().and_then(|name| name.strip_prefix("summary.")?.strip_suffix(".json"));
        let Some(shard) = label.and_then(Shard::from_label) else { continue };
        let path = entry.path();
        let bytes = std::fs::read(&path).map_err(Error::unreadable(&path))?;
        let summary = serde_json::from_slice(&bytes).map_err(|error| {
            refusal(&path, format!("is no summary of a batch ({error})"), "run the shard again".into())
        })?;
        shards.insert((shard.index(), shard.count()), summary);
    }
    Ok(shards)
}

/// Shards ran side by side, or might have.
fn together<'a>(shards: impl Iterator<Item = &'a Summary>) -> Run {
    let runs: Vec<Run> = shards.map(|shard| shard.run).collect();
    Run {
        segmented: runs.iter().map(|run| run.segmented).sum(),
        resumed: runs.iter().map(|run| run.resumed).sum(),
        seconds: runs.iter().map(|run| run.seconds).fold(0.0, f64::max),
        jobs: runs.iter().map(|run| run.jobs).sum(),
        threads: runs.iter().map(|run| run.threads).sum(),
        max_memory: runs.iter().filter_map(|run| run.max_memory).max(),
        megapixels: runs.iter().map(|run| run.megapixels).sum(),
        ..Run::default()
    }
    .rated()
}

/// The lines of a shard's report, one ahead.
struct Lines {
    path: PathBuf,
    lines: std::io::Lines<BufReader<File>>,
    next: Option<Line>,
}

impl Lines {
    fn open(out: &Path, shard: Shard) -> Result<Self> {
        let [name, ..] = names(Some(shard));
        let path = out.join(name);
        let file = File::open(&path).map_err(Error::unreadable(&path))?;
        let mut lines = Self { path, lines: BufReader::new(file).lines(), next: None };
        lines.advance()?;
        Ok(lines)
    }

    /// Hands out the line that is next.
    fn advance(&mut self) -> Result<Option<Line>> {
        let damaged = |problem: String| Error::Damaged { path: self.path.clone(), problem };
        let next = match self.lines.next() {
            None => None,
            Some(text) => {
                let text = text.map_err(|error| damaged(error.to_string()))?;
                Some(serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?)
            }
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// All lines in the order of the plan, without gaps.
struct Merged<'a> {
    sources: Vec<Lines>,
    next: usize,
    planned: usize,
    out: &'a Path,
}

impl Iterator for Merged<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.planned && self.sources.iter().all(|source| source.next.is_none()) {
            return None;
        }
        let wanted = self.next;
        let source =
            self.sources.iter_mut().find(|source| source.next.as_ref().is_some_and(|line| line.index == wanted));
        let line = match source.map(Lines::advance) {
            Some(Ok(Some(line))) => line,
            Some(Err(error)) => return Some(Err(error)),
            Some(Ok(None)) | None => {
                let problem =
                    format!("holds shards that do not have photo {wanted} of {} between them once", self.planned);
                return Some(Err(refusal(self.out, problem, "run all shards again".into())));
            }
        };
        self.next += 1;
        let thumbnails = thumbnails(self.out, &line);
        Some(Ok(Entry { line, thumbnails }))
    }
}

/// The pictures that belong to a line, if its shard left any.
fn thumbnails(out: &Path, line: &Line) -> Option<Thumbnails> {
    let stem = line.stem.as_ref()?;
    let bytes = std::fs::read(out.join(FOLDER).join(format!("{stem}.json"))).ok()?;
    let notes: super::notes::Notes = serde_json::from_slice(&bytes).ok()?;
    (Some(notes.fingerprint) == line.report.as_ref()?.fingerprint).then_some(notes.thumbnails)
}

fn again(out: &Path, problem: &str, shards: &[usize], count: usize) -> Error {
    let list: Vec<String> = shards.iter().map(|index| format!("{index}/{count}")).collect();
    refusal(
        out,
        format!("{problem} of shard {}", list.join(", ")),
        "run what is named first; what is done already is not done again".into(),
    )
}

fn refusal(path: &Path, problem: String, remedy: String) -> Error {
    Error::unsuitable(path, problem, remedy)
}
