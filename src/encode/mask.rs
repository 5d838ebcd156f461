//! `STEM.mask.png`: the MAP set A, 255 inside and 0 outside.

use png::ColorType;

use super::samples::encode8;
use crate::grid::Mask;

/// The mask as an 8-bit grey PNG.
pub fn mask(mask: &Mask) -> Vec<u8> {
    let samples: Vec<u8> = mask.as_slice().iter().map(|&inside| if inside { 255 } else { 0 }).collect();
    encode8(mask.shape(), ColorType::Grayscale, &samples)
}
