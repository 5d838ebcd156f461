//! Minimum norm: s* = argmin { ½‖s‖² : s ∈ B(F) }, and with it marginals, MAP and bounds.
//!
//! A solver is an iteration over feasible points and nothing else ([`Solver`]). [`solve`] owns the rest, so every solver is judged
//! by the same [`Certificate`], stops on the same budget, and reports to the same observer.

mod accelerated;
mod certificate;
mod divide_conquer;
mod douglas_rachford;
mod frank_wolfe;
mod graph;
mod level;
mod map;
mod messages;
mod min_norm;
mod network;
mod primal;
mod proof;
mod screen;
mod sequential;

pub use certificate::{Certificate, MapChoice, PROVED_OPTIMAL};
pub use divide_conquer::GRAPH_LIMIT;
pub use level::{Level, Levels, certify};
pub use min_norm::MIN_NORM_LIMIT;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::model::Model;
use crate::{Checkpoint, Error, Result};

/// An iteration towards argmin { ½‖s‖² : s ∈ B(F) }.
pub trait Solver {
    /// Takes one step.
    fn step(&mut self);

    /// Takes one step unless the checkpoint fails, after which the solver is of no more use.
    fn step_until(&mut self, checkpoint: Checkpoint<'_>) -> Result<()> {
        checkpoint()?;
        self.step();
        Ok(())
    }

    /// A feasible s ∈ B(F), up to rounding, and the messages that it is the sum of.
    fn point(&mut self) -> Point<'_>;

    /// The messages of the point, given away at the end.
    fn messages(&mut self) -> Messages {
        Messages(self.point().messages.iter().map(|message| message.to_vec()).collect())
    }

    /// Whether no step changes the point any more.
    fn finished(&self) -> bool {
        false
    }

    /// Minimum cuts computed so far, for a solver that works by them.
    fn map_calls(&self) -> Option<usize> {
        None
    }
}

/// s = m + Σ_r s_r with s_r ∈ B(F_r), both up to rounding: what a [certificate](Certificate) is made from.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// s, in the order of the variables.
    pub s: &'a [f64],
    /// s_r, one per layer, in layer order.
    pub messages: Vec<&'a [f64]>,
}

/// The dual variables s_r of a solved model, one vector per layer in layer order: where to start when the unary or a weight has
/// changed ([`solve_from`]).
#[derive(Clone, Debug)]
pub struct Messages(Vec<Vec<f64>>);

impl Messages {
    /// Takes one vector per layer, in layer order.
    pub fn new(layers: Vec<Vec<f64>>) -> Self {
        Self(layers)
    }

    /// The vector of each layer, in layer order.
    pub fn layers(&self) -> &[Vec<f64>] {
        &self.0
    }

    fn fit(&self, model: &Model) -> bool {
        self.0.len() == model.layers().len() && self.0.iter().all(|message| message.len() == model.n_variables())
    }
}

/// The solvers, by the names users know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SolverKind {
    /// Alternating projections with momentum: fast on every model
    #[default]
    Accelerated,
    /// The paper's parallel message passing
    Messages,
    /// Douglas–Rachford splitting.
    DouglasRachford,
    /// One factor at a time.
    Ep,
    /// Greedy vertices, with line search and pairwise steps
    FrankWolfe,
    /// Fujishige and Wolfe's exact method, for at most 2000 free pixels
    MinNorm,
    /// Repeated minimum cuts: exact, for models that are graphs
    DivideConquer,
}

impl SolverKind {
    /// Every solver.
    pub const ALL: [Self; 7] = [
        Self::Accelerated,
        Self::Messages,
        Self::DouglasRachford,
        Self::Ep,
        Self::FrankWolfe,
        Self::MinNorm,
        Self::DivideConquer,
    ];
}

/// The factor graph on which `messages`, `douglas-rachford` and `ep` run; the other solvers do not look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Factors {
    /// Whole rows, columns and superpixels
    #[default]
    Layers,
    /// The paper's own graph: single edges, projections weighted by |δ(v)|, and superpixels
    Edges,
}

