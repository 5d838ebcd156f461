//! The one thread that owns the sessions: decodes photos, prepares them, answers strokes, and gives up what nobody waits for any more.
//!
//! A stroke changes the generation of its photo, which the progress callback of the solve under way notices: it ends within milliseconds and the
//! next one starts warm from what the last complete one left. When nothing is to be answered, the next photo is made ready.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::studio::Studio;
use super::table::Table;
use super::view::{View, levels};
use crate::grid::{Picture, Seeds};
use crate::session::{Answer, Event, Session};
use crate::solver::Status;
use crate::{Error, Result};

/// Time from the first picture of a solve to the next; twice as long to the one after, and so on: each takes time from the solve.
const PICTURE: Duration = Duration::from_millis(120);

/// What to do next.
enum Job {
    Stop,
    Load(usize),
    Prepare(usize),
    Solve { n: usize, generation: u64, seeds: Seeds },
}

/// A session, and whether its superpixels are there.
struct Desk {
    n: usize,
    session: Session,
    is_prepared: bool,
}

/// Works until the studio stops.
pub(super) fn work(studio: &Studio) {
    let mut desks: Vec<Desk> = Vec::new();
    loop {
        let job = studio.wait(None, |table| {
            desks.retain(|desk| table.is_kept(desk.n));
            next(table, &desks)
        });
        match job {
            None | Some(Job::Stop) => return,
            Some(Job::Load(n)) => load(studio, n, &mut desks),
            Some(Job::Prepare(n)) => prepare(studio, n, &mut desks),
            Some(Job::Solve { n, generation, seeds }) => solve(studio, n, generation, seeds, &mut desks),
        }
    }
}

fn next(table: &mut Table, desks: &[Desk]) -> Option<Job> {
    if table.is_stopping {
        return Some(Job::Stop);
    }
    let is_ready = |n: usize| desks.iter().any(|desk| desk.n == n && desk.is_prepared);
    let n = table.active;
    let card = &mut table.cards[n];
    if card.is_unanswered()
        && card.view.is_some()
        && let Some(sheet) = &mut card.sheet
    {
        return Some(Job::Solve { n, generation: card.generation, seeds: sheet.seeds() });
    }
    ready(table, n, is_ready).or_else(|| ready(table, n + 1, is_ready))
}

/// What makes a photo ready for its first stroke, if it exists and is not.
fn ready(table: &Table, n: usize, is_ready: impl Fn(usize) -> bool) -> Option<Job> {
    let card = table.cards.get(n).filter(|card| card.failure.is_none())?;
    match card.view {
        None => Some(Job::Load(n)),
        Some(_) if !is_ready(n) => Some(Job::Prepare(n)),
        Some(_) => None,
    }
}

/// Decodes a photo and reads its strokes.
fn load(studio: &Studio, n: usize, desks: &mut Vec<Desk>) {
    let (photo, options) = (studio.photo(n), &studio.settings.options);
    let is_new = studio.look().cards[n].sheet.is_none();
    let loaded = Picture::read(&photo.path, &options.limits).and_then(|loaded| {
        let sheet = if is_new { Some(photo.restored(&loaded.value, &options.limits)?) } else { None };
        let view = View::new(loaded.value);
        let session = Session::new(view.working().clone(), options.clone())?;
        Ok((view, sheet, session))
    });
    studio.change(|table| match loaded {
        Ok((view, sheet, session)) => {
            desks.retain(|desk| desk.n != n);
            desks.push(Desk { n, session, is_prepared: false });
            table.place(n, view, sheet);
        }
        Err(error) => table.cards[n].failure = Some((studio.settings.explain)(&error)),
    });
}

/// Cuts superpixels, unless another photo is wanted meanwhile.
fn prepare(studio: &Studio, n: usize, desks: &mut [Desk]) {
    let Some(desk) = desks.iter_mut().find(|desk| desk.n == n) else { return };
    let proceed = || {
        let table = studio.look();
        let active = table.active;
        // What is made ready ahead gives way to strokes on the photo that is open.
        let is_wanted = n == active || n == active + 1 && !table.cards[active].is_unanswered();
        is_wanted && !table.is_stopping
    };
    let result =
        desk.session.prepare(&mut |_| if proceed() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
    match result {
        Ok(()) => desk.is_prepared = true,
        Err(Error::Interrupted) => {}
        Err(error) => studio.change(|table| table.cards[n].failure = Some((studio.settings.explain)(&error))),
    }
}

/// Answers strokes, with pictures on the way.
fn solve(studio: &Studio, n: usize, generation: u64, seeds: Seeds, desks: &mut [Desk]) {
    let Some(desk) = desks.iter_mut().find(|desk| desk.n == n) else { return };
    let Some(view) = studio.change(|table| {
        table.touch(n);
        table.cards[n].view.clone()
    }) else {
        return;
    };
    let began = Instant::now();
    let (mut next, mut pause) = (began, PICTURE);
    let mut observe = |event: Event<'_>| {
        if let Event::Point(iterate) = event
            && Instant::now() >= next
        {
            (next, pause) = (Instant::now() + pause, 2 * pause);
            let picture = levels(&iterate.log_odds());
            studio.change(|table| table.publish(n, generation, false, picture, Value::Null));
        }
        let table = studio.look();
        let is_wanted = table.active == n && table.cards[n].generation == generation && !table.is_stopping;
        if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let answer = answer(&mut desk.session, &view, seeds, &mut observe);
    desk.is_prepared |= answer.is_ok();
    match answer {
        Ok(answer) => {
            let (picture, facts) = (levels(&answer.log_odds()), facts(&answer, began.elapsed()));
            studio.change(|table| table.publish(n, generation, true, picture, facts));
        }
        Err(Error::Interrupted) => {}
        Err(error) => studio.change(|table| {
            let card = &mut table.cards[n];
            if card.generation == generation {
                card.failure = Some((studio.settings.explain)(&error));
            }
        }),
    }
}

fn answer(
    session: &mut Session,
    view: &Arc<View>,
    seeds: Seeds,
    observe: &mut (dyn FnMut(Event<'_>) -> ControlFlow<()> + Send),
) -> Result<Answer> {
    session.set_seeds(view.working_seeds(seeds))?;
    session.solve(observe)
}

/// What the page says about an answer.
fn facts(answer: &Answer, seconds: Duration) -> Value {
    let certificate = answer.certificate();
    json!({
        "proved": answer.options().method.is_certified() && answer.status() == Status::Converged,
        "isBestMask": certificate.map_proved_optimal,
        "gap": finite(certificate.gap_per_pixel),
        "error": finite(certificate.error_bound),
        "temperature": answer.model.temperature,
        "bias": answer.fitting_bias(),
        "seconds": seconds.as_secs_f64(),
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
