//! What a solve has found: typed, complete, and independent of the session it came from.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize, Serializer};

use super::level::Level;
use super::method::Rival;
use super::temperature::Fit;
use super::{Options, Origin, Scale, Suggestion, Warning, suggest};
use crate::Result;
use crate::assemble::{self, Problem, STROKE};
use crate::grid::{Marginals, Mask, Partition, Picture, Seeds};
use crate::solver::{Certificate, Solution, Status};
use crate::unary::{Mixtures, prior};

/// The answer to a photo and its strokes.
///
/// ```
/// # use lfield::{Output, Picture, Seed, Seeds, Session, Shape};
/// # use std::ops::ControlFlow;
/// # fn main() -> lfield::Result<()> {
/// let shape = Shape::new(4, 1);
/// let picture = Picture::from_rgb(shape, vec![[200, 40, 30], [190, 50, 40], [40, 60, 200], [30, 40, 210]])?;
/// let mut session = Session::new(picture, lfield::Options::default())?;
/// let seeds = vec![Seed::Foreground, Seed::Unlabelled, Seed::Unlabelled, Seed::Background];
/// session.set_seeds(Seeds::new(shape, seeds))?;
/// let answer = session.solve(&mut |_| ControlFlow::Continue(()))?;
/// assert!(answer.mask().as_slice()[0] && !answer.mask().as_slice()[3]);
/// assert!(answer.marginals().as_slice().iter().zip(answer.log_odds()).all(|(p, x)| (*p > 0.5) == (x > 0.0)));
/// assert!(answer.certificate().log_z_lower <= answer.certificate().log_z_upper);
/// assert!(answer.encode(Output::Mask)?.starts_with(b"\x89PNG"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) picture: Arc<Picture>,
    pub(crate) seeds: Option<Arc<Seeds>>,
    pub(crate) origin: Option<Arc<Origin>>,
    pub(crate) options: Options,
    pub(crate) mixtures: Option<Mixtures>,
    /// κ in force, when there are strokes to measure from.
    pub(crate) geodesic: f64,
    /// How far a network's probabilities were trusted.
    pub(crate) prior: Option<prior::Fit>,
    /// The reach in force, a share of the diagonal.
    pub(crate) reach: Option<f64>,
    pub(crate) partitions: Arc<Vec<Partition>>,
    pub(crate) has_given_partitions: bool,
    /// The weights in force.
    pub(crate) model: assemble::Options,
    pub(crate) fit: Option<Fit>,
    pub(crate) solved: Arc<Solved>,
    /// The levels of detail, the last one the photo itself.
    pub(crate) scales: Vec<Scale>,
    pub(crate) warnings: Vec<Warning>,
    /// Seconds per stage.
    pub(crate) timing: Timing,
    /// When reading began.
    pub(crate) started: Instant,
}

/// The solution on the whole grid.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    /// −x, x the log-odds.
    pub(crate) s: Vec<f64>,
    /// The feasible s that proves; a rival has none.
    pub(crate) base: Option<Vec<f64>>,
    pub(crate) mask: Mask,
    pub(crate) marginals: Marginals,
    /// For every pixel, whether its side of one half is proved; strokes are beyond doubt.
    pub(crate) certified: Vec<bool>,
    /// For every pixel, how far its log-odds can be from the exact ones; a rival has none.
    pub(crate) bounds: Option<Vec<f64>>,
    /// The solution on the free pixels.
    pub(crate) solution: Solution,
    /// What a rival adds, if one took the solver's place.
    pub(crate) rival: Option<Rival>,
    /// The bias in force.
    pub(crate) bias: f64,
    /// The bias that fits the photo, where costs are learned from strokes.
    pub(crate) fitting: Option<f64>,
    /// Pixels taken out of the optimal mask because no object stroke reaches them.
    pub(crate) n_dropped: usize,
    /// The masks of all sizes, where they were asked for.
    pub(crate) path: Vec<Level>,
    pub(crate) theta: f64,
    pub(crate) n_free: usize,
    pub(crate) n_decided: usize,
    pub(crate) n_layers: usize,
}

impl Solved {
    pub(super) fn new(
        problem: &Problem,
        solution: Solution,
        rival: Option<Rival>,
        bias: f64,
        path: Vec<Level>,
    ) -> Result<Self> {
        let s = problem.expand(&solution.s);
        let base = rival.is_none().then(|| problem.expand(&solution.base));
        let mask = problem.expand_set(&solution.set);
        let marginals = Marginals::beside(&mask, &s)?;
        let mut certified = vec![true; s.len()];
        for (&pixel, &proved) in problem.free().iter().zip(&solution.certificate.certified) {
            certified[pixel as usize] = proved;
        }
        let bounds = rival.is_none().then(|| {
            // A pixel that a coarser level decided carries the log-odds of its block, of which nothing is proved.
            let mut bounds: Vec<f64> = s.iter().map(|s| if s.abs() >= STROKE { 0.0 } else { f64::INFINITY }).collect();
            for (&pixel, &bound) in problem.free().iter().zip(&solution.certificate.bounds) {
                bounds[pixel as usize] = bound;
            }
            bounds
        });
        let (theta, n_free, n_decided) = (problem.theta, problem.free().len(), problem.n_decided());
        let n_layers = problem.model.layers().len();
        Ok(Self {
            s,
            base,
            mask,
            marginals,
            certified,
            bounds,
            solution,
            rival,
            bias,
            fitting: None,
            n_dropped: 0,
            path,
            theta,
            n_free,
            n_decided,
            n_layers,
        })
    }

