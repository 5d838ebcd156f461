//! Belief propagation on cut edges, plain and fractional, in log-odds: one number per edge and direction.
//!
//! With t_p the log-odds of pixel p and μ_qp what its neighbour q adds to them (Wiegerinck & Heskes 2003, weight ρ on every edge),
//!
//! t_p = −m_p + Σ_q μ_qp,   μ_pq ← ρ·f(t_p − μ_qp/ρ),   f(h) = log (e^h + e^(−w/ρ)) / (1 + e^(h − w/ρ)).
//!
//! ρ = 1 is the plain form, exact on trees. On a grid ρ ≤ ½ is a convex, tree-reweighted form, whose value at convergence bounds
//! log Z from above. The schedule is by lines: a layer of chains is a set of disjoint lines, each swept forth and back while
//! what the other layers send stays put, all lines in parallel; so one iteration carries news across the whole picture, and a
//! model that is one chain is solved by it. The parallel schedule of textbooks is there for comparison: every message from the last
//! iteration's log-odds, so that thirty iterations carry news thirty pixels. Whatever the messages are, they only rewrite the model as
//! Π b_p · Π (b_pq / b_p b_q)^ρ, and the value reported is the logarithm of these terms' normalising constants.

use std::time::Instant;

use rayon::prelude::*;

use super::{Beliefs, Options, Schedule, iterate};
use crate::kernel::logistic::{probability, softplus};
use crate::model::{Layer, Model, ordered_sum};
use crate::{Checkpoint, Error, Result};

/// Variables a parallel task takes.
const CHUNK: usize = 4096;

/// Lines swept in step.
const TOGETHER: usize = 4;

