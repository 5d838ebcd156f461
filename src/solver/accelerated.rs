//! Alternating projections with momentum: the default.
//!
//! One sweep visits the layers in turn. Layer r minimises ½‖m + Σ_k s_k‖² over its own s_r ∈ B(F_r), all others fixed: each factor
//! projects its part of −(m + Σ_{k≠r} s_k), all factors of the layer in parallel. Between sweeps every message is extrapolated,
//! y_r = s_r + θ(s_r − s_r′), with Nesterov's sequence for θ, and the momentum is dropped when
//! the projections pull against the direction of travel. For two layers this
//! is the accelerated alternating scheme of Chambolle & Pock (2015). Every message is projected in every sweep, so the point at the
//! end of a sweep is feasible whatever the momentum did.
//!
//! Only the sum t = m + Σ y_r and one message per layer are touched: extrapolating all messages moves t by θ(t − t′).

use rayon::prelude::*;

use super::{Messages, Solver};
use crate::model::{Layer, Model, with_scratch};

/// Pixels a parallel task takes at least.
const GRAIN: usize = 4096;

/// State of the iteration.
pub(super) struct Accelerated<'a> {
    model: &'a Model,
    /// The message of each layer, in layer order.
    messages: Vec<Message>,
    /// t = m + Σ s_r after the last sweep, and after the one before.
    total: Vec<f64>,
    previous: Vec<f64>,
    /// By how much a projection changed its message, in layer order.
    change: Vec<f64>,
    /// Nesterov's sequence.
    momentum: f64,
}

struct Message {
    /// s_r after the last sweep.
    now: Vec<f64>,
    /// s_r after the sweep before.
    before: Vec<f64>,
}

impl<'a> Accelerated<'a> {
    /// Starts from the messages of an earlier solve, or from none. They need not be feasible for this model.
    pub(super) fn new(model: &'a Model, start: Option<&Messages>) -> Self {
        let n = model.n_variables();
        let first = |r: usize| start.map_or_else(|| vec![0.0; n], |Messages(start)| start[r].clone());
        let messages = (0..model.layers().len()).map(|r| Message { now: first(r), before: first(r) }).collect();
        let mut solver =
            Self { model, messages, previous: vec![0.0; n], total: vec![0.0; n], change: vec![0.0; n], momentum: 1.0 };
        solver.point();
        // A first plain sweep makes every message feasible.
        solver.sweep(0.0);
        solver
    }

    /// The message of each layer after the last sweep, in layer order.
    pub(super) fn layer_messages(&self) -> Vec<&[f64]> {
        self.messages.iter().map(|message| &message.now[..]).collect()
    }

    fn restart(&mut self) {
        self.momentum = 1.0;
    }

    /// One pass over all layers from the point extrapolated by `theta`. Returns Σ_r ⟨y_r − s_r, s_r − s_r′⟩: positive when the
    /// projections pull back against the direction of travel.
    fn sweep(&mut self, theta: f64) -> f64 {
        let Self { model, messages, total, previous, change, .. } = self;
        total.par_chunks_mut(GRAIN).zip(previous.par_chunks_mut(GRAIN)).for_each(|(total, previous)| {
            for (t, p) in total.iter_mut().zip(previous) {
                let now = *t;
                *t = now + theta * (now - *p);
                *p = now;
            }
        });
        let mut drag = 0.0;
        for (layer, Message { now, before }) in model.layers().iter().zip(messages) {
            let starts = layer.starts();
            drag += project(layer, total, starts, theta, now, before, change);
            total.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, total)| {
                let from = chunk * GRAIN;
                match layer.rank() {
                    None => total.iter_mut().zip(&change[from..]).for_each(|(t, c)| *t += c),
                    Some(rank) => {
                        for (t, &place) in total.iter_mut().zip(&rank[from..]) {
                            *t += change[place as usize];
                        }
                    }
                }
            });
        }
        drag
    }
}

impl Solver for Accelerated<'_> {
    fn step(&mut self) {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
        let theta = (self.momentum - 1.0) / next;
        self.momentum = next;
        if self.sweep(theta) > 0.0 {
            self.restart();
        }
    }

    fn point(&mut self) -> &[f64] {
        // Summed anew, and both together: an error in one alone would be amplified by the momentum.
        let Self { model, messages, total, previous, .. } = self;
        sum_messages(model, messages, total, |message| &message.now);
        sum_messages(model, messages, previous, |message| &message.before);
        &self.total
    }

    fn messages(&mut self) -> Option<Messages> {
        Some(Messages(self.messages.iter_mut().map(|message| std::mem::take(&mut message.now)).collect()))
    }
}

/// total ← m + Σ_r s_r, free of the rounding errors that a running total gathers.
fn sum_messages(model: &Model, messages: &[Message], total: &mut [f64], part: impl Fn(&Message) -> &[f64] + Sync) {
    total.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, total)| {
        let from = chunk * GRAIN;
        total.copy_from_slice(&model.unary()[from..from + total.len()]);
        for (layer, message) in model.layers().iter().zip(messages) {
            let part = part(message);
            for (i, t) in total.iter_mut().enumerate() {
                *t += part[layer.place(from + i)];
            }
        }
    });
}

/// Projects the factors between `starts[0]` and the last of `starts`; the slices hold just their places.
fn project(
    layer: &Layer,
    total: &[f64],
    starts: &[usize],
    theta: f64,
    now: &mut [f64],
    before: &mut [f64],
    change: &mut [f64],
) -> f64 {
    let n_factors = starts.len() - 1;
    if n_factors > 1 && now.len() > GRAIN {
        // Split near the middle of the places, at a border of factors: always the same tree of tasks.
        let half = starts[0] + now.len() / 2;
        let middle = starts.partition_point(|&start| start < half).clamp(1, n_factors - 1);
        let at = starts[middle] - starts[0];
        let (now, now_rest) = now.split_at_mut(at);
        let (before, before_rest) = before.split_at_mut(at);
        let (change, change_rest) = change.split_at_mut(at);
        let (drag, drag_rest) = rayon::join(
            || project(layer, total, &starts[..=middle], theta, now, before, change),
            || project(layer, total, &starts[middle..], theta, now_rest, before_rest, change_rest),
        );
        return drag + drag_rest;
    }
    let mut drag = 0.0;
    let first = layer.starts().partition_point(|&start| start < starts[0]);
    for r in 0..n_factors {
        let range = starts[r] - starts[0]..starts[r + 1] - starts[0];
        let (now, before, change) = (&mut now[range.clone()], &mut before[range.clone()], &mut change[range]);
        with_scratch(|scratch, y| {
            y.clear();
            y.extend(now.iter().zip(&*before).map(|(s, s0)| s + theta * (s - s0)));
            before.copy_from_slice(now);
            match layer.order() {
                None => {
                    let total = &total[starts[r]..starts[r + 1]];
                    now.iter_mut().zip(&*y).zip(total).for_each(|((z, y), t)| *z = y - t);
                }
                Some(order) => {
                    let order = &order[starts[r]..starts[r + 1]];
                    now.iter_mut().zip(&*y).zip(order).for_each(|((z, y), &v)| *z = y - total[v as usize]);
                }
            }
            layer.factors()[first + r].project(now, scratch);
            for (((c, s), y), s0) in change.iter_mut().zip(&*now).zip(&*y).zip(&*before) {
                *c = s - y;
                drag -= *c * (s - s0);
            }
        });
    }
    drag
}
