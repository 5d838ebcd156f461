//! Save: what `lfield segment` would write from the strokes on disk, by the same functions and always from a cold start.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::studio::{Refusal, Studio};
use crate::session::{Bias, Options, Session};
use crate::{Error, Result, store};

/// Begins to write the results of a photo in a thread of its own.
pub(super) fn save(studio: &Arc<Studio>, n: usize, bias: Bias) -> Result<(), Refusal> {
    studio.begin_save(n)?;
    let own = Arc::clone(studio);
    let run = move || {
        let (outcome, generation) = write(&own, n, bias);
        own.end_save(n, generation, outcome.map(|files| (files, own.command(n, bias))));
    };
    if let Err(source) = std::thread::Builder::new().name("save".into()).spawn(run) {
        let path = studio.photo(n).output.clone();
        studio.end_save(n, 0, Err(Error::OutputFolder { path, source }));
    }
    Ok(())
}

/// The files written, and the generation of the strokes they were made from.
fn write(studio: &Studio, n: usize, bias: Bias) -> (Result<Vec<String>>, u64) {
    let (settings, photo) = (&studio.settings, studio.photo(n));
    let options = Options { bias, ..settings.options.clone() };
    let input = photo.input(settings.recorded);
    let proceed = || if studio.look().is_stopping { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let (session, generation) = studio.read_kept(n, || {
        store::check_folder(&input, &photo.output, &options)?;
        input.check_memory(&options, rayon::current_num_threads(), settings.max_memory)?;
        Session::read(&input, options.clone(), &|| Ok(()))
    });
    let written = session
        .and_then(|session| session.into_answer(&mut |_| proceed()))
        .and_then(|answer| store::write(&answer, &photo.output, &proceed));
    let names = written.map(|written| written.files.iter().map(|file| file.display().to_string()).collect());
    (names, generation)
}
