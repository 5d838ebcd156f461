//! Ctrl-C: exit 130, and nothing half-written.
//!
//! Until files are being put in place there is nothing to tidy up, so the program ends at once, also in the middle of a stage
//! that nobody can interrupt. While temporary files exist the request is recorded instead, and acted on just before they would
//! be renamed; a second Ctrl-C then ends the program where it stands.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::INTERRUPTED;
use super::voice::Voice;

static WRITING: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Starts to listen for Ctrl-C, and for requests to terminate.
pub(super) fn listen(voice: Voice) {
    listen_and_say(voice, "interrupted; nothing was written");
}

/// The same with another message.
pub(super) fn listen_and_say(voice: Voice, message: &'static str) {
    // Without a handler the system's own way to end the program stays in force, which is good enough.
    let _ = ctrlc::set_handler(move || {
        if REQUESTED.swap(true, Ordering::SeqCst) || !WRITING.load(Ordering::SeqCst) {
            voice.break_off(message);
            std::process::exit(INTERRUPTED.into());
        }
    });
}

/// The same for a program that Ctrl-C ends in its own way; a second one ends it where it stands.
#[cfg(feature = "paint")]
pub(super) fn listen_and_call(end: impl Fn() + Send + 'static) {
    let _ = ctrlc::set_handler(move || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
        end();
    });
}

/// From now on there are files to tidy up. A request that came just before may still be printing its message: then nothing is begun.
pub(super) fn writing() -> lfield::Result<()> {
    WRITING.store(true, Ordering::SeqCst);
    if requested().is_break() { Err(lfield::Error::Interrupted) } else { Ok(()) }
}

/// Whether to go on.
pub(super) fn requested() -> ControlFlow<()> {
    if REQUESTED.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
