//! The work of a batch: photos side by side, each as `segment` would do it.
//!
//! Every worker has a thread pool and a slot of memory of its own, so one thread per photo is the common case and nothing waits for
//! anything; photos too big to have another beside them get all threads. Results do not depend on either. What is done is known by the reports on disk, whose
//! fingerprints are compared before anything is started. A photo that fails, even by a bug, stops no other.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Deserialize;

use super::memory::{Slot, slots};
use super::notes::Notes;
use super::plan::{Item, Obstacle, Plan};
use super::report::{self, Effort, Summary};
use super::shard::Shard;
use crate::encode::Thumbnails;
use crate::grid::{Shape, Truth};
use crate::metric::{Judge, Scores, WIDTHS};
use crate::read::Digest;
use crate::read::picture::claimed_shape;
use crate::session::memory::{BASE, available, estimate};
use crate::session::{self, Event, Segmentation};
use crate::solver::Status;
use crate::store::files::{probe, sweep_leftovers};
use crate::{Error, Result};

/// How a batch is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The output folder.
    pub out: PathBuf,
    /// The share of the plan to do.
    pub shard: Option<Shard>,
    /// Whether to do again what is done.
    pub force: bool,
    /// Photos at once.
    pub jobs: usize,
    /// Threads for all of them.
    pub threads: usize,
    /// Most bytes of memory. When none are named, most of what is there is used, and no photo is refused.
    pub max_memory: Option<u64>,
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

/// Whoever follows a batch, from any of its threads.
pub trait Watch: Sync {
    /// The work begins: this many photos are to be segmented.
    fn begin(&self, to_do: usize);
    /// A photo is through.
    fn end(&self, item: &Item, outcome: &Outcome);
    /// Whether to go on; asked often.
    fn proceed(&self) -> ControlFlow<()>;
}

/// Does what the plan says, and writes the report of the batch.
pub fn run(plan: &Plan, settings: &Settings, watch: &dyn Watch) -> Result<Summary> {
    let began = Instant::now();
    probe(&settings.out)?;
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

    let crew = Crew { settings, watch, items: &items, outcomes: &outcomes, pixels: Mutex::new(0) };
    let (queue, slots) = crew.divide(&to_do);
    let (jobs, queue) = (slots.len(), Mutex::new(queue));
    std::thread::scope(|scope| {
        for slot in &slots[1..] {
            // Where the system has no thread to spare, the first slot does its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || crew.work(&queue, slot, &slots));
        }
        crew.work(&queue, &slots[0], &slots);
    });
    let pixels = crew.pixels.into_inner().unwrap_or_else(PoisonError::into_inner);

    let outcomes: Vec<Outcome> =
        outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or(Outcome::Pending)).collect();
    let effort = Effort {
        jobs,
        threads: settings.threads,
        max_memory: settings.max_memory,
        pixels,
        seconds: began.elapsed().as_secs_f64(),
    };
    report::write(plan, &items, &outcomes, settings, &effort)
}

/// Four fifths of what there is, for the photos of a batch without a limit.
fn plenty() -> u64 {
    available().map_or(u64::MAX, |bytes| bytes / 5 * 4)
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

/// What resuming needs of a report.
#[derive(Deserialize)]
struct Seal {
    fingerprint: Digest,
    outputs: Vec<String>,
    solve: Solve,
    timing: Timing,
}

#[derive(Deserialize)]
struct Timing {
    total: f64,
}

#[derive(Deserialize)]
struct Solve {
    converged: bool,
}

/// A photo is done when its report has the fingerprint that a run would have now, the files it names are there, and it has been
/// scored if it is to be.
fn done_before(item: &Item, out: &Path) -> Option<Outcome> {
    let seal: Seal = serde_json::from_slice(&std::fs::read(report::report_path(out, item)).ok()?).ok()?;
    if item.input.fingerprint(&item.options).ok()? != seal.fingerprint {
        return None;
    }
    let folder = out.join(&item.folder);
    // A name that is not Unicode is not spelled in full in the report.
    if item.stem().to_str().is_some() && !seal.outputs.iter().all(|name| folder.join(name).is_file()) {
        return None;
    }
    if let Some(truth) = &item.truth {
        let notes = Notes::read(out, item).ok()??;
        if notes.fingerprint != seal.fingerprint || notes.truth != Some(Digest::of_file(truth).ok()?) {
            return None;
        }
    }
    Some(Outcome::Done { before: true, converged: seal.solve.converged, seconds: seal.timing.total })
}

/// A photo to be segmented: which one, and its pixels.
struct Task {
    i: usize,
    n_pixels: usize,
}

/// What the threads that work share.
struct Crew<'a> {
    settings: &'a Settings,
    watch: &'a dyn Watch,
    items: &'a [&'a Item],
    outcomes: &'a [OnceLock<Outcome>],
    /// Pixels segmented.
    pixels: Mutex<u64>,
}

/// Bytes per pixel that a second thread at work on a photo, and every further one, keeps for the next photo, where it may be of no
/// use: three photos in turn needed 120 more than the largest alone on two threads, and nothing more on one.
const KEPT: u64 = 130;

