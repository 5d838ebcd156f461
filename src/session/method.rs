//! The rivals in the solvers' place: what they believe, and that they prove nothing.
//!
//! A rival's s lies in no base polytope, so nothing follows from it: every bound of its certificate is the trivial one, ±∞, which the
//! report writes as null. The exception is mean field's own value, a true lower bound of log Z.

use super::{Bias, Method, Options};
use crate::assemble::Problem;
use crate::model::Model;
use crate::rival::{self, Beliefs};
use crate::solver::{Certificate, MapChoice, Solution};
use crate::{Checkpoint, Result};

/// What only a rival has to say.
#[derive(Clone, Copy, Debug)]
pub struct Rival {
    /// The largest change of a marginal in the last iteration.
    pub residual: f64,
    /// Its value for log Z.
    pub log_z: f64,
    /// Whether that value is a lower bound, or only an estimate.
    pub is_lower_bound: bool,
}

/// The beliefs of the rival that `options` name, as a solution without proof, and the bias they were formed under; `None` when they name none.
pub(super) fn solve(
    problem: &Problem,
    temperature: f64,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<Option<(Solution, Rival, f64)>> {
    let run = match options.method {
        Method::Lfield | Method::Unary => return Ok(None),
        Method::MeanField => rival::mean_field,
        Method::Bp => rival::belief_propagation,
        Method::Fbp => rival::fractional_belief_propagation,
    };
    let biased;
    let (model, bias) = match options.bias {
        Bias::Fixed(bias) if bias != 0.0 => {
            biased = problem.with_bias(bias / temperature);
            (&biased, bias)
        }
        _ => (&problem.model, 0.0),
    };
    let beliefs = run(model, &options.rival, checkpoint)?;
    let is_lower_bound = options.method == Method::MeanField;
    // A bound is claimed with its rounding; an estimate claims nothing.
    let log_z = if is_lower_bound { beliefs.log_z - model.rounding_of_sums() } else { beliefs.log_z };
    let rival = Rival { residual: beliefs.residual, log_z, is_lower_bound };
    Ok(Some((solution(model, beliefs, rival, options.solver.map), rival, bias)))
}

fn solution(model: &Model, beliefs: Beliefs, rival: Rival, choice: MapChoice) -> Solution {
    let set: Vec<bool> = beliefs.s.iter().map(|&s| choice.contains(s)).collect();
    let certificate = Certificate {
        gap: f64::INFINITY,
        gap_per_pixel: f64::INFINITY,
        error_bound: f64::INFINITY,
        bounds: vec![f64::INFINITY; set.len()],
        log_z_upper: f64::INFINITY,
        log_z_lower: if rival.is_lower_bound { rival.log_z } else { f64::NEG_INFINITY },
        renyi_infinity_upper: f64::INFINITY,
        map_energy: model.energy(&set),
        map_lower_bound: f64::NEG_INFINITY,
        map_gap: f64::INFINITY,
        map_proved_optimal: false,
        repaired_pixels: 0,
        certified: vec![false; set.len()],
    };
    Solution {
        base: Vec::new(),
        s: beliefs.s,
        set,
        certificate,
        status: beliefs.status,
        iterations: beliefs.iterations,
        map_calls: None,
        messages: None,
        seconds: beliefs.seconds,
        trace: Vec::new(),
    }
}
