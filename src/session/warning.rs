//! What the user should know about an answer. Sentences name things; the program adds the option that helps.

use std::fmt;

use super::{Method, Options, Origin, Scale, Solved};
use crate::assemble::DECIDED;
use crate::grid::Shape;
use crate::solver::Status;

/// One thing the user should know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// What a reader of files remarked, as a whole sentence.
    Input(String),
    /// The solver stopped before the tolerance.
    NotConverged {
        /// The gap per free pixel it came to.
        gap_per_pixel: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// Rounding keeps the proof above the tolerance.
    Rounding {
        /// The gap per free pixel that can be proved.
        gap_per_pixel: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// A smaller level of detail stopped before the tolerance: what it decided is further from its optimum than asked for.
    EarlierLevel {
        /// Its size.
        shape: Shape,
        /// The gap per free pixel it came to.
        gap_per_pixel: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// A rival has no rule for superpixels.
    SuperpixelsLeftOut {
        /// The rival.
        method: Method,
        /// The weight that does not count.
        gamma: f64,
    },
    /// A rival stopped before its tolerance.
    StillMoving {
        /// The rival.
        method: Method,
        /// Its iterations.
        iterations: usize,
        /// How far a marginal moved in the last of them.
        residual: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// Nothing is foreground.
    EmptyMask,
    /// Everything is foreground.
    FullMask,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(sentence) => f.write_str(sentence),
            Self::NotConverged { gap_per_pixel, tolerance } => write!(
                f,
                "the solver stopped at a gap of {gap_per_pixel:.1e} per pixel, above the tolerance of {tolerance:.1e}"
            ),
            Self::Rounding { gap_per_pixel, tolerance } => write!(
                f,
                "rounding keeps the gap at {gap_per_pixel:.1e} per pixel, above the tolerance of {tolerance:.1e}: costs or weights are \
                 too large, or too different in size, to prove more; bring them nearer to each other (costs beyond {DECIDED:e} that stand \
                 apart from all others are decided beforehand)"
            ),
            Self::EarlierLevel { shape, gap_per_pixel, tolerance } => write!(
                f,
                "the smaller level of {shape} pixels stopped at a gap of {gap_per_pixel:.1e} per pixel, above the tolerance of \
                 {tolerance:.1e}, and has decided pixels of the photo by it"
            ),
            Self::SuperpixelsLeftOut { method, gamma } => {
                write!(f, "{} knows the cut only: the superpixels (γ = {gamma}) were left out", method.name())
            }
            Self::StillMoving { method, iterations, residual, tolerance } => write!(
                f,
                "{} stopped after {iterations} iterations with a marginal still moving by {residual:.1e}, above the \
                 tolerance of {tolerance:.1e}",
                method.name()
            ),
            Self::EmptyMask => f.write_str("the mask is empty: mark more of the object, or lower the weights β and γ"),
            Self::FullMask => f.write_str(
                "the mask covers the whole photo: mark more of the background, or lower the weights β and γ",
            ),
        }
    }
}

pub(super) fn warnings(origin: Option<&Origin>, solved: &Solved, scales: &[Scale], options: &Options) -> Vec<Warning> {
    let mut warnings: Vec<Warning> =
        origin.into_iter().flat_map(|origin| origin.warnings.iter().cloned().map(Warning::Input)).collect();
    let (method, solution) = (options.method, &solved.solution);
    if method.is_cut_only() && options.model.gamma > 0.0 {
        warnings.push(Warning::SuperpixelsLeftOut { method, gamma: options.model.gamma });
    }
    let (_, earlier) = scales.split_last().expect("an answer has at least its own size");
    for scale in earlier.iter().filter(|scale| scale.status != Status::Converged) {
        let (shape, gap_per_pixel, tolerance) = (scale.shape, scale.gap_per_pixel, options.solver.tolerance);
        warnings.push(Warning::EarlierLevel { shape, gap_per_pixel, tolerance });
    }
    if solution.status != Status::Converged {
        warnings.push(match solved.rival {
            Some(rival) => Warning::StillMoving {
                method,
                iterations: solution.iterations,
                residual: rival.residual,
                tolerance: options.rival.tolerance,
            },
            None => {
                let (gap_per_pixel, tolerance) = (solution.certificate.gap_per_pixel, options.solver.tolerance);
                match solution.status {
                    Status::Rounding => Warning::Rounding { gap_per_pixel, tolerance },
                    _ => Warning::NotConverged { gap_per_pixel, tolerance },
                }
            }
        });
    }
    match solved.mask.area() {
        0 => warnings.push(Warning::EmptyMask),
        area if area == solved.s.len() => warnings.push(Warning::FullMask),
        _ => {}
    }
    warnings
}
