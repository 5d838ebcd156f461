//! Alternating projections with momentum: the default.
//!
//! One sweep visits the layers in turn. Layer r minimises ½‖m + Σ_k s_k‖² over its own s_r ∈ B(F_r), all others fixed: each factor
//! projects its part of −(m + Σ_{k≠r} s_k), all factors of the layer in parallel. Between sweeps every message is extrapolated,
//! y_r = s_r + θ(s_r − s_r′), with Nesterov's sequence for θ, and the momentum is dropped when
//! the projections pull against the direction of travel. For two layers this
//! is the accelerated alternating scheme of Chambolle & Pock (2015). Every message is projected in every sweep, so the point at the
//! end of a sweep is feasible whatever the momentum did.
//!
//! Chains cost a quarter of what superpixels do, and are what makes a model slow: so a sweep passes over all of them twice before it comes
//! to the next layer of superpixels. On photos with the default weights this takes a third of the sweeps and two thirds of the time.
//!
//! A projection is z − prox(z), here of z = y_r − t with t = m + Σ y_k, so afterwards t is simply −prox(z): the total never has to
//! be summed. A layer therefore reads x = −t from where the layer before it left it, and leaves its own.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{Messages, Point, Solver};
use crate::factor::Factor;
use crate::model::{Layer, Model, halve, with_scratch};
use crate::{Checkpoint, Result};

/// Places a parallel task takes at least.
const GRAIN: usize = 4096;

/// Passes over the chains before each layer of superpixels.
const CHAIN_PASSES: usize = 2;

/// Momentum beyond this only swings to and fro when a few dozen sweeps are enough, and most models need no more: held here for the
/// first sixty, cuts of medium strength take a sixth fewer sweeps. Strong ones need more of it, and get it after that.
const EARLY_MOST: f64 = 0.9;
const EARLY: usize = 60;

/// Nesterov's number at a warm start: what is left of the error there is smooth, and the momentum need not build up first.
const WARM: f64 = 4.0;

/// State of the iteration.
pub(super) struct Accelerated<'a> {
    model: &'a Model,
    /// What a sweep does, in turn.
    visits: Vec<Visit<'a>>,
    /// The message of each layer, in layer order.
    messages: Vec<Message>,
    /// x = −(m + Σ s_r) after the last sweep and after the one before, in the order of the layer visited last.
    x: Vec<f64>,
    before: Vec<f64>,
    /// The x a layer leaves, in its order.
    left: Vec<f64>,
    /// The x a layer found, in its order.
    found: Vec<f64>,
    /// s over variables.
    point: Vec<f64>,
    /// Nesterov's sequence.
    momentum: f64,
    sweeps: usize,
}

/// A layer's turn in a sweep.
struct Visit<'a> {
    layer: usize,
    /// Whether it has had a turn in this sweep already.
    again: bool,
    /// Where the layer visited before keeps the variable at each place; `None` when at the same place.
    source: Option<Cow<'a, [u32]>>,
}

struct Message {
    /// s_r after the last sweep.
    now: Vec<f64>,
    /// s_r after the sweep before.
    before: Vec<f64>,
    /// What the factors remember from sweep to sweep.
    memory: Vec<i8>,
}

impl AsRef<[f64]> for Message {
    fn as_ref(&self) -> &[f64] {
        &self.now
    }
}

impl<'a> Accelerated<'a> {
    /// Starts from the messages of an earlier solve, or from none. They need not be feasible for this model.
    pub(super) fn new(model: &'a Model, start: Option<&Messages>, checkpoint: Checkpoint<'_>) -> Result<Self> {
        checkpoint()?;
        let n = model.n_variables();
        // Written by all threads at once: memory that is zero from the start would be laid out page by page at its first use, and
        // twice if it is read before it is written.
        let zero = || (0..n).into_par_iter().with_min_len(GRAIN).map(|_| 0.0).collect::<Vec<f64>>();
        let first = |r: usize| start.map_or_else(zero, |Messages(start)| start[r].clone());
        let messages = (0..model.layers().len())
            .map(|r| Message { now: first(r), before: first(r), memory: vec![0; n] })
            .collect();
        let mut solver = Self {
            model,
            visits: visits(model.layers()),
            messages,
            x: zero(),
            before: zero(),
            left: zero(),
            found: zero(),
            point: zero(),
            momentum: 1.0,
            sweeps: 0,
        };
        checkpoint()?;
        // With x = 0 the unary is yet to be counted in.
        solver.settle();
        // A first plain sweep makes every message feasible.
        solver.sweep(0.0, checkpoint)?;
        if start.is_some() {
            solver.momentum = WARM;
        }
        Ok(solver)
    }

