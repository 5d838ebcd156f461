//! Long work: on threads of its own, with the interpreter lock released, stopped by Ctrl-C.
//!
//! Python runs signal handlers on its main thread only, and only while that thread holds the lock. So the work goes to a pool and the
//! calling thread waits, taking the lock now and then to ask for signals and to pass progress on. The pool lives as long as the
//! call: after a fork there are no threads of the parent to wait for.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use lfield::Event;
use pyo3::prelude::*;

use crate::{Error, refuse};

/// Between two looks for signals.
const PAUSE: Duration = Duration::from_millis(30);

/// What the work tells the thread that waits for it.
pub(crate) struct Watch<'a> {
    stop: &'a AtomicBool,
    steps: Sender<(usize, f64)>,
}

impl Watch<'_> {
    /// An error once the work is to end.
    pub(crate) fn checkpoint(&self) -> lfield::Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(lfield::Error::Interrupted) } else { Ok(()) }
    }

    /// Sweeps done and the gap per pixel.
    pub(crate) fn step(&self, sweeps: usize, gap: f64) {
        // Nobody listens any more once the work is to end.
        let _ = self.steps.send((sweeps, gap));
    }

    /// For the observer of a session.
    pub(crate) fn hear(&self, event: Event<'_>) -> std::ops::ControlFlow<()> {
        if let Event::Sweep(progress) = event {
            self.step(progress.iteration, progress.gap_per_pixel);
        }
        match self.checkpoint() {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(_) => std::ops::ControlFlow::Break(()),
        }
    }
}

/// Does the work on `threads` threads, all cores when none are named. `progress` is called with sweeps and gap per pixel; what it raises
/// ends the work, and so does what a signal handler raises.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> lfield::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| Error::new_err(format!("cannot start threads: {error}; ask for fewer")))?;
        let (stop, (steps, heard)) = (AtomicBool::new(false), channel());
        let (mut outcome, mut raised): (_, PyResult<()>) = (None, Ok(()));
        pool.in_place_scope(|scope| {
            let (stop, outcome) = (&stop, &mut outcome);
            scope.spawn(move |_| {
                let watch = Watch { stop, steps };
                *outcome = Some(catch_unwind(AssertUnwindSafe(|| work(&watch))));
            });
            let (mut asked, mut latest) = (Instant::now(), None);
            loop {
                let is_done = match heard.recv_timeout(PAUSE) {
                    Ok(step) => {
                        latest = Some(step);
                        false
                    }
                    Err(RecvTimeoutError::Timeout) => false,
                    Err(RecvTimeoutError::Disconnected) => true,
                };
                let is_time = asked.elapsed() >= PAUSE || (is_done && progress.is_some());
                if is_time {
                    asked = Instant::now();
                    raised = Python::attach(|py| {
                        py.check_signals()?;
                        if let (Some(progress), Some((sweeps, gap))) = (&progress, latest.take()) {
                            progress.call1(py, (sweeps, gap))?;
                        }
                        Ok(())
                    });
                }
                if is_done || raised.is_err() {
                    break;
                }
            }
            if raised.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        });
        raised?;
        match outcome {
            Some(Ok(result)) => result.map_err(refuse),
            Some(Err(panic)) => Err(internal(&*panic)),
            None => Err(Error::new_err("internal error: the work did not end; please report it")),
        }
    })
}

/// A panic as an ordinary exception: PyO3's own is none that `except Exception` catches.
fn internal(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Error::new_err(format!("internal error: {}; please report it", text.unwrap_or("no message")))
}
