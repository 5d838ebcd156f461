//! `STEM.cutout.png`: the object alone, as RGBA.
//!
//! Alpha is the mask, or the probability itself with a soft matte. Where alpha is 0 the colour is black too: nothing of the
//! background is left in the file to shine through when someone edits it.

use png::ColorType;

use super::samples::encode8;
use crate::grid::{Marginals, Mask, Picture};
use crate::session::Matte;

/// The cut-out as an RGBA PNG.
pub fn cutout(picture: &Picture, mask: &Mask, marginals: &Marginals, matte: Matte) -> Vec<u8> {
    encode8(picture.shape(), ColorType::Rgba, &cutout_samples(picture, mask, marginals, matte))
}

/// The cut-out as RGBA samples, row by row.
pub fn cutout_samples(picture: &Picture, mask: &Mask, marginals: &Marginals, matte: Matte) -> Vec<u8> {
    let alpha = mask.as_slice().iter().zip(marginals.as_slice()).map(|(&inside, &p)| match matte {
        Matte::Hard => {
            if inside {
                255
            } else {
                0
            }
        }
        Matte::Soft => (255.0 * p).round() as u8,
    });
    let rgba = |(&[r, g, b], alpha): (&[u8; 3], u8)| if alpha == 0 { [0; 4] } else { [r, g, b, alpha] };
    picture.rgb().iter().zip(alpha).flat_map(rgba).collect()
}
