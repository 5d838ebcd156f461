//! One observer, asked by everything that runs at once.
//!
//! Stages tell it what they have done. In between, any thread may ask it whether to go on ([`Watch::check`]); it then hears
//! [`Event::Working`], but not more often than every few milliseconds, so that code may ask as often as it likes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::Event;
use crate::{Error, Result};

/// Time between two questions whether to go on.
const EVERY: Duration = Duration::from_millis(4);

/// Hears where a run is, and may stop it.
pub type Observer<'a> = &'a mut (dyn FnMut(Event<'_>) -> ControlFlow<()> + Send);

/// An observer shared between threads. Once it has broken it is asked no more, and every question has the answer
/// [`Error::Interrupted`].
pub(super) struct Watch<'a> {
    observe: Mutex<Observer<'a>>,
    is_stopped: AtomicBool,
    started: Instant,
    /// When it may be asked again, in nanoseconds since the start.
    next: AtomicU64,
}

impl<'a> Watch<'a> {
    pub(super) fn new(observe: Observer<'a>) -> Self {
        let (observe, is_stopped) = (Mutex::new(observe), AtomicBool::new(false));
        Self { observe, is_stopped, started: Instant::now(), next: AtomicU64::new(0) }
    }

    /// Tells an event.
    pub(super) fn tell(&self, event: Event<'_>) -> Result<()> {
        self.ask(&mut *self.observe.lock().unwrap_or_else(PoisonError::into_inner), event)
    }

    /// Asks whether to go on, if the observer is free and has not been asked just now.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if (self.started.elapsed().as_nanos() as u64) < self.next.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.observe.try_lock() {
            Ok(mut observe) => self.ask(&mut *observe, Event::Working),
            Err(TryLockError::Poisoned(observe)) => self.ask(&mut *observe.into_inner(), Event::Working),
            Err(TryLockError::WouldBlock) => Ok(()),
        }
    }

    fn ask(&self, observe: &mut Observer<'_>, event: Event<'_>) -> Result<()> {
        if !self.is_stopped.load(Ordering::Relaxed) && observe(event).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        let next = self.started.elapsed() + EVERY;
        self.next.store(next.as_nanos() as u64, Ordering::Relaxed);
        if self.is_stopped.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}
