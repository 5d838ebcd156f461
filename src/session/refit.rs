//! Colours learned again from the answer, and the object's colours from nothing but a box.
//!
//! A round learns from examples, solves on the cut alone, and takes as new examples the strokes and the pixels that this leaves in
//! little doubt, |x| above [`SURE`]. With a box and no object stroke, the first examples of the object are the middle of the box: there
//! the object is most likely to be (GrabCut's start, but for the margin).

use std::ops::ControlFlow;
use std::sync::Arc;

use super::mark::Frame;
use super::{Reach, Session};
use crate::grid::{Seed, Seeds};
use crate::unary::{self, Geodesic};
use crate::{Checkpoint, Error, Result};

/// Log-odds beyond which a pixel is an example: a probability of 0.95.
const SURE: f64 = 3.0;

/// Rounds in which the colours of a box's object are found.
const BOX_ROUNDS: usize = 4;

/// The part of the box's width and height that its middle has.
const MIDDLE: f64 = 0.6;

/// Gap per pixel good enough for examples.
const TOLERANCE: f64 = 1e-3;

impl Session {
    /// What the strokes teach, after the rounds of learning asked for.
    pub(super) fn learn(&self, seeds: &Seeds, checkpoint: Checkpoint<'_>) -> Result<unary::Evidence> {
        let options = &self.unary_options();
        let frame = self.options.marks.frame.filter(|_| seeds.count(Seed::Foreground) == 0);
        let Some(frame) = frame else {
            let mut learned = unary::log_odds(&self.picture, seeds, options, checkpoint)?;
            for _ in 0..self.options.refit {
                let examples = self.confident(seeds, &learned, None, checkpoint)?;
                learned = unary::log_odds_by(&self.picture, seeds, &examples, options, checkpoint)?;
            }
            return Ok(learned);
        };
        if seeds.count(Seed::Background) == 0 {
            let why = "a box that leaves background outside it, or one accompanied by strokes";
            return Err(Error::parameter("box", frame, why));
        }
        let mut examples = start(seeds, frame);
        let mut round = unary::Options { geodesic: Geodesic::Fixed(0.0), ..options.clone() };
        for _ in 0..BOX_ROUNDS.max(self.options.refit) {
            let learned = unary::log_odds(&self.picture, &examples, &round, checkpoint)?;
            examples = self.confident(seeds, &learned, Some(frame), checkpoint)?;
            round.geodesic = options.geodesic;
        }
        unary::log_odds(&self.picture, &examples, options, checkpoint)
    }

    /// The strokes, and the pixels that the answer to this evidence leaves in little doubt.
    fn confident(
        &self,
        seeds: &Seeds,
        learned: &unary::Evidence,
        frame: Option<Frame>,
        checkpoint: Checkpoint<'_>,
    ) -> Result<Seeds> {
        let mut options = self.options.clone();
        options.model.gamma = 0.0;
        options.model.temperature = 1.0;
        options.fit_temperature = false;
        options.method = super::Method::Lfield;
        options.reach = Reach::Off;
        options.bias = super::Bias::Fixed(0.0);
        options.marks = super::Marks::default();
        options.output.emit.clear();
        options.solver.tolerance = options.solver.tolerance.max(TOLERANCE);
        let mut session = Self::bare(Arc::clone(&self.picture), options);
        session.set_unary(learned.unary.clone())?;
        session.set_seeds(seeds.clone())?;
        let answer = session.into_answer(&mut |_| match checkpoint() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        })?;
        let s = &answer.solved.s;
        let width = self.picture.shape().width;
        let inside = |pixel: usize| frame.is_none_or(|frame| frame.contains(pixel, width));
        // Where nothing is sure to be the object, the surest of it is taken.
        let most = (0..s.len()).filter(|&pixel| inside(pixel)).map(|pixel| -s[pixel]).fold(f64::NEG_INFINITY, f64::max);
        let sure = SURE.min(0.5 * most.max(0.0)).max(if most > 0.0 { 0.0 } else { most - 1.0 });
        let label = |(pixel, &seed): (usize, &Seed)| match seed {
            Seed::Unlabelled if inside(pixel) && -s[pixel] >= sure => Seed::Foreground,
            Seed::Unlabelled if s[pixel] >= SURE => Seed::Background,
            seed => seed,
        };
        Ok(Seeds::new(seeds.shape(), seeds.labels().iter().enumerate().map(label).collect()))
    }
}

/// The strokes, and the middle of the box as the object's.
fn start(seeds: &Seeds, frame: Frame) -> Seeds {
    let shape = seeds.shape();
    let (right, bottom) = ((frame.x + frame.width).min(shape.width), (frame.y + frame.height).min(shape.height));
    let (width, height) = (right - frame.x, bottom - frame.y);
    let margin = |length: usize| ((0.5 * (1.0 - MIDDLE) * length as f64) as usize).min((length - 1) / 2);
    let (across, down) = (margin(width), margin(height));
    let middle = Frame { x: frame.x + across, y: frame.y + down, width: width - 2 * across, height: height - 2 * down };
    let label = |(pixel, &seed): (usize, &Seed)| match seed {
        Seed::Unlabelled if middle.contains(pixel, shape.width) => Seed::Foreground,
        seed => seed,
    };
    Seeds::new(shape, seeds.labels().iter().enumerate().map(label).collect())
}