impl SolverKind {
    /// The solver at its starting point.
    fn start<'a>(
        self,
        model: &'a Model,
        factors: Factors,
        start: Option<&Messages>,
        checkpoint: Checkpoint<'_>,
    ) -> Result<Box<dyn Solver + 'a>> {
        Ok(match self {
            SolverKind::Accelerated => Box::new(accelerated::Accelerated::new(model, start, checkpoint)?),
            SolverKind::Messages => Box::new(messages::Messages::new(model, factors)),
            SolverKind::DouglasRachford => Box::new(douglas_rachford::DouglasRachford::new(model, factors)),
            SolverKind::Ep => Box::new(sequential::Sequential::new(model, factors)),
            SolverKind::FrankWolfe => Box::new(frank_wolfe::FrankWolfe::new(model)),
            SolverKind::MinNorm => Box::new(min_norm::MinNorm::new(model)?),
            SolverKind::DivideConquer => Box::new(divide_conquer::DivideConquer::new(model, checkpoint)?),
        })
    }
}

/// When to stop, and with which solver.
#[derive(Clone, Debug, Serialize)]
pub struct Options {
    /// The iteration.
    pub solver: SolverKind,
    /// The factor graph, for solvers that pass messages.
    pub factors: Factors,
    /// Stop when the duality gap per free pixel is at most this (nats²).
    pub tolerance: f64,
    /// Stop after this many steps.
    pub max_iterations: usize,
    /// Stop after this long.
    pub time_limit: Option<Duration>,
    /// Which of several optimal masks.
    pub map: MapChoice,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            solver: SolverKind::default(),
            factors: Factors::default(),
            tolerance: 1e-5,
            max_iterations: 2000,
            time_limit: None,
            map: MapChoice::default(),
        }
    }
}

impl Options {
    /// Refuses a budget that cannot be kept.
    pub fn check(&self) -> Result<()> {
        if self.tolerance.is_finite() && self.tolerance > 0.0 {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "tolerance".into(),
            value: self.tolerance.to_string(),
            expected: "finite and above 0".into(),
        })
    }
}

/// One iterate. Its numbers take the messages to be feasible; the [`Certificate`] of the last one verifies it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Steps taken.
    pub iteration: usize,
    /// Seconds since the start.
    pub seconds: f64,
    /// Duality gap.
    pub gap: f64,
    /// Duality gap per free pixel.
    pub gap_per_pixel: f64,
    /// Upper bound of log Z, the best so far.
    pub log_z_upper: f64,
    /// Lower bound of the smallest energy, the best so far.
    pub map_lower_bound: f64,
}

impl Progress {
    /// What an earlier iterate proved stays proved.
    fn with_bounds_of(self, earlier: Option<&Progress>) -> Self {
        let Some(earlier) = earlier else { return self };
        Self {
            log_z_upper: self.log_z_upper.min(earlier.log_z_upper),
            map_lower_bound: self.map_lower_bound.max(earlier.map_lower_bound),
            ..self
        }
    }
}

/// Why the iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The gap is proved to be within the tolerance.
    Converged,
    /// The solver is done, or its own estimate of the gap is within the tolerance, but rounding keeps the proof above it.
    Rounding,
    /// `max_iterations` came first.
    IterationLimit,
    /// `time_limit` came first.
    TimeLimit,
    /// The observer said stop.
    Interrupted,
}

impl Status {
    /// Converged is what the certificate proves to be so, and nothing else.
    fn judged(self, certificate: &Certificate, options: &Options) -> Self {
        let within = certificate.gap_per_pixel <= options.tolerance;
        match self {
            Status::Interrupted => self,
            _ if within => Status::Converged,
            Status::Converged => Status::Rounding,
            _ => self,
        }
    }
}

/// A feasible point, what it proves, and how it was reached.
#[derive(Clone, Debug)]
pub struct Solution {
    /// −x over the free variables, x the log-odds: the best found for −s*.
    pub s: Vec<f64>,
    /// The feasible s ∈ B(F), up to rounding, that proves how good x is.
    pub base: Vec<f64>,
    /// The mask over the free variables.
    pub set: Vec<bool>,
    /// What is proved.
    pub certificate: Certificate,
    /// Why the iteration ended.
    pub status: Status,
    /// Steps taken.
    pub iterations: usize,
    /// Minimum cuts computed on the way, by a solver that works by them.
    pub map_calls: Option<usize>,
    /// Where a later solve of a similar model may start.
    pub messages: Option<Messages>,
    /// Seconds spent.
    pub seconds: f64,
    /// Every checked iterate.
    pub trace: Vec<Progress>,
}

/// Hears of every step, and may stop the iteration.
pub type Observer<'a> = &'a mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send);

/// The same, and sees s at every look at the certificate; `None` at the steps between.
pub type Spectator<'a> = &'a mut (dyn FnMut(&Progress, Option<&[f64]>) -> ControlFlow<()> + Send);

