//! How a solve is followed and stopped: one callback, polled by every stage.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Instant;

use crate::assemble::Problem;
use crate::grid::Shape;
use crate::solver::Progress;
use crate::{Error, Result};

/// Where a solve is.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A photo of this shape is at hand; colours are learned and superpixels cut, where they are not known.
    Begun(Shape),
    /// A stage is at work; told often, only so that it can be stopped.
    Working,
    /// The model stands and has this many free pixels; solving begins.
    Assembled(usize),
    /// Some sweeps are done.
    Sweep(&'a Progress),
    /// The certificate was looked at; this is the point it belongs to.
    Point(Iterate<'a>),
    /// The solve has ended.
    Solved,
}

/// A feasible point on the way to the solution: what a picture can be made of before there is an answer.
#[derive(Clone, Copy, Debug)]
pub struct Iterate<'a> {
    pub(super) problem: &'a Problem,
    pub(super) s: &'a [f64],
}

impl Iterate<'_> {
    /// x = −s for every pixel, row by row, as [`Answer::log_odds`](super::Answer::log_odds) gives it in the end.
    pub fn log_odds(&self) -> Vec<f64> {
        self.problem.expand(self.s).into_iter().map(|s| -s).collect()
    }
}

/// The progress callback of a solve: when it breaks, the solve ends with [`Error::Interrupted`].
pub type Observer<'a> = &'a mut (dyn FnMut(Event<'_>) -> ControlFlow<()> + Send);

/// The callback, shared by threads: called by one at a time, and not again once it has said stop.
pub(super) struct Watch<'a> {
    observer: Mutex<Observer<'a>>,
    stopped: AtomicBool,
    started: Instant,
    /// When a checkpoint last asked, in microseconds since the start.
    asked: AtomicU64,
}

/// Checkpoints come by the thousand; the callback is asked no more often than this, in microseconds. Tests break at any of them.
const PAUSE: u64 = if cfg!(test) { 0 } else { 2000 };

#[cfg(test)]
thread_local! {
    /// Checkpoints passed on this thread.
    pub(super) static N_CHECKPOINTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl<'a> Watch<'a> {
    pub(super) fn new(observer: Observer<'a>) -> Self {
        let (stopped, asked) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { observer: Mutex::new(observer), stopped, started: Instant::now(), asked }
    }

    /// Tells an event.
    pub(super) fn tell(&self, event: Event<'_>) -> Result<()> {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        self.call(*observer, event)
    }

    /// For stages that run on many threads: a thread that would have to wait for another's call goes on.
    pub(super) fn checkpoint(&self) -> Result<()> {
        #[cfg(test)]
        N_CHECKPOINTS.set(N_CHECKPOINTS.get() + 1);
        let now = self.started.elapsed().as_micros() as u64;
        if now < self.asked.load(Ordering::Relaxed) + PAUSE && !self.stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.asked.store(now, Ordering::Relaxed);
        match self.observer.try_lock() {
            Ok(mut observer) => self.call(*observer, Event::Working),
            Err(TryLockError::Poisoned(observer)) => self.call(*observer.into_inner(), Event::Working),
            Err(TryLockError::WouldBlock) if self.stopped.load(Ordering::Relaxed) => Err(Error::Interrupted),
            Err(TryLockError::WouldBlock) => Ok(()),
        }
    }

    fn call(&self, observer: &mut (dyn FnMut(Event<'_>) -> ControlFlow<()> + Send), event: Event<'_>) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) || observer(event).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}