/// Plain belief propagation, ρ = 1 whatever the options say, on a model of chains alone.
pub fn belief_propagation(model: &Model, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Beliefs> {
    propagate(model, &Options { weight: 1.0, ..options.clone() }, checkpoint)
}

/// Fractional belief propagation with the weight ρ of the options, on a model of chains alone.
pub fn fractional_belief_propagation(model: &Model, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Beliefs> {
    propagate(model, options, checkpoint)
}

fn propagate(model: &Model, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Beliefs> {
    options.check()?;
    let clock = Instant::now();
    let mut state = State::new(model, options, checkpoint)?;
    let run = iterate(options, clock, || state.sweep(checkpoint))?;
    checkpoint()?;
    let log_z = state.log_z(checkpoint)?;
    Ok(Beliefs {
        s: state.t.iter().map(|t| -t).collect(),
        log_z,
        iterations: run.iterations,
        residual: run.residual,
        status: run.status,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

struct State<'a> {
    model: &'a Model,
    rule: Rule,
    schedule: Schedule,
    lines: Vec<Lines<'a>>,
    /// Log-odds and probability of every variable.
    t: Vec<f64>,
    p: Vec<f64>,
    /// What a variable hears from everywhere but the layer at hand.
    cavity: Vec<f64>,
}

/// How a message is renewed.
#[derive(Clone, Copy)]
struct Rule {
    weight: f64,
    damping: f64,
}

/// The messages along a layer of chains, in layer order.
struct Lines<'a> {
    layer: &'a Layer,
    /// w/ρ of the edge from each place to the next, and exp(−w/ρ); zero and one where a chain ends.
    strength: Vec<f64>,
    decay: Vec<f64>,
    /// The message into each place from the one before, from the one after, and their sum.
    before: Vec<f64>,
    after: Vec<f64>,
    inflow: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(model: &'a Model, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let rule = Rule { weight: options.weight, damping: options.damping };
        let lines = |layer| {
            checkpoint()?;
            Lines::new(layer, rule.weight)
        };
        let lines = model.layers().iter().map(lines).collect::<Result<_>>()?;
        let t: Vec<f64> = model.unary().iter().map(|m| -m).collect();
        let p = t.iter().map(|&t| probability(t)).collect();
        let schedule = options.schedule;
        Ok(Self { model, rule, schedule, lines, cavity: vec![0.0; t.len()], t, p })
    }

    /// Renews every message once; returns the largest change of a probability.
    fn sweep(&mut self, checkpoint: Checkpoint<'_>) -> Result<f64> {
        for k in 0..self.lines.len() {
            checkpoint()?;
            match self.schedule {
                Schedule::Lines => self.sweep_layer(k),
                Schedule::Parallel => self.lines[k].renew_at_once(&self.t, self.rule),
            }
        }
        checkpoint()?;
        let (lines, m) = (&self.lines, self.model.unary());
        let renew = |v: usize, t: &mut f64, p: &mut f64| {
            *t = lines.iter().fold(-m[v], |sum, layer| sum + layer.inflow[layer.layer.place(v)]);
            let moved = probability(*t) - *p;
            *p += moved;
            moved.abs()
        };
        let moved = self
            .t
            .par_chunks_mut(CHUNK)
            .zip(self.p.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(chunk, (t, p))| {
                let variables = chunk * CHUNK..;
                variables.zip(t).zip(p).fold(0.0_f64, |most, ((v, t), p)| most.max(renew(v, t, p)))
            })
            .reduce(|| 0.0, f64::max);
        Ok(moved)
    }

    /// One layer, while what the others send stays put.
    fn sweep_layer(&mut self, k: usize) {
        let (lines, m) = (&self.lines, self.model.unary());
        self.cavity.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, cavity)| {
            for (v, cavity) in (chunk * CHUNK..).zip(cavity) {
                let others = lines.iter().enumerate().filter(|(layer, _)| *layer != k);
                *cavity = others.fold(-m[v], |sum, (_, other)| sum + other.inflow[other.layer.place(v)]);
            }
        });
        self.lines[k].sweep(&self.cavity, self.rule);
    }

    /// Σ log Z_p + ρ Σ (log Z_pq − log Z_p − log Z_q), without the constant of the energy.
    fn log_z(&self, checkpoint: Checkpoint<'_>) -> Result<f64> {
        let variables = ordered_sum(&self.t, &self.t, |t, _| softplus(t));
        let mut edges = 0.0;
        for lines in &self.lines {
            checkpoint()?;
            edges += lines.log_z(&self.t, self.rule.weight);
        }
        Ok(variables + edges - self.model.constant())
    }
}

impl<'a> Lines<'a> {
    fn new(layer: &'a Layer, weight: f64) -> Result<Self> {
        let n = layer.n_variables();
        let mut strength = vec![0.0; n];
        for (factor, &start) in layer.factors().iter().zip(layer.starts()) {
            let Some(chain) = factor.as_chain() else {
                return Err(Error::UnknownFactor {
                    method: "belief propagation",
                    why: "a factor is no chain of cut edges".into(),
                });
            };
            for (strength, w) in strength[start..].iter_mut().zip(chain.weights()) {
                *strength = w / weight;
            }
        }
        let decay = strength.iter().map(|w: &f64| (-w).exp()).collect();
        Ok(Self { layer, strength, decay, before: vec![0.0; n], after: vec![0.0; n], inflow: vec![0.0; n] })
    }

    /// Renews all messages of the layer, every line forth and back.
    fn sweep(&mut self, cavity: &[f64], rule: Rule) {
        let Self { layer, strength, decay, before, after, inflow } = self;
        let lines = Span { layer, strength, decay, cavity, rule };
        lines.sweep(0..layer.factors().len(), Messages { before, after, inflow });
    }

    /// Renews all messages of the layer from the log-odds `t` of the last iteration. A message depends on them and on the one that
    /// goes the other way, so the two of an edge are renewed together; where a chain ends the strength is zero, and so are they.
    fn renew_at_once(&mut self, t: &[f64], rule: Rule) {
        let Self { layer, strength, decay, before, after, inflow } = self;
        let first = before.len().min(1);
        let edges = before[first..].par_chunks_mut(CHUNK).zip(after.par_chunks_mut(CHUNK)).enumerate();
        edges.for_each(|(chunk, (before, after))| {
            for (i, (forth, back)) in (chunk * CHUNK..).zip(before.iter_mut().zip(after)) {
                let from_p = t[layer.variable(i)] - *back / rule.weight;
                let from_q = t[layer.variable(i + 1)] - *forth / rule.weight;
                *forth = rule.renew(*forth, from_p, strength[i], decay[i]);
                *back = rule.renew(*back, from_q, strength[i], decay[i]);
            }
        });
        let sums = before.par_iter().zip(after.par_iter());
        inflow.par_iter_mut().zip(sums).for_each(|(inflow, (before, after))| *inflow = before + after);
    }

    /// ρ Σ (log Z_pq − log Z_p − log Z_q) over the edges of the layer.
    fn log_z(&self, t: &[f64], weight: f64) -> f64 {
        let line = |range: &[usize]| -> f64 {
            let edges = (range[0]..range[1] - 1).filter(|&i| self.strength[i] > 0.0);
            edges
                .map(|i| {
                    let (p, q) = (t[self.layer.variable(i)], t[self.layer.variable(i + 1)]);
                    let (h_p, h_q) = (p - self.after[i] / weight, q - self.before[i + 1] / weight);
                    weight * (log_pair(h_p, h_q, self.strength[i]) - softplus(p) - softplus(q))
                })
                .sum()
        };
        let sums: Vec<f64> = self.layer.starts().par_windows(2).map(line).collect();
        sums.iter().sum()
    }
}

/// What the sweep of a layer only reads.
#[derive(Clone, Copy)]
struct Span<'a> {
    layer: &'a Layer,
    strength: &'a [f64],
    decay: &'a [f64],
    cavity: &'a [f64],
    rule: Rule,
}

/// What it writes, of some neighbouring lines.
struct Messages<'a> {
    before: &'a mut [f64],
    after: &'a mut [f64],
    inflow: &'a mut [f64],
}

