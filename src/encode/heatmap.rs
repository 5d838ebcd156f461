//! `STEM.heatmap.png`: the marginals in a perceptual colour map.
//!
//! Viridis: its lightness rises evenly with p, so equal steps in probability look equal, it survives printing in grey, and
//! colour-blind readers see the same picture. Dark violet is surely background, yellow surely foreground, green in between.

use png::ColorType;

use super::samples::encode8;
use crate::grid::Marginals;

/// The marginals as an RGB PNG.
pub fn heatmap(marginals: &Marginals) -> Vec<u8> {
    encode8(marginals.shape(), ColorType::Rgb, heat(marginals).as_flattened())
}

/// The colour of every pixel, row by row.
pub fn heat(marginals: &Marginals) -> Vec<[u8; 3]> {
    let table = colour_table();
    marginals.as_slice().iter().map(|&p| table[(p * 255.0).round() as usize]).collect()
}

/// The colour of level round(255·p).
pub(super) fn colour_table() -> Vec<[u8; 3]> {
    (0..256).map(|level| colorous::VIRIDIS.eval_rational(level, 256).as_array()).collect()
}