impl Crew<'_> {
    /// The photos that can be segmented, and the slots of memory to do it in. Others are refused here.
    fn divide(&self, to_do: &[usize]) -> (Vec<Task>, Vec<Slot>) {
        let Settings { jobs, threads, max_memory, .. } = *self.settings;
        let jobs = jobs.min(to_do.len()).max(1);
        let total = max_memory.map_or_else(plenty, |most| most.saturating_sub(BASE));
        let claims: Vec<Result<Shape>> = to_do
            .par_iter()
            .map(|&i| claimed_shape(&self.items[i].input.image, &self.items[i].options.limits))
            .collect();
        let mut tasks = Vec::new();
        for (&i, claim) in to_do.iter().zip(claims) {
            let item = self.items[i];
            let admitted = claim.and_then(|shape| {
                let needed = estimate(shape.n_pixels(), (threads / jobs).max(1), &item.options);
                match max_memory {
                    Some(most) if needed > total => Err(Error::TooMuchMemory {
                        path: item.input.image.clone(),
                        shape,
                        needed: needed.saturating_add(BASE).div_ceil(1 << 20),
                        limit: most >> 20,
                        is_chosen: true,
                    }),
                    _ => Ok(Task { i, n_pixels: shape.n_pixels() }),
                }
            });
            match admitted {
                Ok(task) => tasks.push(task),
                Err(error) => self.end(i, Outcome::Failed(error.to_string())),
            }
        }
        let sizes: Vec<usize> = tasks.iter().map(|task| task.n_pixels).collect();
        // Options may differ from photo to photo; the ones that need most count for all.
        let dearest =
            tasks.iter().map(|task| &*self.items[task.i].options).max_by_key(|options| estimate(1000, 1, options));
        let need = |n_pixels: usize, threads: usize| {
            let kept = KEPT * n_pixels as u64 * (threads as u64 - 1);
            dearest.map_or(0, |options| estimate(n_pixels, threads, options) + kept)
        };
        (tasks, slots(total, threads, jobs, &sizes, &need))
    }

    fn work(&self, queue: &Mutex<Vec<Task>>, slot: &Slot, slots: &[Slot]) {
        // Without threads of its own the first slot uses those of the program, and the others leave it the work.
        let pool = ThreadPoolBuilder::new().num_threads(slot.threads).build().ok();
        if pool.is_none() && !std::ptr::eq(slot, &slots[0]) {
            return;
        }
        while self.watch.proceed().is_continue() {
            let next = self.choose(&mut queue.lock().unwrap_or_else(PoisonError::into_inner), slot, slots);
            let Some(Task { i, .. }) = next else { break };
            match self.guarded(self.items[i], pool.as_ref()) {
                Ok(outcome) => self.end(i, outcome),
                Err(Error::Interrupted) => self.end(i, Outcome::Pending),
                Err(error) => self.end(i, Outcome::Failed(error.to_string())),
            }
        }
    }

    /// The first photo that fits into the slot; for the first slot, before others, one that fits nowhere else. The first slot takes
    /// what is left, since a photo too big for it has been refused, unless no limit was given.
    fn choose(&self, queue: &mut Vec<Task>, slot: &Slot, slots: &[Slot]) -> Option<Task> {
        let fits =
            |task: &Task, slot: &Slot| estimate(task.n_pixels, slot.threads, &self.items[task.i].options) <= slot.bytes;
        let place = if std::ptr::eq(slot, &slots[0]) {
            let nowhere_else = |task: &Task| slots[1..].iter().all(|other| !fits(task, other));
            queue.iter().position(nowhere_else).or((!queue.is_empty()).then_some(0))
        } else {
            queue.iter().position(|task| fits(task, slot))
        };
        place.map(|place| queue.remove(place))
    }

    fn end(&self, i: usize, outcome: Outcome) {
        self.watch.end(self.items[i], &outcome);
        let _ = self.outcomes[i].set(outcome);
    }

    fn guarded(&self, item: &Item, pool: Option<&ThreadPool>) -> Result<Outcome> {
        let work = || self.segment(item);
        let work = AssertUnwindSafe(|| pool.map_or_else(work, |pool| pool.install(work)));
        catch_unwind(work).unwrap_or_else(|cause| {
            let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
            Err(Error::Failure {
                what: format!("{}: {}", item.input.image.display(), text.unwrap_or("no reason given")),
            })
        })
    }

    fn segment(&self, item: &Item) -> Result<Outcome> {
        let (out, options) = (&self.settings.out, &*item.options);
        let folder = out.join(&item.folder);
        item.input.check_folder(&folder, options)?;
        sweep_leftovers(&folder, &item.output_names())?;

        // The truth is read as soon as the photo's size is known: a bad one should not cost a whole run.
        let mut truth = Ok(None);
        let segmentation = session::segment(&item.input, options, &mut |event| {
            if let (Event::Read(scene), Some(path)) = (event, &item.truth) {
                truth = Truth::read_named(path, scene.picture.shape(), &options.limits).map(Some);
                if truth.is_err() {
                    return ControlFlow::Break(());
                }
            }
            self.watch.proceed()
        });
        let truth = truth?;
        let segmentation = segmentation?;
        let (marginals, mask) = (&segmentation.marginals, &segmentation.mask);
        let notes = Notes {
            fingerprint: segmentation.fingerprint(&item.input, options),
            scores: truth.as_ref().map(|(truth, _)| scores(&segmentation, truth)),
            truth: truth.map(|(_, digest)| digest),
            thumbnails: Thumbnails::of(&segmentation.scene.picture, marginals, mask),
        };
        notes.write(out, item)?;
        let written = segmentation.write(&folder, &item.input, options, &|| self.watch.proceed())?;
        *self.pixels.lock().unwrap_or_else(PoisonError::into_inner) += segmentation.s.len() as u64;
        let converged = segmentation.solution.status == Status::Converged;
        Ok(Outcome::Done { before: false, converged, seconds: written.report.timing.total })
    }
}

/// As `lfield evaluate` scores: pixels are ranked by −s, which still tells apart what the marginals round to 1.
fn scores(segmentation: &Segmentation, truth: &Truth) -> Scores {
    let order: Vec<f64> = segmentation.s.iter().map(|s| -s).collect();
    let judge = Judge::new(truth, segmentation.scene.seeds(), &WIDTHS);
    judge.judge(&order, &segmentation.marginals, &segmentation.mask).scores
}
