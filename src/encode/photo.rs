//! Pictures that are to be as good as the photo they were made from: its depth, its colour profile, the size of its pixels.
//!
//! Colours are numbers on 0–255 whatever the depth; a 16-bit photo has 257 steps between two of them.

use png::{BitDepth, ColorType};

use super::samples::encode_like;
use crate::grid::{Original, Picture};

/// The photo as outputs see it.
pub(super) struct Source<'a> {
    picture: &'a Picture,
    rgba: Option<&'a [[u16; 4]]>,
    is_deep: bool,
}

const STEP: f64 = 257.0;

impl<'a> Source<'a> {
    pub(super) fn new(picture: &'a Picture) -> Self {
        let original = picture.original();
        Self {
            picture,
            rgba: original.and_then(|original| original.rgba.as_deref()),
            is_deep: original.is_some_and(|original| original.is_deep),
        }
    }

    /// The photo's own colours, not laid over white where it is transparent.
    pub(super) fn colours(&self) -> Vec<[f64; 3]> {
        match self.rgba {
            Some(rgba) => rgba.iter().map(|&[r, g, b, _]| [r, g, b].map(|channel| f64::from(channel) / STEP)).collect(),
            None => self.picture.rgb().iter().map(|rgb| rgb.map(f64::from)).collect(),
        }
    }

    /// The photo's own opacity, in 0…1.
    pub(super) fn opacity(&self, pixel: usize) -> f64 {
        self.rgba.map_or(1.0, |rgba| f64::from(rgba[pixel][3]) / 65535.0)
    }

    /// Whether the photo is opaque everywhere.
    pub(super) fn is_opaque(&self) -> bool {
        self.rgba.is_none_or(|rgba| rgba.iter().all(|pixel| pixel[3] == u16::MAX))
    }

    /// A number on 0–255 as it can be written.
    pub(super) fn rounded(&self, value: f64) -> f64 {
        if self.is_deep { (value * STEP).round() / STEP } else { value.round() }
    }

    /// Whether an alpha on 0–255 is written as 0.
    pub(super) fn is_clear(&self, alpha: f64) -> bool {
        self.rounded(alpha) == 0.0
    }

    /// A PNG of three or four channels.
    pub(super) fn encode<const N: usize>(&self, samples: &[[f64; N]]) -> Vec<u8> {
        let colour = if N == 4 { ColorType::Rgba } else { ColorType::Rgb };
        let channels = samples.as_flattened().iter();
        let (depth, bytes): (_, Vec<u8>) = match self.is_deep {
            true => {
                (BitDepth::Sixteen, channels.flat_map(|value| ((value * STEP).round() as u16).to_be_bytes()).collect())
            }
            false => (BitDepth::Eight, channels.map(|value| value.round() as u8).collect()),
        };
        let plain = Original::default();
        encode_like(self.picture.original().unwrap_or(&plain), self.picture.shape(), colour, depth, &bytes)
    }
}
