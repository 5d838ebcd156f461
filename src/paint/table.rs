//! What is known at the moment: per photo its strokes, its answer and its files; which one is open; what a save came to.
//!
//! A few photos stay decoded. One that is let go keeps its strokes, folded, and is decoded and answered again when it is opened.

use std::sync::Arc;

use serde_json::{Value, json};

use super::photo::State as Progress;
use super::sheet::Sheet;
use super::view::View;

/// Photos that stay decoded, with their sessions.
const KEPT: usize = 3;

/// What is known at the moment.
pub(super) struct Table {
    /// Grows with every change that a page may want to know.
    pub(super) sequence: u64,
    pub(super) is_stopping: bool,
    pub(super) active: usize,
    pub(super) cards: Vec<Card>,
    /// Photos that are decoded, the one used last at the end.
    pub(super) recent: Vec<usize>,
    pub(super) save: Save,
    pub(super) n_answers: u64,
}

/// One photo.
pub(super) struct Card {
    pub(super) view: Option<Arc<View>>,
    pub(super) sheet: Option<Sheet>,
    /// Changes of the strokes so far; strokes that were restored count as one.
    pub(super) generation: u64,
    pub(super) answer: Option<Shown>,
    /// Why the photo cannot be opened, or its strokes not be answered.
    pub(super) failure: Option<String>,
    /// The generation of the strokes on disk.
    pub(super) kept: u64,
    /// Why the strokes are not on disk.
    pub(super) unkept: Option<String>,
    pub(super) progress: Progress,
    pub(super) classes: [usize; 2],
    pub(super) thumbnail: Option<Arc<Vec<u8>>>,
}

/// An answer as the page shows it.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) generation: u64,
    pub(super) is_final: bool,
    pub(super) levels: Arc<Vec<i16>>,
    /// What is proved, for the page.
    pub(super) facts: Value,
    /// Its own number.
    pub(super) id: u64,
}

/// The last save.
#[derive(Default)]
pub(super) struct Save {
    /// The photo whose results are being written.
    pub(super) running: Option<usize>,
    /// The photo it was about, and what came of it.
    pub(super) last: Option<(usize, Value)>,
    pub(super) count: u64,
}

impl Card {
    /// Counts the pixels of each class.
    pub(super) fn count(&mut self) {
        if let Some(sheet) = &mut self.sheet {
            self.classes = sheet.classes();
        }
    }

    /// Whether its strokes have no final answer yet, and can have one.
    pub(super) fn is_unanswered(&self) -> bool {
        let is_last = |answer: &Shown| answer.is_final && answer.generation == self.generation;
        !self.answer.as_ref().is_some_and(is_last) && self.failure.is_none() && !self.classes.contains(&0)
    }

    /// The state's name, and the generation that is answered by what is shown.
    fn state(&self) -> (&'static str, u64) {
        let answered = self.answer.as_ref().map_or(0, |answer| answer.generation);
        match &self.answer {
            _ if self.failure.is_some() => ("failed", answered),
            _ if self.sheet.is_none() => ("solving", answered),
            _ if self.classes.contains(&0) => ("empty", self.generation),
            Some(answer) if answered == self.generation => {
                (if answer.is_final && answer.facts["proved"] == true { "proved" } else { "provisional" }, answered)
            }
            _ => ("solving", answered),
        }
    }
}

impl Table {
    /// Puts a decoded photo in its place, and lets go of the one that was not used for longest.
    pub(super) fn place(&mut self, n: usize, view: View, sheet: Option<Sheet>) {
        self.touch(n);
        let card = &mut self.cards[n];
        card.view = Some(Arc::new(view));
        if let Some(sheet) = sheet {
            card.sheet = Some(sheet);
            card.count();
            card.generation = u64::from(card.classes != [0, 0]);
            card.kept = card.generation;
        }
        while self.recent.len() > KEPT {
            let at = self.recent.iter().position(|&n| n != self.active).unwrap_or(0);
            let oldest = self.recent.remove(at);
            let card = &mut self.cards[oldest];
            (card.view, card.answer) = (None, None);
            card.sheet.iter_mut().for_each(Sheet::fold);
        }
    }

    /// Notes that a photo is used.
    pub(super) fn touch(&mut self, n: usize) {
        self.recent.retain(|&known| known != n);
        self.recent.push(n);
    }

    /// Whether a photo is decoded.
    pub(super) fn is_kept(&self, n: usize) -> bool {
        self.cards[n].view.is_some()
    }

    /// Puts an answer in place, unless the strokes have changed since.
    pub(super) fn publish(&mut self, n: usize, generation: u64, is_final: bool, levels: Vec<i16>, facts: Value) {
        self.n_answers += 1;
        let (id, card) = (self.n_answers, &mut self.cards[n]);
        if card.generation == generation && card.view.is_some() {
            card.answer = Some(Shown { generation, is_final, levels: Arc::new(levels), facts, id });
        }
    }

    /// The answer of that number, if it is the last.
    pub(super) fn answer(&self, n: usize, id: u64) -> Option<Arc<Vec<i16>>> {
        self.cards[n].answer.as_ref().filter(|answer| answer.id == id).map(|answer| Arc::clone(&answer.levels))
    }

    /// All that a page shows.
    pub(super) fn value(&self) -> Value {
        let n = self.active;
        let card = &self.cards[n];
        let (state, generation) = card.state();
        let shape = card.view.as_ref().map(|view| (view.full.shape(), view.working().shape()));
        let (strokes, undone) = card.sheet.as_ref().map_or((0, 0), Sheet::counts);
        let answer = card.answer.as_ref();
        let save = &self.save;
        json!({
            "sequence": self.sequence,
            "isStopping": self.is_stopping,
            "photo": n,
            "states": self.cards.iter().map(|card| card.progress.letter()).collect::<String>(),
            "size": shape.map(|(full, _)| [full.width, full.height]),
            "working": shape.map(|(_, working)| [working.width, working.height]),
            "state": state,
            "generation": generation,
            "revision": card.generation,
            "strokes": strokes,
            "undone": undone,
            "classes": card.classes,
            "answer": answer.map(|answer| answer.id),
            "answerGeneration": answer.map(|answer| answer.generation),
            "facts": answer.map(|answer| &answer.facts),
            "failure": card.failure,
            "unkept": card.unkept,
            "isSaving": save.running.is_some(),
            "saves": save.count,
            "save": save.last.as_ref().filter(|(photo, _)| *photo == n).map(|(_, value)| value),
        })
    }
}
