//! The seam: picture, unary, superpixels and strokes become one submodular [`Model`](crate::model::Model).
//!
//! F(A) = ( α m(A) + β Σ w_pq [p ∈ A ≠ q ∈ A] + γ Σ_P c_P φ(|A ∩ P| / |P|) ) / T
//!
//! over 4-neighbours pq and superpixels P of every layer, with c_P = |P| (so that γ means the same at every size) or 1 (the
//! printed form). The cut is laid out as two layers, all rows and all columns; each superpixel scale is one more.
//! Hard strokes are conditioned on exactly, by contraction ([`Problem`]), and so are pixels whose own cost is beyond [`DECIDED`].

mod contract;
mod contrast;
mod decided;

pub use contract::Problem;
pub(crate) use contract::STROKE;
pub use contrast::Contrast;
pub use decided::DECIDED;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::grid::{Partition, Picture, Seeds, Unary};

use crate::{Checkpoint, Error, Result};

/// How the terms are weighed against each other.
#[derive(Clone, Debug, Serialize)]
pub struct Options {
    /// α, the weight of the modular term.
    pub alpha: f64,
    /// β, the weight of the cut.
    pub beta: f64,
    /// γ, the weight of the superpixels.
    pub gamma: f64,
    /// θ in w = exp(−θ‖rgb_p − rgb_q‖²), colours on 0–255.
    pub theta: Theta,
    /// The concave function φ of a superpixel's foreground share.
    pub phi: Phi,
    /// What a superpixel's weight c_P is.
    pub hop_scale: HopScale,
    /// What strokes mean to the model.
    pub seeds: SeedMode,
    /// T: the whole energy is divided by it, and so is the solution.
    pub temperature: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: 5.0,
            gamma: 1.0,
            theta: Theta::Fixed(0.005),
            phi: Phi::Quadratic,
            hop_scale: HopScale::Size,
            seeds: SeedMode::Hard,
            temperature: 1.0,
        }
    }
}

/// How fast an edge weakens with contrast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Theta {
    /// θ itself.
    Fixed(f64),
    /// 1/(2·mean ‖rgb_p − rgb_q‖²) over the photo's neighbours.
    Auto,
}

impl fmt::Display for Theta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(theta) => theta.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Theta {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            Ok(theta) if theta >= 0.0 && f64::is_finite(theta) => Ok(Self::Fixed(theta)),
            _ => Err(unknown("theta", text, "a number of at least 0, or auto")),
        }
    }
}

/// φ: concave on \[0, 1\], zero at both ends, ¼ at the top.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phi {
    /// z(1−z), the paper's.
    Quadratic,
    /// ¼·min(1, z/Q, (1−z)/Q), 0 < Q ≤ ½: robust Pⁿ, which stops growing once a share Q disagrees.
    Robust(f64),
}

impl FromStr for Phi {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix("robust:").map(str::parse) {
            _ if text == "quadratic" => Ok(Self::Quadratic),
            Some(Ok(q)) if q > 0.0 && q <= 0.5 => Ok(Self::Robust(q)),
            _ => Err(unknown("phi", text, "quadratic, or robust:Q with Q above 0 and at most 0.5, such as robust:0.1")),
        }
    }
}

impl fmt::Display for Phi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quadratic => f.write_str("quadratic"),
            Self::Robust(q) => write!(f, "robust:{q}"),
        }
    }
}

fn unknown(name: &str, text: &str, expected: &str) -> Error {
    Error::parameter(name, format!("{text:?}"), expected)
}

/// The weight c_P of a superpixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum HopScale {
    /// |P|: γ bounds what a superpixel can do to any one pixel, whatever its size.
    Size,
    /// 1: as printed in the paper.
    Paper,
}

/// What strokes mean to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SeedMode {
    /// Facts: the model is conditioned on them.
    Hard,
    /// Only examples of colour (and place): the model does not see them.
    Soft,
}

impl Options {
    /// Refuses weights with which F would not be submodular, or not a number.
    pub fn check(&self) -> Result<()> {
        let not_negative = |v: f64| v.is_finite() && v >= 0.0;
        let theta = match self.theta {
            Theta::Fixed(theta) => theta,
            Theta::Auto => 0.0,
        };
        for (name, value) in [("alpha", self.alpha), ("beta", self.beta), ("gamma", self.gamma), ("theta", theta)] {
            require(name, value, "finite and not negative", not_negative(value))?;
        }
        if let Phi::Robust(q) = self.phi {
            require("the Q of phi robust:Q", q, "above 0 and at most 0.5", q > 0.0 && q <= 0.5)?;
        }
        let t = self.temperature;
        require("temperature", t, "finite and above 0", t.is_finite() && t > 0.0)
    }
}

fn require(name: &str, value: f64, expected: &str, good: bool) -> Result<()> {
    if good {
        return Ok(());
    }
    Err(Error::parameter(name, value, expected))
}

/// Builds the model of the free pixels.
///
/// # Panics
/// When the inputs differ in shape: the readers see to that.
pub fn model(
    picture: &Picture,
    unary: &Unary,
    partitions: &[Partition],
    seeds: Option<&Seeds>,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<Problem> {
    options.check()?;
    assert_eq!(picture.shape(), unary.shape(), "a unary of another shape");
    let seeds = seeds.filter(|_| options.seeds == SeedMode::Hard);
    let contrast = Contrast::new(picture, options.theta);
    let partitions = if options.gamma > 0.0 { partitions } else { &[] };
    contract::problem(&contrast, unary, partitions, seeds, options, checkpoint)
}

#[cfg(test)]
mod tests;
