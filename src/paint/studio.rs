//! What everybody shares: which photo is open, the strokes of each, the last answer, and a number that grows with every change.
//!
//! Requests change strokes and wait for news; the [worker](super::worker) waits for strokes that have no answer and publishes what it
//! finds. The *generation* of a photo counts the changes of its strokes. An answer carries the generation it is for, so an
//! answer to old strokes is never taken for one to the new ones.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::photo::{Photo, State as Progress};
use super::stroke::Stroke;
use super::table::{Card, Save, Table};
use super::view::View;
use super::{Run, Settings};
use crate::Result;
use crate::grid::Seed;
use crate::session::Bias;

/// Everything that threads share.
pub(super) struct Studio {
    pub(super) settings: Settings,
    table: Mutex<Table>,
    changed: Condvar,
    /// Held while strokes are written or read for a save, so that the newest are always the ones on disk.
    keeping: Mutex<()>,
}

/// Why a request cannot be met: a status and a sentence.
pub(super) type Refusal = (u16, String);

impl Studio {
    pub(super) fn new(settings: Settings) -> Self {
        let card = |photo: &Photo| Card {
            view: None,
            sheet: None,
            generation: 0,
            answer: None,
            failure: None,
            kept: 0,
            unkept: None,
            progress: photo.state(&settings.options),
            classes: [0; 2],
            thumbnail: None,
        };
        let table = Table {
            sequence: 1,
            is_stopping: false,
            active: 0,
            cards: settings.photos.iter().map(card).collect(),
            recent: Vec::new(),
            save: Save::default(),
            n_answers: 0,
        };
        Self { settings, table: Mutex::new(table), changed: Condvar::new(), keeping: Mutex::default() }
    }

    pub(super) fn photo(&self, n: usize) -> &Photo {
        &self.settings.photos[n]
    }

    /// Looks, without changing what a page may want to know.
    pub(super) fn look(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and tells everybody.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.look();
        let result = change(&mut table);
        table.sequence += 1;
        self.changed.notify_all();
        result
    }

