//! `STEM.cutout.png`: the object alone, as RGBA.
//!
//! Alpha is the mask, or a soft matte ([`matte`](super::matte)), times the photo's own opacity. Where alpha is 0 the colour is black too:
//! nothing of the background is left in the file to shine through when someone edits it. Depth, colour profile and size of a pixel are those of the
//! photo.

use super::matte::{self, Band};
use super::photo::Source;
use crate::grid::{Marginals, Mask, Picture};
use crate::session::Matte;

/// The cut-out as an RGBA PNG.
pub fn cutout(picture: &Picture, mask: &Mask, marginals: &Marginals, matte: Matte, band: &Band<'_>) -> Vec<u8> {
    let photo = Source::new(picture);
    photo.encode(&rgba(&photo, picture, mask, marginals, matte, band))
}

/// The cut-out as 8-bit RGBA samples, row by row.
pub fn cutout_samples(picture: &Picture, mask: &Mask, marginals: &Marginals, matte: Matte, band: &Band<'_>) -> Vec<u8> {
    let samples = rgba(&Source::new(picture), picture, mask, marginals, matte, band);
    samples.as_flattened().iter().map(|value| value.round() as u8).collect()
}

/// Colour and opacity of every pixel on 0–255.
fn rgba(
    photo: &Source<'_>,
    picture: &Picture,
    mask: &Mask,
    marginals: &Marginals,
    matte: Matte,
    band: &Band<'_>,
) -> Vec<[f64; 4]> {
    let own = photo.colours();
    let (alpha, colours) = match matte {
        Matte::Hard => (mask.as_slice().iter().map(|&inside| if inside { 1.0 } else { 0.0 }).collect(), own),
        Matte::Soft => {
            let alpha = matte::alpha(mask, marginals, band);
            let colours = matte::freed(picture.shape(), &own, &alpha);
            (alpha, colours)
        }
    };
    let rgba = |(pixel, (&[r, g, b], alpha)): (usize, (&[f64; 3], &f64))| {
        let alpha = 255.0 * alpha * photo.opacity(pixel);
        if photo.is_clear(alpha) { [0.0; 4] } else { [r, g, b, alpha] }
    };
    colours.iter().zip(&alpha).enumerate().map(rgba).collect()
}
