//! What the strokes say about every pixel taken alone: the modular cost m, in nats, negative where foreground is likelier.
//!
//! m = −[ L + χ·C(L) + χ·C(L + χ·C(L)) ] / (1 + 2χ),   L = log p_fg(rgb) − log p_bg(rgb) + κ·log(d_bg/d_fg)
//!
//! p_fg and p_bg are colour mixtures fitted to the stroke pixels (`gmm` fits, `mixture` evaluates), both with a small uniform
//! share for colours no stroke has shown. d_fg and d_bg are the geodesic distances to the nearest stroke of each class
//! (`geodesic`), and κ says how much where a pixel lies counts against what colour it has; left to itself it is read off the strokes
//! (`separation`). C(L) are the log-odds that L gives the neighbourhood, as far as it has the pixel's colour (`context`); the
//! neighbourhood is asked again when it has heard its own neighbours. Since C comes from the same evidence as L, their mean
//! counts and not their sum, which would be too sure of itself. What the object strokes do not reach is discounted (`reach`). Whether a stroke pixel may still change sides is decided
//! later, when the model is assembled.

mod context;
mod geodesic;
mod gmm;
mod mixture;
pub mod prior;
mod reach;
mod separation;

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::Serialize;

pub use mixture::Mixture;
pub use reach::unreached;

use crate::grid::{Picture, Seed, Seeds, Unary};
use crate::{Checkpoint, Error, Result};

/// What messages call the strokes.
const STROKES: &str = "the stroke image";

/// How strokes become log-odds.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Gaussians per class, at most; fewer when the stroke has fewer colours.
    pub components: usize,
    /// ε, the share of a uniform colour density mixed into both classes, in 0..1. It bounds the log-odds; 0 turns it off.
    pub outlier: f64,
    /// κ, the weight of the stroke-distance term.
    pub geodesic: Geodesic,
    /// χ, the weight of what the neighbourhood says, each time it is asked, against what the pixel says itself; 0 turns it off.
    pub context: f64,
    /// How far object strokes reach, a share of the diagonal; nothing is made of it when there is none.
    pub reach: Option<f64>,
    /// Decides which stroke pixels are sampled.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { components: 5, outlier: 1e-3, geodesic: Geodesic::Auto, context: 1.0, reach: None, seed: 0 }
    }
}

/// κ, the weight of the stroke-distance term against the colour log-odds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Geodesic {
    /// This weight; 0 turns the term off.
    Fixed(f64),
    /// Read off the strokes: small where their colours separate the classes, large where they do not.
    Auto,
}

impl FromStr for Geodesic {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let weight = text.parse().map_err(|_| bad_geodesic(text))?;
        Self::Fixed(weight).check()
    }
}

impl fmt::Display for Geodesic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(weight) => weight.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl Geodesic {
    fn check(self) -> Result<Self> {
        match self {
            Self::Fixed(weight) if !(weight >= 0.0 && weight.is_finite()) => Err(bad_geodesic(weight)),
            good => Ok(good),
        }
    }
}

fn bad_geodesic(value: impl fmt::Display) -> Error {
    Error::Parameter {
        name: "geodesic".into(),
        value: value.to_string(),
        expected: "a finite number of at least 0, or auto".into(),
    }
}

/// Pixels weighed between two checkpoints.
const CHUNK: usize = 1024;

/// What the strokes say, and how it was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// m for every pixel.
    pub unary: Unary,
    /// The colour models behind it.
    pub mixtures: Mixtures,
    /// The κ in force.
    pub geodesic: f64,
}

/// The colour model of each class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixtures {
    /// Fitted to the foreground strokes.
    pub foreground: Mixture,
    /// Fitted to the background strokes.
    pub background: Mixture,
}