    /// Waits until `find` finds something, or time is up.
    pub(super) fn wait<T>(
        &self,
        patience: Option<Duration>,
        mut find: impl FnMut(&mut Table) -> Option<T>,
    ) -> Option<T> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut table = self.look();
        loop {
            if let Some(found) = find(&mut table) {
                return Some(found);
            }
            table = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(table).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return None,
                Some(left) => self.changed.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    /// The state after number `after`, as soon as there is one.
    pub(super) fn news(&self, after: u64, patience: Duration) -> Value {
        let seen =
            self.wait(Some(patience), |table| (table.sequence > after || table.is_stopping).then(|| table.value()));
        seen.unwrap_or_else(|| self.look().value())
    }

    /// What a page needs to know once.
    pub(super) fn album(&self) -> Value {
        let Settings { photos, options, bias, .. } = &self.settings;
        let outputs: Vec<&str> = options.output.emit.iter().map(|output| output.name()).collect();
        json!({
            "photos": photos.iter().map(|photo| &*photo.name).collect::<Vec<_>>(),
            "output": photos[0].output.display().to_string(),
            "emit": outputs,
            "tolerance": options.solver.tolerance,
            "isCertified": options.method.is_certified(),
            "method": options.method.name(),
            "bias": bias,
            "temperature": options.model.temperature,
            "heat": super::page::heat_table(),
        })
    }

    /// Opens a photo, also one that failed before.
    pub(super) fn open(&self, n: usize) {
        self.change(|table| {
            table.active = n;
            table.cards[n].failure = None;
            if table.is_kept(n) {
                table.touch(n);
            }
        });
    }

    /// Adds a stroke, and writes all of them to disk.
    pub(super) fn paint(&self, n: usize, mut stroke: Stroke) -> Result<Value, Refusal> {
        self.edit(n, |card, view| {
            let sheet = card.sheet.as_mut().ok_or_else(not_open)?;
            stroke.check(sheet.shape()).map_err(|why| (400, why))?;
            sheet.check_room(&stroke).map_err(|why| (413, why))?;
            let seed = stroke.tool.seed().unwrap_or_else(|| {
                let mask = card.answer.as_ref().map(|answer| (&*answer.levels, stroke.threshold * super::view::LEVELS));
                opposite(&stroke, view, mask, card.classes)
            });
            stroke.points.shrink_to_fit();
            sheet.add(stroke, seed);
            Ok(())
        })
    }

    /// Takes the last stroke back, or brings it back.
    pub(super) fn step(&self, n: usize, is_redo: bool) -> Result<Value, Refusal> {
        self.edit(n, |card, _| {
            let sheet = card.sheet.as_mut().ok_or_else(not_open)?;
            match if is_redo { sheet.redo() } else { sheet.undo() } {
                true => Ok(()),
                false => Err((409, format!("there is nothing to {}", if is_redo { "redo" } else { "undo" }))),
            }
        })
    }

    fn edit(&self, n: usize, edit: impl FnOnce(&mut Card, &View) -> Result<(), Refusal>) -> Result<Value, Refusal> {
        let generation = {
            let mut table = self.look();
            let card = &mut table.cards[n];
            let view = card.view.clone().ok_or_else(|| match &card.failure {
                Some(why) => (409, why.clone()),
                None => not_open(),
            })?;
            edit(card, &view)?;
            card.generation += 1;
            card.failure = None;
            card.count();
            if card.classes.contains(&0) {
                card.answer = None;
            }
            let generation = card.generation;
            table.sequence += 1;
            self.changed.notify_all();
            generation
        };
        self.keep(n);
        let table = self.look();
        Ok(
            json!({ "generation": generation, "kept": table.cards[n].unkept.is_none(), "problem": table.cards[n].unkept }),
        )
    }

    /// Writes the strokes to disk as they are now.
    fn keep(&self, n: usize) {
        let _keeping = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        let (seeds, generation) = {
            let card = &mut self.look().cards[n];
            match &mut card.sheet {
                // Whoever came before has written these too.
                Some(sheet) if card.kept < card.generation => (sheet.seeds(), card.generation),
                _ => return,
            }
        };
        let kept = self.photo(n).keep(&seeds);
        let unkept =
            kept.err().map(|error| format!("The strokes are not on disk: {}", (self.settings.explain)(&error)));
        let progress = if unkept.is_none() { self.photo(n).state(&self.settings.options) } else { Progress::Strokes };
        let mut table = self.look();
        let card = &mut table.cards[n];
        if unkept.is_none() {
            card.kept = generation;
        }
        if (&card.unkept, card.progress) != (&unkept, progress) {
            (card.unkept, card.progress) = (unkept, progress);
            table.sequence += 1;
            self.changed.notify_all();
        }
    }

    /// Marks a photo as one that results are written of; refuses while others are.
    pub(super) fn begin_save(&self, n: usize) -> Result<(), Refusal> {
        if self.look().cards[n].unkept.is_some() {
            self.keep(n);
        }
        self.change(|table| {
            let card = &table.cards[n];
            if table.save.running.is_some() {
                return Err((409, "results are still being written".into()));
            }
            if let Some(why) = &card.unkept {
                return Err((409, why.clone()));
            }
            if card.sheet.is_none() {
                return Err(not_open());
            }
            if card.classes.contains(&0) {
                return Err((409, "paint on the object and on the background first".into()));
            }
            table.save.running = Some(n);
            Ok(())
        })
    }

    /// Reads the files of a save while no stroke is being written, with the generation that they are of.
    pub(super) fn read_kept<T>(&self, n: usize, read: impl FnOnce() -> T) -> (T, u64) {
        let _keeping = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.look().cards[n].generation;
        (read(), generation)
    }

    /// What came of a save of the strokes of a generation.
    pub(super) fn end_save(&self, n: usize, generation: u64, outcome: Result<(Vec<String>, String)>) {
        self.change(|table| {
            table.save.running = None;
            table.save.count += 1;
            let value = match outcome {
                Ok((files, command)) => {
                    let card = &mut table.cards[n];
                    if card.generation == generation {
                        card.progress = Progress::Saved;
                    }
                    json!({ "files": files, "command": command, "generation": generation })
                }
                Err(error) => json!({ "error": (self.settings.explain)(&error) }),
            };
            table.save.last = Some((n, value));
        });
    }

    /// The command that writes the same bytes.
    pub(super) fn command(&self, n: usize, bias: Bias) -> String {
        let photo = self.photo(n);
        (self.settings.command)(&Run { image: &photo.path, scribbles: &photo.strokes(), output: &photo.output, bias })
    }

    /// Waits for strokes that are being written; what follows begins no more.
    pub(super) fn settle(&self) {
        drop(self.keeping.lock().unwrap_or_else(PoisonError::into_inner));
        self.wait(Some(Duration::from_secs(10)), |table| table.save.running.is_none().then_some(()));
    }
}

fn not_open() -> Refusal {
    (409, "the photo is not open yet".into())
}

/// The label against the mask under most of the stroke; without a mask, that of the class which has no stroke yet.
fn opposite(stroke: &Stroke, view: &View, mask: Option<(&Vec<i16>, f64)>, [foreground, _]: [usize; 2]) -> Seed {
    let Some((levels, threshold)) = mask else {
        return if foreground == 0 { Seed::Foreground } else { Seed::Background };
    };
    let shape = view.full.shape();
    let mut covered = std::collections::HashSet::new();
    stroke.cover(shape, |pixels| covered.extend(pixels));
    let n_inside = covered.iter().filter(|&&p| f64::from(levels[view.working_pixel(p)]) > threshold).count();
    if 2 * n_inside > covered.len() { Seed::Background } else { Seed::Foreground }
}