/// Runs a solver until its certificate is good enough, the budget is spent, or `observe` breaks.
pub fn solve(model: &Model, options: &Options, observe: Observer<'_>) -> Result<Solution> {
    solve_until(model, options, None, &mut |progress, _| observe(progress), &|| Ok(()))
}

/// The same from the messages of an earlier solution, for a model with the same layers and another unary or other weights. Solvers
/// other than `accelerated` start from nothing. Fails on messages of a model with other layers or another number of variables.
pub fn solve_from(model: &Model, options: &Options, start: &Messages, observe: Observer<'_>) -> Result<Solution> {
    solve_until(model, options, Some(start), &mut |progress, _| observe(progress), &|| Ok(()))
}

/// [`solve`] or [`solve_from`], as long as the checkpoint does not fail. An observer that breaks gets a solution with a certificate, which
/// takes a while; a checkpoint that fails gets its error at once.
pub fn solve_until(
    model: &Model,
    options: &Options,
    start: Option<&Messages>,
    observe: Spectator<'_>,
    checkpoint: Checkpoint<'_>,
) -> Result<Solution> {
    if start.is_some_and(|start| !start.fit(model)) {
        return Err(Error::Parameter {
            name: "the messages to start from".into(),
            value: "those of another model".into(),
            expected: "one number per variable and layer".into(),
        });
    }
    options.check()?;
    // On a thread of the pool, a layer's work is shared out without waking and awaiting another thread first: a tenth of the time.
    rayon::scope(|_| iterate(model, options, start, observe, checkpoint))
}

fn iterate(
    model: &Model,
    options: &Options,
    start: Option<&Messages>,
    observe: Spectator<'_>,
    checkpoint: Checkpoint<'_>,
) -> Result<Solution> {
    let clock = Instant::now();
    let mut solver = options.solver.start(model, options.factors, start, checkpoint)?;
    let mut trace: Vec<Progress> = Vec::new();
    let mut primal = primal::Primal::default();
    let mut iteration = 0;
    let status = loop {
        let seconds = clock.elapsed().as_secs_f64();
        let progress = certificate::progress(model, &solver.point(), &mut primal, iteration, seconds);
        let progress = progress.with_bounds_of(trace.last());
        let next = iteration + patience(trace.last(), &progress, options.tolerance, start.is_some());
        trace.push(progress);
        if observe(&progress, Some(solver.point().s)).is_break() {
            break Status::Interrupted;
        }
        if progress.gap_per_pixel <= options.tolerance || solver.finished() {
            break Status::Rounding;
        }
        if iteration >= options.max_iterations {
            break Status::IterationLimit;
        }
        if options.time_limit.is_some_and(|limit| clock.elapsed() >= limit) {
            break Status::TimeLimit;
        }
        // Between two looks the observer hears the last certificate, so that it can stop the iteration at any step.
        while iteration < next.min(options.max_iterations) {
            solver.step_until(checkpoint)?;
            iteration += 1;
            let elapsed = clock.elapsed();
            let step = Progress { iteration, seconds: elapsed.as_secs_f64(), ..progress };
            if options.time_limit.is_some_and(|limit| elapsed >= limit) || observe(&step, None).is_break() {
                break;
            }
        }
    };
    let map_calls = solver.map_calls();
    let point = solver.point();
    let (set, certificate) = Certificate::issue(model, &point, &mut primal, options.map, checkpoint)?;
    let base = point.s.to_vec();
    let s = primal.x.iter().map(|x| -x).collect();
    let messages = Some(solver.messages());
    let status = status.judged(&certificate, options);
    let seconds = clock.elapsed().as_secs_f64();
    Ok(Solution { s, base, set, certificate, status, iterations: iteration, map_calls, messages, seconds, trace })
}

/// Steps to take before the next look at the certificate, which costs half a step or more: as many as it takes to the tolerance
/// if the gap goes on falling as it did between the last two looks, but no more than those already taken. A warm start may be there soon.
fn patience(earlier: Option<&Progress>, now: &Progress, tolerance: f64, is_warm: bool) -> usize {
    let most = now.iteration.clamp(if is_warm { 1 } else { 5 }, 20);
    let Some(earlier) = earlier else { return most };
    let fall_per_step = (earlier.gap_per_pixel / now.gap_per_pixel).ln() / (now.iteration - earlier.iteration) as f64;
    let needed = (now.gap_per_pixel / tolerance).ln() / fall_per_step;
    // No number when the gap is zero or has not fallen.
    match needed > 0.0 {
        true => (needed.ceil() as usize).clamp(1, most),
        false if is_warm => most.min(3),
        false => most,
    }
}

#[cfg(test)]
mod tests;
