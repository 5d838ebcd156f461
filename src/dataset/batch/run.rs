//! The work of a batch: each photo as `segment` would do it.
//!
//! What is done is known by the reports on disk, whose cache keys are compared before anything is started.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::notes::{FOLDER, Notes};
use super::plan::{Item, Obstacle, Plan};
use super::report::{self, Run, Summary};
use super::shard::Shard;
use crate::dataset::pool::{self, Budget, Candidate, Work};
use crate::encode::Thumbnails;
use crate::encode::report::Report;
use crate::grid::Truth;
use crate::metric::{Judge, Scores, WIDTHS};
use crate::read::Digest;
use crate::session::{Answer, Session};
use crate::solver::Status;
use crate::store::Lock;
use crate::store::files::{probe, sweep_leftovers};
use crate::{Checkpoint, Error, Result, store};

/// How a batch is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The output folder.
    pub out: PathBuf,
    /// The share of the plan to do.
    pub shard: Option<Shard>,
    /// Whether to do again what is done.
    pub force: bool,
    /// What it may use.
    pub budget: Budget,
    /// How errors are worded in the report.
    pub explain: fn(&Error) -> String,
}

/// What became of a photo.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its outputs are there.
    Done {
        /// Whether they were there before.
        before: bool,
        /// Whether the solver reached the tolerance.
        converged: bool,
        /// What it took.
        seconds: f64,
    },
    /// Something was wrong with it.
    Failed(String),
    /// There was nothing to go by.
    Skipped(String),
    /// The batch was interrupted before.
    Pending,
}

/// The progress callbacks of a batch, called from any of its threads.
pub trait Watch: Sync {
    /// The work begins: this many photos are to be segmented.
    fn begin(&self, to_do: usize);
    /// A photo is through.
    fn end(&self, item: &Item, outcome: &Outcome);
    /// Whether to go on; asked often.
    fn proceed(&self) -> ControlFlow<()>;
}

/// The right to write to the output folder, or to a shard's share of it. When another process has it, `busy` is asked: an error is
/// passed on, otherwise the other's end is waited for.
pub fn lock(settings: &Settings, busy: impl FnOnce() -> Result<()>) -> Result<Lock> {
    probe(&settings.out)?;
    let folder = settings.out.join(FOLDER);
    let share = settings.shard.map(Shard::label);
    match Lock::try_take(&folder, share.as_deref())? {
        Some(lock) => Ok(lock),
        None => busy().and_then(|()| Lock::take(&folder, share.as_deref())),
    }
}

/// Does what the plan says, and writes the report of the batch. The [`lock`] is held until that is done.
pub fn run(plan: &Plan, settings: &Settings, _lock: &Lock, watch: &dyn Watch) -> Result<Summary> {
    let began = Instant::now();
    let items: Vec<&Item> =
        plan.items.iter().filter(|item| settings.shard.is_none_or(|shard| shard.owns(item.key))).collect();
    let outcomes: Vec<OnceLock<Outcome>> = items.iter().map(|_| OnceLock::new()).collect();
    items.par_iter().zip(&outcomes).for_each(|(item, outcome)| {
        if let Some(known) = known(item, settings) {
            let _ = outcome.set(known);
        }
    });
    let to_do: Vec<usize> = (0..items.len()).filter(|&i| outcomes[i].get().is_none()).collect();
    watch.begin(to_do.len());
    for (item, outcome) in items.iter().zip(&outcomes) {
        if let Some(outcome) = outcome.get() {
            watch.end(item, outcome);
        }
    }

    let candidate = |&i: &usize| Candidate { image: &items[i].input.image, options: &items[i].options, kept: 0 };
    let candidates: Vec<Candidate<'_>> = to_do.iter().map(candidate).collect();
    let photos = Photos {
        settings,
        watch,
        items: &items,
        to_do: &to_do,
        outcomes: &outcomes,
        pixels: AtomicU64::new(0),
        is_full: AtomicBool::new(false),
    };
    let jobs = pool::run(&candidates, settings.budget, &photos);
    let (pixels, disk_full) = (photos.pixels.into_inner(), photos.is_full.into_inner());

    let outcomes: Vec<Outcome> =
        outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or(Outcome::Pending)).collect();
    let Budget { threads, max_memory, .. } = settings.budget;
    let (megapixels, seconds) = (pixels as f64 / 1e6, began.elapsed().as_secs_f64());
    report::write(
        plan,
        &items,
        &outcomes,
        settings,
        Run { jobs, threads, max_memory, megapixels, seconds, disk_full, ..Run::default() },
    )
}

/// Whether there is nothing left to do for a photo.
pub fn is_done(item: &Item, settings: &Settings) -> bool {
    matches!(known(item, settings), Some(Outcome::Done { .. }))
}

