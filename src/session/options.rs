//! The options of every stage, and the way marginals are computed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::output::OutputOptions;
use super::{Detail, Marks, Output};
use crate::assemble::DECIDED;
use crate::read::Limits;
use crate::superpixel::Layer;
use crate::{Error, Result, assemble, rival, solver, unary};

/// The most superpixel layers of a model: each costs memory and time in every sweep.
pub const MAX_LAYERS: usize = 8;

/// The largest weight of a term.
const MOST_WEIGHT: f64 = 1e9;

/// Refuses more layers than anyone needs.
pub(super) fn check_layers(n_layers: usize) -> Result<()> {
    if n_layers <= MAX_LAYERS {
        return Ok(());
    }
    Err(Error::parameter("the number of superpixel layers", n_layers, format!("at most {MAX_LAYERS}")))
}

/// The options of every stage.
///
/// ```
/// use lfield::{Options, session::Method};
///
/// let mut options = Options { method: Method::Unary, ..Options::default() };
/// options.model.beta = 10.0;
/// options.solver.tolerance = 1e-4;
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// What reading may cost.
    pub limits: Limits,
    /// Strokes to log-odds. Where costs are given, only a fixed stroke-distance weight counts.
    pub unary: unary::Options,
    /// A network's probabilities to costs.
    pub prior: unary::prior::Options,
    /// The mean-shift layers.
    pub layers: Vec<Layer>,
    /// At how many sizes a large photo is solved.
    pub detail: Detail,
    /// How marginals are computed.
    pub method: Method,
    /// The weights of the terms.
    pub model: assemble::Options,
    /// What every foreground pixel costs on top of the model.
    pub bias: Bias,
    /// A box around the object, and clicks: strokes that need not be drawn.
    pub marks: Marks,
    /// Rounds in which colours are learned again from pixels that the answer leaves in little doubt.
    pub refit: usize,
    /// What becomes of parts of the mask that no object stroke reaches.
    pub reach: Reach,
    /// Whether the temperature is chosen on held-out strokes; `model.temperature` then does not count.
    pub fit_temperature: bool,
    /// When to stop, and how to get there.
    pub solver: solver::Options,
    /// The same for the rivals.
    pub rival: rival::Options,
    /// What is written.
    pub output: OutputOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            unary: unary::Options::default(),
            prior: unary::prior::Options::default(),
            layers: vec![Layer::FINE, Layer::COARSE],
            detail: Detail::Auto,
            method: Method::Lfield,
            model: assemble::Options::default(),
            bias: Bias::Auto,
            marks: Marks::default(),
            refit: 0,
            reach: Reach::Auto,
            fit_temperature: false,
            solver: solver::Options::default(),
            rival: rival::Options::default(),
            output: OutputOptions::default(),
        }
    }
}

impl Options {
    /// The printed model and nothing else: soft seeds, no outlier share, no stroke distance, no context, no reach, no bias, probabilities as
    /// given, superpixels of
    /// weight 1 and any size; and a θ of the paper's list; every pixel solved for.
    #[must_use]
    pub fn paper(mut self) -> Self {
        self.detail = Detail::Full;
        self.unary.outlier = 0.0;
        self.unary.geodesic = unary::Geodesic::Fixed(0.0);
        self.unary.context = 0.0;
        self.prior = unary::prior::Options::OFF;
        self.reach = Reach::Off;
        self.bias = Bias::Fixed(0.0);
        self.layers = Layer::PAPER.to_vec();
        self.model.seeds = assemble::SeedMode::Soft;
        self.model.hop_scale = assemble::HopScale::Paper;
        self.model.theta = assemble::Theta::Fixed(0.001);
        self
    }

    /// Refuses options outside the range in which the mathematics, or the machine, holds.
    pub fn check(&self) -> Result<()> {
        check_layers(self.layers.len())?;
        let (unary, model, output) = (&self.unary, &self.model, &self.output);
        // Beyond a billion, rounding would eat what the other terms say and still look certified.
        let weight = |value: f64| (0.0..=MOST_WEIGHT).contains(&value);
        for (name, value, expected, good) in [
            ("alpha", model.alpha, "a number of at least 0 and at most 1e9", weight(model.alpha)),
            ("beta", model.beta, "a number of at least 0 and at most 1e9", weight(model.beta)),
            ("gamma", model.gamma, "a number of at least 0 and at most 1e9", weight(model.gamma)),
            ("context", unary.context, "a number of at least 0 and at most 1e9", weight(unary.context)),
            ("outlier", unary.outlier, "a share of at least 0 and below 1", (0.0..1.0).contains(&unary.outlier)),
            ("refit", self.refit as f64, "at most 10", self.refit <= 10),
            ("components", unary.components as f64, "from 1 to 64", (1..=64).contains(&unary.components)),
            ("bias", self.bias.value(), "a number from -1e4 to 1e4", self.bias.value().abs() <= DECIDED),
            ("area", self.bias.share(), "a share of the photo from 0 to 1", (0.0..=1.0).contains(&self.bias.share())),
            (
                "trimap-band",
                output.trimap_band,
                "a probability above 0 and at most 0.5",
                output.trimap_band > 0.0 && output.trimap_band <= 0.5,
            ),
        ] {
            if !good {
                return Err(Error::parameter(name, value, expected));
            }
        }
        if matches!(self.bias, Bias::Area(_)) && !self.method.is_certified() {
            let expected = "left out, or the method lfield or unary: a rival has no level sets";
            return Err(Error::parameter("area", self.bias.share(), expected));
        }
        if let Reach::Share(share) = self.reach
            && !(0.0..=1.0).contains(&share)
        {
            return Err(Error::parameter("reach", share, "a share of the diagonal from 0 to 1, auto, or off"));
        }
        self.detail.check()?;
        self.prior.check()?;
        self.model.check()?;
        self.solver.check()?;
        self.rival.check()
    }