/// Learns from the strokes and weighs every pixel of the picture.
pub fn log_odds(picture: &Picture, seeds: &Seeds, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Evidence> {
    log_odds_by(picture, seeds, seeds, options, checkpoint)
}

/// The same with colours learned from other pixels, the `examples`, than distances are measured from.
pub fn log_odds_by(
    picture: &Picture,
    seeds: &Seeds,
    examples: &Seeds,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<Evidence> {
    let Options { components, outlier, geodesic, context, reach, seed } = *options;
    check_inputs(picture, seeds)?;
    if components == 0 {
        return Err(Error::Parameter { name: "components".into(), value: "0".into(), expected: "at least 1".into() });
    }
    if !(0.0..1.0).contains(&outlier) {
        return Err(Error::Parameter {
            name: "outlier".into(),
            value: outlier.to_string(),
            expected: "at least 0 and below 1".into(),
        });
    }
    if !(context >= 0.0 && context.is_finite()) {
        return Err(Error::Parameter {
            name: "context".into(),
            value: context.to_string(),
            expected: "a finite number of at least 0".into(),
        });
    }
    let geodesic = match geodesic.check()? {
        Geodesic::Fixed(weight) => weight,
        Geodesic::Auto => separation::geodesic_weight(picture, seeds, options, checkpoint)?,
    };
    let mixtures = Mixtures::fit(picture, examples, components, seed, checkpoint)?;
    let mut values = mixtures.log_odds(picture, outlier, checkpoint)?;
    if geodesic > 0.0 {
        let nearer = geodesic::log_ratio(picture, seeds, checkpoint)?;
        values.par_iter_mut().zip(nearer).for_each(|(value, nearer)| *value += geodesic * nearer);
    }
    if context > 0.0 {
        let guide = context::Guide::new(picture, checkpoint)?;
        for _ in 0..context::ROUNDS {
            let around = guide.log_odds(&values, checkpoint)?;
            values.par_iter_mut().zip(around).for_each(|(value, around)| *value += context * around);
        }
        let opinions = 1.0 + context::ROUNDS as f64 * context;
        values.par_iter_mut().for_each(|value| *value /= opinions);
    }
    if let Some(reach) = reach {
        reach::discount(&mut values, seeds, reach, checkpoint)?;
    }
    values.par_iter_mut().for_each(|value| *value = -*value);
    Ok(Evidence { unary: Unary::new(picture.shape(), values)?, mixtures, geodesic })
}

/// log(d_bg/d_fg) for every pixel, row by row: the stroke-distance log-odds alone, to be added to evidence of another
/// kind. Positive where a foreground stroke is nearer.
pub fn stroke_distance(picture: &Picture, seeds: &Seeds, checkpoint: Checkpoint<'_>) -> Result<Vec<f64>> {
    check_inputs(picture, seeds)?;
    geodesic::log_ratio(picture, seeds, checkpoint)
}

/// How values follow colour around every pixel: a and b with value ≈ ⟨a, rgb⟩ + b, rgb in 0..1, by the guided filter's least squares over
/// squares of (2r+1)² pixels. `[a_r, a_g, a_b, b]` for every pixel, row by row.
pub(crate) fn colour_planes(
    picture: &Picture,
    values: &[f32],
    radius: usize,
    checkpoint: Checkpoint<'_>,
) -> Result<Vec<[f32; 4]>> {
    context::Guide::with_radius(picture, radius, checkpoint)?.planes(values, checkpoint)
}

fn check_inputs(picture: &Picture, seeds: &Seeds) -> Result<()> {
    if seeds.shape() != picture.shape() {
        return Err(Error::SizeMismatch {
            what: "the stroke file".into(),
            found: seeds.shape(),
            photo: picture.shape(),
        });
    }
    for (seed, class) in [(Seed::Foreground, "foreground"), (Seed::Background, "background")] {
        if seeds.count(seed) == 0 {
            return Err(Error::MissingStroke { what: STROKES.into(), class });
        }
    }
    Ok(())
}

impl Mixtures {
    fn fit(picture: &Picture, seeds: &Seeds, components: usize, seed: u64, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let fit = |class: Seed, name: &'static str| {
            let sample = gmm::thin(stroke(picture, seeds, class).collect(), gmm::SAMPLES, seed);
            let colours: Vec<[u8; 3]> = sample.into_iter().map(|(_, colour)| colour).collect();
            let mixture = gmm::fit(&colours, components, checkpoint)?;
            mixture.ok_or_else(|| Error::MissingStroke { what: STROKES.into(), class: name })
        };
        let (foreground, background) =
            rayon::join(|| fit(Seed::Foreground, "foreground"), || fit(Seed::Background, "background"));
        Ok(Self { foreground: foreground?, background: background? })
    }

    /// log p_fg − log p_bg for every pixel, row by row.
    fn log_odds(&self, picture: &Picture, outlier: f64, checkpoint: Checkpoint<'_>) -> Result<Vec<f64>> {
        let mut values = vec![0.0; picture.rgb().len()];
        let chunks = values.par_chunks_mut(CHUNK).zip(picture.rgb().par_chunks(CHUNK));
        chunks.try_for_each(|(values, colours)| {
            checkpoint()?;
            let log_odds = |&colour| self.log_odds_of(colour, outlier);
            values.iter_mut().zip(colours.iter().map(log_odds)).for_each(|(value, log_odds)| *value = log_odds);
            Ok(())
        })?;
        Ok(values)
    }

    fn log_odds_of(&self, colour: [u8; 3], outlier: f64) -> f64 {
        let colour = gmm::unit(colour);
        self.foreground.log_density_with_outliers(colour, outlier)
            - self.background.log_density_with_outliers(colour, outlier)
    }
}

/// The pixels of one class and their colours, row by row.
fn stroke<'a>(picture: &'a Picture, seeds: &'a Seeds, class: Seed) -> impl Iterator<Item = (usize, [u8; 3])> + 'a {
    let labelled = seeds.labels().iter().zip(picture.rgb()).enumerate();
    labelled.filter(move |(_, (seed, _))| **seed == class).map(|(pixel, (_, &colour))| (pixel, colour))
}

#[cfg(test)]
mod tests;