/// What is known without doing anything.
fn known(item: &Item, settings: &Settings) -> Option<Outcome> {
    match &item.obstacle {
        Some(Obstacle::Failed(reason)) => Some(Outcome::Failed(reason.clone())),
        Some(Obstacle::Skipped(reason)) => Some(Outcome::Skipped(reason.clone())),
        None if settings.force => None,
        None => done_before(item, &settings.out),
    }
}

/// A photo is done when its report holds the cache key that a run would have now, the files it names are there in the size they were
/// written with, and it has been scored if it is to be. Results of `segment` have no sizes to compare with.
fn done_before(item: &Item, out: &Path) -> Option<Outcome> {
    let report = Report::from_json(&std::fs::read(report::report_path(out, item)).ok()?).ok()?;
    let key = store::key_of_files(&item.input, &item.options).ok()?;
    if report.fingerprint != Some(key) {
        return None;
    }
    let notes = Notes::read(out, item).ok().flatten().filter(|notes| notes.fingerprint == key);
    let folder = out.join(&item.folder);
    let is_whole = |(i, name): (usize, &String)| {
        let written = notes.as_ref().and_then(|notes| notes.sizes.get(i));
        std::fs::metadata(folder.join(name))
            .is_ok_and(|file| file.is_file() && written.is_none_or(|&n| n == file.len()))
    };
    // A name that is not Unicode is not spelled in full in the report.
    if item.stem().to_str().is_some() && !report.outputs.iter().enumerate().all(is_whole) {
        return None;
    }
    if let Some(truth) = &item.truth
        && notes?.truth != Some(Digest::of_file(truth).ok()?)
    {
        return None;
    }
    Some(Outcome::Done { before: true, converged: report.solve.converged, seconds: report.timing.total })
}

/// The photos of a batch, as work for a pool.
struct Photos<'a> {
    settings: &'a Settings,
    watch: &'a dyn Watch,
    items: &'a [&'a Item],
    /// Places in `items` of what is to be segmented.
    to_do: &'a [usize],
    outcomes: &'a [OnceLock<Outcome>],
    /// Pixels segmented.
    pixels: AtomicU64,
    /// Whether the disk has no room left: every photo after this one would be work for nothing.
    is_full: AtomicBool,
}

impl Work for Photos<'_> {
    fn work(&self, i: usize) -> Result<()> {
        let outcome = self.segment(self.items[self.to_do[i]])?;
        self.end(i, outcome);
        Ok(())
    }

    fn fail(&self, i: usize, error: Error) {
        if error.is_disk_full() {
            self.is_full.store(true, Ordering::Relaxed);
        }
        self.end(
            i,
            match error {
                Error::Interrupted => Outcome::Pending,
                error => Outcome::Failed((self.settings.explain)(&error)),
            },
        );
    }

    fn proceed(&self) -> ControlFlow<()> {
        if self.is_full.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { self.watch.proceed() }
    }
}

impl Photos<'_> {
    fn end(&self, i: usize, outcome: Outcome) {
        let i = self.to_do[i];
        self.watch.end(self.items[i], &outcome);
        let _ = self.outcomes[i].set(outcome);
    }

    fn segment(&self, item: &Item) -> Result<Outcome> {
        let (out, options) = (&self.settings.out, &*item.options);
        let folder = out.join(&item.folder);
        store::check_folder(&item.input, &folder, options)?;
        sweep_leftovers(&folder, &item.output_names())?;

        // The truth is read as soon as the photo's size is known: a bad one should not cost a whole run.
        let checkpoint: Checkpoint<'_> = &|| match self.proceed() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        };
        let session = Session::read(&item.input, options.clone(), checkpoint)?;
        let shape = session.picture().shape();
        let truth = match &item.truth {
            Some(path) => Some(Truth::read_named(path, shape, &options.limits)?),
            None => None,
        };
        let answer = session.into_answer(&mut |_| self.proceed())?;
        let origin = answer.origin().expect("it was read from files");
        let prepared = store::prepare(&answer, &folder)?;
        let notes = Notes {
            fingerprint: store::key(origin, options),
            sizes: prepared.sizes().to_vec(),
            scores: truth.as_ref().map(|(truth, _)| scores(&answer, truth)),
            truth: truth.map(|(_, digest)| digest),
            thumbnails: Thumbnails::of(answer.picture(), answer.marginals(), answer.mask()),
        };
        notes.write(out, item)?;
        checkpoint()?;
        let written = prepared.commit()?;
        self.pixels.fetch_add(shape.n_pixels() as u64, Ordering::Relaxed);
        let converged = answer.status() == Status::Converged;
        Ok(Outcome::Done { before: false, converged, seconds: written.report.timing.total })
    }
}

/// As `lfield evaluate` scores: pixels are ranked by log-odds, which still tell apart what the marginals round to 1.
fn scores(answer: &Answer, truth: &Truth) -> Scores {
    let judge = Judge::new(truth, answer.seeds(), &WIDTHS);
    judge.judge(&answer.log_odds(), answer.marginals(), answer.mask()).scores
}