    /// Takes pixels out of the mask: their log-odds change sign, and nothing is proved of them any more.
    pub(super) fn drop_unreached(&mut self, unreached: &[bool]) -> Result<()> {
        self.n_dropped = unreached.iter().filter(|&&far| far).count();
        if self.n_dropped == 0 {
            return Ok(());
        }
        let inside = self.mask.as_slice().iter().zip(unreached).map(|(&inside, &far)| inside && !far).collect();
        self.mask = Mask::new(self.mask.shape(), inside);
        for ((s, certified), &far) in self.s.iter_mut().zip(&mut self.certified).zip(unreached) {
            if far {
                // A tie is no more on the object's side.
                *s = s.abs().max(1e-9);
                *certified = false;
            }
        }
        let bounds = self.bounds.iter_mut().flatten().zip(unreached);
        bounds.filter(|(_, far)| **far).for_each(|(bound, _)| *bound = f64::INFINITY);
        self.marginals = Marginals::beside(&self.mask, &self.s)?;
        Ok(())
    }
}

impl Answer {
    /// The most probable set, without what no object stroke reaches.
    pub fn mask(&self) -> &Mask {
        &self.solved.mask
    }

    /// The probability of foreground of every pixel.
    pub fn marginals(&self) -> &Marginals {
        &self.solved.marginals
    }

    /// x for every pixel, row by row: the log-odds of foreground, p = 1/(1+e⁻ˣ). Strokes that are facts have ±1e9.
    pub fn log_odds(&self) -> Vec<f64> {
        self.solved.s.iter().map(|s| -s).collect()
    }

    /// The bias λ in force: mask, marginals and certificate are those of F + λ|A|.
    pub fn bias(&self) -> f64 {
        self.solved.bias
    }

    /// The bias that fits the photo, which `Bias::Auto` takes; none where costs are not learned from strokes, or by a rival.
    pub fn fitting_bias(&self) -> Option<f64> {
        self.solved.fitting
    }

    /// The masks of all sizes, the smallest first, where `Output::Path` was among the outputs asked for.
    pub fn path(&self) -> &[Level] {
        &self.solved.path
    }

    /// The feasible s ∈ B(F) that proves how good x is, for every pixel, row by row: the duality gap of the certificate is
    /// f(x) + ½‖x‖² + ½‖s‖² over the free pixels. Strokes that are facts have ∓1e9. `None` for a rival, which proves nothing.
    pub fn base(&self) -> Option<&[f64]> {
        self.solved.base.as_deref()
    }

    /// For every pixel, row by row, how far its log-odds can be from the exact ones: 0 where a stroke or a decisive cost fixes it, infinite where
    /// nothing is proved. `None` for a rival.
    pub fn bounds(&self) -> Option<&[f64]> {
        self.solved.bounds.as_deref()
    }

    /// Where the next stroke would help most; none where nothing is in doubt.
    pub fn suggestion(&self) -> Option<Suggestion> {
        suggest::suggestion(self.picture.shape(), &self.solved.s)
    }

    /// What is proved, on the pixels that no stroke decides and no earlier level of detail, and given what those decide. A rival's answer
    /// proves nothing: its bounds are infinite.
    pub fn certificate(&self) -> &Certificate {
        &self.solved.solution.certificate
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Why the solver stopped: at the first level of detail that did not converge, else at the last.
    pub fn status(&self) -> Status {
        let statuses = || self.scales.iter().map(|scale| scale.status);
        statuses().find(|&status| status != Status::Converged).unwrap_or(self.solved.solution.status)
    }

    /// The levels of detail, from the smallest to the photo itself. Only one where it was solved at once.
    pub fn scales(&self) -> &[Scale] {
        &self.scales
    }

    /// Sweeps of the solver, or iterations of a rival.
    pub fn iterations(&self) -> usize {
        self.solved.solution.iterations
    }

    /// The photo.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// The strokes, if there are any.
    pub fn seeds(&self) -> Option<&Seeds> {
        self.seeds.as_deref()
    }

    /// The superpixel layers, where any were needed.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The options it was solved with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The files it came from, if it came from files.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }
}

/// Seconds per stage. `write` ends when every file but the report is complete on disk.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Timing {
    /// Reading and decoding the inputs.
    #[serde(serialize_with = "microseconds")]
    pub load: f64,
    /// Colour mixtures and stroke distance.
    #[serde(serialize_with = "microseconds")]
    pub unary: f64,
    /// Mean shift (beside `unary`, not after it).
    #[serde(serialize_with = "microseconds")]
    pub superpixels: f64,
    /// Choosing the temperature, where that was asked for.
    #[serde(default, serialize_with = "microseconds", skip_serializing_if = "is_zero")]
    pub temperature: f64,
    /// Building the model.
    #[serde(serialize_with = "microseconds")]
    pub assemble: f64,
    /// The solve and its certificate.
    #[serde(serialize_with = "microseconds")]
    pub solve: f64,
    /// Encoding and writing.
    #[serde(serialize_with = "microseconds")]
    pub write: f64,
    /// From start to end.
    #[serde(serialize_with = "microseconds")]
    pub total: f64,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// More digits than microseconds would only be noise.
fn microseconds<S: Serializer>(seconds: &f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_f64((seconds * 1e6).round() / 1e6)
}