    /// The weights in force: without the couplings that the method does not look at.
    pub(super) fn model_in_force(&self) -> assemble::Options {
        let model = self.model.clone();
        match self.method {
            Method::Lfield | Method::MeanField => model,
            Method::Bp | Method::Fbp => assemble::Options { gamma: 0.0, ..model },
            Method::Unary => assemble::Options { beta: 0.0, gamma: 0.0, ..model },
        }
    }

    /// Whether smaller levels of detail decide pixels. The masks of all sizes need every pixel.
    pub(super) fn decides_below(&self) -> bool {
        self.detail != Detail::Full && !self.output.emit.contains(&Output::Path)
    }

    pub(super) fn needs_superpixels(&self) -> bool {
        self.model_in_force().gamma > 0.0 || self.output.emit.contains(&Output::Superpixels)
    }
}

/// λ in F(A) + λ|A|: above 0 makes the mask smaller, below 0 larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bias {
    /// The λ that fits the photo, where costs are learned from strokes and the method is [`Method::Lfield`]; 0 elsewhere.
    Auto,
    /// λ itself, in nats. The temperature divides it like the rest of the energy.
    Fixed(f64),
    /// The λ whose mask covers the share of the photo nearest to this.
    Area(f64),
}

impl Bias {
    /// λ, as far as it is known beforehand.
    fn value(self) -> f64 {
        match self {
            Self::Fixed(bias) => bias,
            Self::Auto | Self::Area(_) => 0.0,
        }
    }

    /// The share asked for, or none.
    fn share(self) -> f64 {
        match self {
            Self::Auto | Self::Fixed(_) => 0.0,
            Self::Area(share) => share,
        }
    }
}

impl FromStr for Bias {
    type Err = Error;

    /// A number or `auto`.
    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            Ok(bias) if f64::abs(bias) <= DECIDED => Ok(Self::Fixed(bias)),
            _ => Err(Error::parameter("bias", format!("{text:?}"), "a number from -1e4 to 1e4, or auto")),
        }
    }
}

/// How far background may separate a part of the mask from the nearest object stroke before the part is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reach {
    /// [`Reach::DEFAULT`] where costs are learned from the strokes and no area is asked for; off elsewhere.
    #[default]
    Auto,
    /// Nothing is dropped.
    Off,
    /// This share of the photo's diagonal, along a path through background pixels.
    Share(f64),
}

impl Reach {
    /// The share that is best for masks from strokes.
    pub const DEFAULT: f64 = 0.02;

    /// The share in force.
    pub(super) fn share(self, is_learned: bool, bias: Bias) -> Option<f64> {
        match self {
            Self::Auto => (is_learned && !matches!(bias, Bias::Area(_))).then_some(Self::DEFAULT),
            Self::Off => None,
            Self::Share(share) => Some(share),
        }
    }
}

impl FromStr for Reach {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            _ if text == "off" => Ok(Self::Off),
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Self::Share(share)),
            _ => {
                Err(Error::parameter("reach", format!("{text:?}"), "a share of the diagonal from 0 to 1, auto, or off"))
            }
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Share(share) => share.fmt(f),
        }
    }
}

/// How marginals are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Method {
    /// The whole model, certified
    Lfield,
    /// Each pixel alone
    Unary,
    /// Mean field on the whole model: a lower bound of log Z, nothing certified
    #[serde(alias = "mf")]
    #[cfg_attr(feature = "cli", value(alias = "mf"))]
    MeanField,
    /// Belief propagation on the cut, without superpixels
    Bp,
    /// Fractional belief propagation on the cut, without superpixels
    Fbp,
}

impl Method {
    /// The name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lfield => "lfield",
            Self::Unary => "unary",
            Self::MeanField => "mean-field",
            Self::Bp => "bp",
            Self::Fbp => "fbp",
        }
    }

    /// Whether its answer carries a certificate.
    pub fn is_certified(self) -> bool {
        matches!(self, Self::Lfield | Self::Unary)
    }

    /// Whether it passes messages over single edges and has no rule for superpixels.
    pub fn is_cut_only(self) -> bool {
        matches!(self, Self::Bp | Self::Fbp)
    }
}
