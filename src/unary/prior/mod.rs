//! A network's probabilities as costs: how sure they may be, and the colours of what the network is sure of.
//!
//! m = −clamp(L/T, ±log((1−ε)/ε)) − W·C,   L = log p/(1−p),   C = log p_fg(rgb) − log p_bg(rgb)
//!
//! p_fg and p_bg are colour mixtures fitted to the surest half of the pixels on either side of p = ½ (`example`). Left to themselves, T and ε
//! are those under which the colours of the photo are likeliest (`likelihood`): a network that claims too much is contradicted by its own
//! colours. Where the outline p = ½ follows the edges of the photo (`outline`), the network knows it better than colours and smoothing would:
//! these count τ times less. The costs are then τ times as large, and the energy is divided by τ at the end, like by any temperature.
//! With T = 1, ε = 0 and W = 0, m is the network's own.

mod example;
mod likelihood;
mod outline;

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use super::Mixtures;
use crate::grid::{Picture, Unary};
use crate::{Checkpoint, Error, Result};

/// How a network's probabilities become costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// ε: no probability counts as nearer to 0 or 1; 0 turns it off.
    pub clip: Setting,
    /// T, which divides the logits; 1 leaves them as they are.
    pub temperature: Setting,
    /// W, the weight of the colours of what the network is sure of; 0 turns it off.
    pub colour: Setting,
}

impl Default for Options {
    fn default() -> Self {
        Self { clip: Setting::Auto, temperature: Setting::Auto, colour: Setting::Auto }
    }
}

impl Options {
    /// The probabilities as they are.
    pub const OFF: Self =
        Self { clip: Setting::Fixed(0.0), temperature: Setting::Fixed(1.0), colour: Setting::Fixed(0.0) };

    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<()> {
        for (name, setting, range, expected) in [
            ("prior-clip", self.clip, 0.0..=0.49, "a probability from 0 to 0.49, or auto"),
            ("prior-temperature", self.temperature, 1e-3..=1e3, "a number from 0.001 to 1000, or auto"),
            ("prior-colour", self.colour, 0.0..=100.0, "a weight from 0 to 100, or auto"),
        ] {
            match setting {
                Setting::Fixed(value) if !range.contains(&value) => {
                    return Err(Error::parameter(name, value, expected));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A number, or what the photo and the network's own output say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Read off.
    Auto,
    /// This.
    Fixed(f64),
}

impl Setting {
    fn or(self, auto: f64) -> f64 {
        match self {
            Self::Auto => auto,
            Self::Fixed(value) => value,
        }
    }
}

impl FromStr for Setting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            Ok(value) => Ok(Self::Fixed(value)),
            Err(_) => Err(Error::parameter("the setting", format!("{text:?}"), "a number, or auto")),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(value) => value.fmt(f),
        }
    }
}

/// The settings in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// ε.
    pub clip: f64,
    /// T.
    pub temperature: f64,
    /// W; 0 where there are no colours to learn.
    pub colour: f64,
    /// τ, how many times less colours and smoothing count; 1 where the temperature is fixed.
    pub trust: f64,
}

/// W where it is left to itself.
const COLOUR: f64 = 0.5;

/// τ = (R/LOOSE)^POWER, from 1 to MOST, R saying how well the outline follows the edges.
const LOOSE: f64 = 1.2;
const POWER: f64 = 8.0;
const MOST: f64 = 100.0;

/// Gaussians per mixture, and the share of a uniform colour in both: those of strokes.
const COMPONENTS: usize = 5;
const OUTLIER: f64 = 1e-3;

/// The costs in force, τ times as large as the network's logits, given those of its own probabilities.
pub fn weigh(
    picture: &Picture,
    network: &Unary,
    options: &Options,
    seed: u64,
    checkpoint: Checkpoint<'_>,
) -> Result<(Unary, Fit)> {
    options.check()?;
    let is_fixed = options.clip != Setting::Auto && options.temperature != Setting::Auto;
    let needs_colours = !is_fixed || options.colour != Setting::Fixed(0.0);
    let colours = match needs_colours {
        true => learn(picture, network, seed, checkpoint)?,
        false => None,
    };
    let (temperature, likely) = match &colours {
        Some(colours) if !is_fixed => likelihood::fit(picture, network, colours, options),
        _ => (options.temperature.or(1.0), options.clip.or(0.0)),
    };
    let trust = match options.temperature {
        Setting::Auto => outline::trust(picture, network, checkpoint)?,
        Setting::Fixed(_) => 1.0,
    };
    // An outline that follows the edges has fewer slips than colours can tell.
    let clip = options.clip.or(likely / trust.sqrt());
    let weight = if colours.is_some() { options.colour.or(COLOUR) } else { 0.0 };
    let fit = Fit { clip, temperature, colour: weight, trust };

    let bound = if clip > 0.0 { ((1.0 - clip) / clip).ln() } else { f64::INFINITY };
    let scaled = network.as_slice().iter().map(|&m| trust * (m / temperature).clamp(-bound, bound));
    let mut values: Vec<f64> = scaled.collect();
    if let Some(colours) = colours.filter(|_| weight > 0.0) {
        let log_odds = colours.log_odds(picture, OUTLIER, checkpoint)?;
        values.par_iter_mut().zip(log_odds).for_each(|(m, log_odds)| *m -= weight * log_odds);
    }
    Ok((Unary::new(network.shape(), values)?, fit))
}

/// The colours of what the network is sure of; nothing where it is sure of one class only.
fn learn(picture: &Picture, network: &Unary, seed: u64, checkpoint: Checkpoint<'_>) -> Result<Option<Mixtures>> {
    let Some(examples) = example::surest(network, checkpoint)? else { return Ok(None) };
    Mixtures::fit(picture, &examples, COMPONENTS, seed, checkpoint).map(Some)
}

#[cfg(test)]
mod tests;
