//! The size of the mask: a bias for every foreground pixel, and the masks of all biases.
//!
//! The solution for F + λ|·| is that of F moved by λ ([`Levels`]), so another bias solves nothing again. λ is given for the energy
//! before the temperature T divides it: the solver's F is that over T, and its bias λ/T.

use serde::Serialize;

use super::Bias;
use crate::assemble::{DECIDED, Problem};
use crate::solver::{Levels, Messages, Solution, certify};
use crate::{Checkpoint, Error, Result, solver};

/// One mask of the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// λ: the mask is the optimum of F + λ|A|.
    pub bias: f64,
    /// Pixels inside.
    pub area: usize,
    /// F of the mask, without the bias.
    pub energy: f64,
    /// Pairs of 4-neighbours of which one is inside.
    pub boundary: usize,
    /// No mask has F + λ|A| smaller by more than this.
    pub gap: f64,
}

/// A solved problem, and where it was solved from.
pub(super) struct Base<'a> {
    pub(super) problem: &'a Problem,
    pub(super) messages: &'a Messages,
    pub(super) options: &'a solver::Options,
    pub(super) temperature: f64,
    pub(super) checkpoint: Checkpoint<'a>,
}

impl Base<'_> {
    /// The solution moved by the bias, and λ.
    pub(super) fn biased(&self, solution: Solution, bias: Bias) -> Result<(Solution, f64)> {
        let bias = match bias {
            Bias::Fixed(0.0) | Bias::Auto => return Ok((solution, 0.0)),
            Bias::Fixed(bias) => bias,
            Bias::Area(share) => {
                let count = (share * self.problem.shape().n_pixels() as f64).round() as usize;
                let free = count.saturating_sub(self.problem.n_known_inside()).min(self.problem.free().len());
                self.temperature * self.levels(&solution).nearest(free, self.checkpoint)?
            }
        };
        let Self { problem, messages, options, checkpoint, .. } = *self;
        let model = problem.with_bias(self.moved(bias)?);
        Ok((certify(&model, solution, messages, options, checkpoint)?, bias))
    }

    /// The masks of all sizes, the smallest first.
    pub(super) fn path(&self, solution: &Solution) -> Result<Vec<Level>> {
        let levels = self.levels(solution);
        let mut path: Vec<Level> = Vec::new();
        for bias in levels.biases() {
            let level = levels.at(bias, self.checkpoint)?;
            let mask = self.problem.expand_set(&level.set);
            let area = mask.area();
            if path.last().is_none_or(|last| last.area != area) {
                let (bias, energy, gap) = (self.temperature * bias, level.energy, level.gap);
                path.push(Level { bias, area, energy, boundary: mask.boundary(), gap });
            }
        }
        Ok(path)
    }

    fn levels(&self, solution: &Solution) -> Levels<'_> {
        Levels::new(&self.problem.model, self.messages, solution.certificate.gap, self.options.map)
    }

    /// The bias as far as the temperature allows it.
    pub(super) fn bounded(&self, bias: f64) -> f64 {
        let most = DECIDED * self.temperature;
        bias.clamp(-most, most)
    }

    /// The bias of the energy over T. Pixels that their own cost decides are not moved by less than what decides them.
    fn moved(&self, bias: f64) -> Result<f64> {
        let moved = bias / self.temperature;
        if moved.abs() <= DECIDED {
            return Ok(moved);
        }
        Err(Error::parameter("bias", bias, format!("at most {DECIDED:e} times the temperature")))
    }
}
