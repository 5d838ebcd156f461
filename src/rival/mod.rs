//! The paper's rivals on the same [`Model`](crate::model::Model): mean field, belief propagation and its fractional form.
//!
//! They estimate the marginals of P(A) ∝ exp(−F(A)) and log Z like the solvers do, without their certificates: mean field climbs to
//! a local optimum of a lower bound, belief propagation to a stationary point of an estimate that may lie on either side. All
//! answer with [`Beliefs`], on the free variables and with log-odds of the solvers' sign.

mod belief_propagation;
mod mean_field;

pub use belief_propagation::{belief_propagation, fractional_belief_propagation};
pub use mean_field::mean_field;

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::kernel::logistic::probability;
use crate::solver::Status;
use crate::{Error, Result};

/// When to stop, and the parameters of belief propagation.
#[derive(Clone, Debug)]
pub struct Options {
    /// ρ, the weight of an edge in the fractional form; above 0. 1 is plain belief propagation.
    pub weight: f64,
    /// The share of the old message in the new one, in 0..1; belief propagation only.
    pub damping: f64,
    /// The order in which messages are renewed; belief propagation only.
    pub schedule: Schedule,
    /// Stop when no marginal has moved further than this in an iteration.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
    /// Stop after this long.
    pub time_limit: Option<Duration>,
}

/// The order in which belief propagation renews its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Schedule {
    /// Rows forth and back, then columns: news crosses the picture in one iteration.
    Lines,
    /// All at once from those of the iteration before, as in textbooks: news travels one pixel per iteration.
    Parallel,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            weight: 0.5,
            damping: 0.0,
            schedule: Schedule::Lines,
            tolerance: 1e-5,
            max_iterations: 30,
            time_limit: None,
        }
    }
}

impl Options {
    /// Refuses parameters with which no message is defined.
    pub fn check(&self) -> Result<()> {
        let weight_is_good = self.weight.is_finite() && self.weight > 0.0;
        for (name, value, expected, good) in [
            ("the weight of an edge", self.weight, "finite and above 0", weight_is_good),
            ("damping", self.damping, "at least 0 and below 1", (0.0..1.0).contains(&self.damping)),
            ("tolerance", self.tolerance, "at least 0", self.tolerance >= 0.0),
        ] {
            if !good {
                return Err(Error::parameter(name, value, expected));
            }
        }
        Ok(())
    }
}

/// What a rival believes.
#[derive(Clone, Debug)]
pub struct Beliefs {
    /// s over the free variables: the marginal is 1/(1+eˢ).
    pub s: Vec<f64>,
    /// The value for log Z: a lower bound by mean field, an estimate by belief propagation.
    pub log_z: f64,
    /// Iterations done.
    pub iterations: usize,
    /// The largest change of a marginal in the last iteration; infinite before the first.
    pub residual: f64,
    /// Why the iteration ended.
    pub status: Status,
    /// Seconds spent.
    pub seconds: f64,
}

impl Beliefs {
    /// 1/(1+eˢ) for every free variable.
    pub fn marginals(&self) -> Vec<f64> {
        self.s.iter().map(|s| probability(-s)).collect()
    }

    /// Whether the residual has come down to the tolerance.
    pub fn converged(&self) -> bool {
        self.status == Status::Converged
    }
}

/// How an iteration went.
struct Run {
    iterations: usize,
    residual: f64,
    status: Status,
}

/// Repeats `step`, which returns its residual, until the options say stop or the checkpoint fails.
fn iterate(options: &Options, clock: Instant, mut step: impl FnMut() -> Result<f64>) -> Result<Run> {
    let mut run = Run { iterations: 0, residual: f64::INFINITY, status: Status::IterationLimit };
    while run.iterations < options.max_iterations {
        run.residual = step()?;
        run.iterations += 1;
        if run.residual <= options.tolerance {
            run.status = Status::Converged;
            break;
        }
        if options.time_limit.is_some_and(|limit| clock.elapsed() >= limit) {
            run.status = Status::TimeLimit;
            break;
        }
    }
    Ok(run)
}

#[cfg(test)]
mod tests;