impl<'a> Messages<'a> {
    fn split_at(self, place: usize) -> (Self, Self) {
        let (b0, b1) = self.before.split_at_mut(place);
        let (a0, a1) = self.after.split_at_mut(place);
        let (i0, i1) = self.inflow.split_at_mut(place);
        (Self { before: b0, after: a0, inflow: i0 }, Self { before: b1, after: a1, inflow: i1 })
    }
}

impl Span<'_> {
    fn sweep(self, lines: std::ops::Range<usize>, messages: Messages<'_>) {
        if lines.len() <= TOGETHER {
            return self.together(lines, messages);
        }
        let starts = self.layer.starts();
        let first = starts[lines.start];
        let middle = lines.start + (lines.len() / 2).next_multiple_of(TOGETHER);
        let (left, right) = messages.split_at(starts[middle] - first);
        let (left_lines, right_lines) = (lines.start..middle, middle..lines.end);
        if starts[lines.end] - first > CHUNK {
            rayon::join(|| self.sweep(left_lines, left), || self.sweep(right_lines, right));
        } else {
            self.sweep(left_lines, left);
            self.sweep(right_lines, right);
        }
    }

    /// A few lines forth, then back, in step: a message waits for the one before it in its line, but not for other lines.
    fn together(self, range: std::ops::Range<usize>, mut messages: Messages<'_>) {
        let mut lines: [Line<'_>; TOGETHER] = Default::default();
        for (line, ends) in lines.iter_mut().zip(self.layer.starts()[range.start..=range.end].windows(2)) {
            let (own, rest) = messages.split_at(ends[1] - ends[0]);
            messages = rest;
            for (cavity, place) in own.inflow.iter_mut().zip(ends[0]..) {
                *cavity = self.cavity[self.layer.variable(place)];
            }
            let (strength, decay) = (&self.strength[ends[0]..ends[1]], &self.decay[ends[0]..ends[1]]);
            *line = Line { strength, decay, before: own.before, after: own.after, cavity: own.inflow };
        }
        let longest = lines.iter().map(|line| line.cavity.len()).max().unwrap_or(0);
        for i in 1..longest {
            lines.iter_mut().filter(|line| i < line.cavity.len()).for_each(|line| line.forth(i, self.rule));
        }
        for i in 1..longest {
            lines.iter_mut().filter(|line| i < line.cavity.len()).for_each(|line| line.back(i, self.rule));
        }
        for line in lines {
            for ((inflow, before), after) in line.cavity.iter_mut().zip(line.before).zip(line.after) {
                *inflow = *before + *after;
            }
        }
    }
}

/// One line; `cavity` is what its variables hear from elsewhere, and becomes the inflow.
#[derive(Default)]
struct Line<'a> {
    strength: &'a [f64],
    decay: &'a [f64],
    before: &'a mut [f64],
    after: &'a mut [f64],
    cavity: &'a mut [f64],
}

impl Line<'_> {
    /// Renews the message into place i from the one before.
    #[inline(always)]
    fn forth(&mut self, i: usize, rule: Rule) {
        let h = self.cavity[i - 1] + self.before[i - 1] + rule.rest() * self.after[i - 1];
        self.before[i] = rule.renew(self.before[i], h, self.strength[i - 1], self.decay[i - 1]);
    }

    /// Renews the message into the i-th place from the end from the one after.
    #[inline(always)]
    fn back(&mut self, i: usize, rule: Rule) {
        let from = self.cavity.len() - i;
        let h = self.cavity[from] + self.after[from] + rule.rest() * self.before[from];
        self.after[from - 1] = rule.renew(self.after[from - 1], h, self.strength[from - 1], self.decay[from - 1]);
    }
}

impl Rule {
    /// t − μ/ρ holds this share of the message that goes the other way: none of it when ρ = 1.
    #[inline(always)]
    fn rest(self) -> f64 {
        1.0 - 1.0 / self.weight
    }

    #[inline(always)]
    fn renew(self, old: f64, h: f64, strength: f64, decay: f64) -> f64 {
        let new = self.weight * through(h, strength, decay);
        new + self.damping * (old - new)
    }
}

/// f(h) for an edge of strength w: ±log (1 + e^−|h|−w) / (e^−|h| + e^−w), `decay` being e^−w.
#[inline(always)]
fn through(h: f64, w: f64, decay: f64) -> f64 {
    let size = h.abs();
    let z = (-size).exp();
    let message = if z + decay > 1e-280 {
        ((1.0 + decay * z) / (z + decay)).ln()
    } else {
        // Both have left the range of exp: the smaller one decides.
        size.min(w) - (-(size - w).abs()).exp().ln_1p()
    };
    message.copysign(h)
}

/// log (1 + e^(a+b) + e^(a−w) + e^(b−w))
fn log_pair(a: f64, b: f64, w: f64) -> f64 {
    let terms = [0.0, a + b, a - w, b - w];
    let most = terms.iter().copied().fold(0.0, f64::max);
    most + terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
}
