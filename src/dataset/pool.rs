//! Photos side by side: each worker has threads and a slot of memory of its own.
//!
//! One thread per photo is the common case and nothing waits for anything; photos too big to have another beside them get all
//! threads. Results do not depend on either. A photo that fails, even by a bug, stops no other.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::slot::{Slot, slots};
use crate::grid::Shape;
use crate::read::picture::claimed_shape;
use crate::session::Options;
use crate::session::memory::{BASE, available, estimate};
use crate::{Error, Result};

/// What the workers may use together.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Photos at once.
    pub jobs: usize,
    /// Threads for all of them.
    pub threads: usize,
    /// Most bytes of memory. When none are named, most of what is there is used, and no photo is refused.
    pub max_memory: Option<u64>,
}

/// A photo to work on.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) image: &'a Path,
    pub(super) options: &'a Options,
    /// Bytes per pixel that are kept between solves, beyond what one needs.
    pub(super) kept: u64,
}

impl Candidate<'_> {
    fn need(&self, n_pixels: usize, threads: usize) -> u64 {
        estimate(n_pixels, threads, self.options).saturating_add(self.kept.saturating_mul(n_pixels as u64))
    }
}

/// What is done to photos, by their places in the list.
pub(super) trait Work: Sync {
    /// The work itself, in a thread pool of its own.
    fn work(&self, i: usize) -> Result<()>;
    /// What was not done: too big, interrupted, or broken.
    fn fail(&self, i: usize, error: Error);
    /// Whether to go on; asked before each photo.
    fn proceed(&self) -> ControlFlow<()>;
}

/// Works on every photo that fits into the budget; returns the number of workers.
pub(super) fn run(candidates: &[Candidate<'_>], budget: Budget, work: &dyn Work) -> usize {
    let crew = Crew { candidates, work };
    let (queue, slots) = crew.divide(budget);
    let queue = Mutex::new(queue);
    std::thread::scope(|scope| {
        for slot in &slots[1..] {
            // Where the system has no thread to spare, the first slot does its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || crew.work(&queue, slot, &slots));
        }
        crew.work(&queue, &slots[0], &slots);
    });
    slots.len()
}

/// Four fifths of what there is, where no limit is given.
fn default_budget() -> u64 {
    available().map_or(u64::MAX, |bytes| bytes / 5 * 4)
}

/// Bytes per pixel that a second thread at work on a photo, and every further one, keeps for the next photo, where it may be of no
/// use: three photos in turn needed 120 more than the largest alone on two threads, and nothing more on one.
const KEPT: u64 = 130;

/// A photo in the queue: its place, and its pixels.
struct Task {
    i: usize,
    n_pixels: usize,
}

struct Crew<'a> {
    candidates: &'a [Candidate<'a>],
    work: &'a dyn Work,
}

impl Crew<'_> {
    /// The photos that can be worked on, and the slots of memory to do it in. Others are refused here.
    fn divide(&self, budget: Budget) -> (Vec<Task>, Vec<Slot>) {
        let Budget { jobs, threads, max_memory } = budget;
        let jobs = jobs.min(self.candidates.len()).max(1);
        let total = max_memory.map_or_else(default_budget, |most| most.saturating_sub(BASE));
        let claim = |photo: &Candidate<'_>| claimed_shape(photo.image, &photo.options.limits);
        let claims: Vec<Result<Shape>> = self.candidates.par_iter().map(claim).collect();
        let mut tasks = Vec::new();
        for ((i, photo), claim) in self.candidates.iter().enumerate().zip(claims) {
            let admitted = claim.and_then(|shape| {
                let needed = photo.need(shape.n_pixels(), (threads / jobs).max(1));
                match max_memory {
                    Some(most) if needed > total => Err(Error::TooMuchMemory {
                        path: photo.image.to_path_buf(),
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
                Err(error) => self.work.fail(i, error),
            }
        }
        let sizes: Vec<usize> = tasks.iter().map(|task| task.n_pixels).collect();
        // Options may differ from photo to photo; the ones that need most count for all.
        let dearest = tasks.iter().map(|task| &self.candidates[task.i]).max_by_key(|photo| photo.need(1000, 1));
        let need = |n_pixels: usize, threads: usize| {
            let kept = KEPT * n_pixels as u64 * (threads as u64 - 1);
            dearest.map_or(0, |photo| photo.need(n_pixels, threads).saturating_add(kept))
        };
        (tasks, slots(total, threads, jobs, &sizes, &need))
    }

    fn work(&self, queue: &Mutex<Vec<Task>>, slot: &Slot, slots: &[Slot]) {
        // Without threads of its own the first slot uses those of the program, and the others leave it the work.
        let pool = ThreadPoolBuilder::new().num_threads(slot.threads).build().ok();
        if pool.is_none() && !std::ptr::eq(slot, &slots[0]) {
            return;
        }
        while self.work.proceed().is_continue() {
            let next = self.choose(&mut queue.lock().unwrap_or_else(PoisonError::into_inner), slot, slots);
            let Some(Task { i, .. }) = next else { break };
            if let Err(error) = self.guarded(i, pool.as_ref()) {
                self.work.fail(i, error);
            }
        }
    }

    /// The first photo that fits into the slot; for the first slot, before others, one that fits nowhere else. The first slot takes
    /// what is left, since a photo too big for it has been refused, unless no limit was given.
    fn choose(&self, queue: &mut Vec<Task>, slot: &Slot, slots: &[Slot]) -> Option<Task> {
        let fits = |task: &Task, slot: &Slot| self.candidates[task.i].need(task.n_pixels, slot.threads) <= slot.bytes;
        let place = if std::ptr::eq(slot, &slots[0]) {
            let nowhere_else = |task: &Task| slots[1..].iter().all(|other| !fits(task, other));
            queue.iter().position(nowhere_else).or((!queue.is_empty()).then_some(0))
        } else {
            queue.iter().position(|task| fits(task, slot))
        };
        place.map(|place| queue.remove(place))
    }

    fn guarded(&self, i: usize, pool: Option<&ThreadPool>) -> Result<()> {
        let work = || self.work.work(i);
        let work = AssertUnwindSafe(|| pool.map_or_else(work, |pool| pool.install(work)));
        catch_unwind(work).unwrap_or_else(|cause| {
            let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
            Err(Error::Failure {
                what: format!("{}: {}", self.candidates[i].image.display(), text.unwrap_or("no reason given")),
            })
        })
    }
}