    /// The message of each layer after the last sweep, in layer order.
    pub(super) fn layer_messages(&self) -> Vec<&[f64]> {
        self.messages.iter().map(|message| &message.now[..]).collect()
    }

    /// point ← m + Σ_r s_r, free of the rounding errors that a running total gathers, and x ← −point. The x of the sweep before moves by as much: an error in one alone would be amplified by the momentum.
    fn settle(&mut self) {
        let Self { model, visits, messages, x, before, point, .. } = self;
        model.total_into(messages, point);
        let variable = |place| visits.last().map_or(place, |visit| model.layers()[visit.layer].variable(place));
        x.par_chunks_mut(GRAIN).zip(before.par_chunks_mut(GRAIN)).enumerate().for_each(|(chunk, (x, before))| {
            for (i, (x, before)) in x.iter_mut().zip(before).enumerate() {
                let exact = -point[variable(chunk * GRAIN + i)];
                *before += exact - *x;
                *x = exact;
            }
        });
    }

    fn restart(&mut self) {
        self.momentum = 1.0;
    }

    /// One pass over all layers from the point extrapolated by `theta`. Returns Σ_r ⟨y_r − s_r, s_r − s_r′⟩: positive when the
    /// projections pull back against the direction of travel.
    fn sweep(&mut self, theta: f64, checkpoint: Checkpoint<'_>) -> Result<f64> {
        let Self { model, visits, messages, x, before, left, found, .. } = self;
        x.par_chunks_mut(GRAIN).zip(before.par_chunks_mut(GRAIN)).for_each(|(x, before)| {
            for (x, before) in x.iter_mut().zip(before) {
                let now = *x;
                *x = now + theta * (now - *before);
                *before = now;
            }
        });
        let mut drag = 0.0;
        for visit in visits {
            checkpoint()?;
            let layer = &model.layers()[visit.layer];
            let Message { now, before, memory } = &mut messages[visit.layer];
            let theta = (!visit.again).then_some(theta);
            let pass = Pass { layer, source: visit.source.as_deref(), x, theta };
            drag += pass.project(0..layer.factors().len(), Places { now, before, memory, found, left });
            std::mem::swap(x, left);
        }
        Ok(drag)
    }
}

/// The order of a sweep: before each layer of other factors, the layers of chains, a few times over.
fn visits(layers: &[Layer]) -> Vec<Visit<'_>> {
    let is_chains = |&r: &usize| layers[r].factors().iter().all(|factor| factor.as_chain().is_some());
    let (chains, others): (Vec<usize>, Vec<usize>) = (0..layers.len()).partition(is_chains);
    let order: Vec<usize> = match others[..] {
        [] => chains,
        _ => others.iter().flat_map(|&other| chains.repeat(CHAIN_PASSES).into_iter().chain([other])).collect(),
    };
    (0..order.len())
        .map(|i| {
            let (layer, earlier) = (order[i], order[i.checked_sub(1).unwrap_or(order.len() - 1)]);
            let source = layers[layer].source(&layers[earlier]);
            Visit { layer, again: order[..i].contains(&layer), source }
        })
        .collect()
}

impl Solver for Accelerated<'_> {
    fn step(&mut self) {
        self.step_until(&|| Ok(())).expect("this checkpoint does not fail");
    }

    fn step_until(&mut self, checkpoint: Checkpoint<'_>) -> Result<()> {
        self.sweeps += 1;
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
        let theta = (self.momentum - 1.0) / next;
        if theta < EARLY_MOST || self.sweeps > EARLY {
            self.momentum = next;
        }
        if self.sweep(theta, checkpoint)? > 0.0 {
            self.restart();
        }
        Ok(())
    }

    fn point(&mut self) -> Point<'_> {
        self.settle();
        Point { s: &self.point, messages: self.layer_messages() }
    }

    fn messages(&mut self) -> Messages {
        Messages(self.messages.iter_mut().map(|message| std::mem::take(&mut message.now)).collect())
    }
}

/// One layer's turn; extrapolated, and with a drag, if it is its first in the sweep.
#[derive(Clone, Copy)]
struct Pass<'a> {
    layer: &'a Layer,
    source: Option<&'a [u32]>,
    x: &'a [f64],
    theta: Option<f64>,
}

/// What a layer's turn changes, at some of its places.
struct Places<'a> {
    now: &'a mut [f64],
    before: &'a mut [f64],
    memory: &'a mut [i8],
    found: &'a mut [f64],
    left: &'a mut [f64],
}

impl<'a> Places<'a> {
    fn split_at(self, at: usize) -> (Places<'a>, Places<'a>) {
        let (now, now_rest) = self.now.split_at_mut(at);
        let (before, before_rest) = self.before.split_at_mut(at);
        let (memory, memory_rest) = self.memory.split_at_mut(at);
        let (found, found_rest) = self.found.split_at_mut(at);
        let (left, left_rest) = self.left.split_at_mut(at);
        (
            Places { now, before, memory, found, left },
            Places { now: now_rest, before: before_rest, memory: memory_rest, found: found_rest, left: left_rest },
        )
    }

    fn reborrow(&mut self) -> Places<'_> {
        Places { now: self.now, before: self.before, memory: self.memory, found: self.found, left: self.left }
    }

    fn halves(self) -> (Places<'a>, Places<'a>) {
        let middle = self.now.len() / 2;
        self.split_at(middle)
    }
}

impl Pass<'_> {
    /// Projects these factors of the layer; `places` are just theirs. Returns their share of the drag.
    fn project(self, factors: std::ops::Range<usize>, places: Places<'_>) -> f64 {
        let starts = &self.layer.starts()[factors.start..=factors.end];
        if factors.len() > 1 && places.now.len() > GRAIN {
            // At a border of factors, always the same: always the same tree of tasks.
            let (middle, at) = halve(starts);
            let (places, rest) = places.split_at(at);
            let middle = factors.start + middle;
            let (drag, drag_rest) =
                rayon::join(|| self.project(factors.start..middle, places), || self.project(middle..factors.end, rest));
            return drag + drag_rest;
        }
        let mut drag = 0.0;
        let mut rest = places;
        for (factor, range) in self.layer.factors()[factors].iter().zip(starts.windows(2)) {
            let places;
            (places, rest) = rest.split_at(range[1] - range[0]);
            drag += self.project_one(factor.as_ref(), range[0], places);
        }
        drag
    }

    fn project_one(self, factor: &dyn Factor, from: usize, mut places: Places<'_>) -> f64 {
        match self.theta {
            Some(theta) => self.extrapolate(theta, from, places.reborrow()),
            None => self.add_found(from, places.now),
        }
        with_scratch(|scratch, _| factor.prox_again(places.now, places.left, places.memory, scratch));
        match self.theta {
            Some(_) => settle(places),
            None => {
                subtract(places.now, places.left);
                0.0
            }
        }
    }

    /// now ← z = y + x with y = s + θ(s − s′), and before ← s.
    fn extrapolate(self, theta: f64, from: usize, places: Places<'_>) {
        if places.now.len() > 4 * GRAIN {
            let (first, second) = places.halves();
            let middle = from + first.now.len();
            rayon::join(|| self.extrapolate(theta, from, first), || self.extrapolate(theta, middle, second));
            return;
        }
        let Places { now, before, found, .. } = places;
        let range = from..from + now.len();
        match self.source {
            None => found.copy_from_slice(&self.x[range]),
            Some(source) => found.iter_mut().zip(&source[range]).for_each(|(f, &at)| *f = self.x[at as usize]),
        }
        for ((now, before), found) in now.iter_mut().zip(before).zip(found) {
            let s = *now;
            *now = s + theta * (s - *before) + *found;
            *before = s;
        }
    }

    /// now ← z = s + x
    fn add_found(self, from: usize, now: &mut [f64]) {
        let range = from..from + now.len();
        match self.source {
            None => now.iter_mut().zip(&self.x[range]).for_each(|(now, x)| *now += x),
            Some(source) => now.iter_mut().zip(&source[range]).for_each(|(now, &at)| *now += self.x[at as usize]),
        }
    }
}

/// now ← s = z − prox(z). Returns the drag ⟨y − s, s − s′⟩, where y − s is the x left less the x found.
fn settle(places: Places<'_>) -> f64 {
    if places.now.len() > 4 * GRAIN {
        let (first, second) = places.halves();
        let (a, b) = rayon::join(|| settle(first), || settle(second));
        return a + b;
    }
    let Places { now, before, found, left, .. } = places;
    let mut drag = 0.0;
    for (((now, before), found), left) in now.iter_mut().zip(before).zip(found).zip(left) {
        *now -= *left;
        drag += (*left - *found) * (*now - *before);
    }
    drag
}

/// now ← s = z − prox(z)
fn subtract(now: &mut [f64], left: &[f64]) {
    now.iter_mut().zip(left).for_each(|(now, left)| *now -= left);
}
