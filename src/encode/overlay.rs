//! `STEM.overlay.png`: the photo with the mask's outline and a light tint.
//!
//! The object gets a light tint and the background loses half of its colour and a quarter of its light. Just outside the mask, so that
//! even an object one pixel wide stays visible inside it, runs a thin bright line with a dark shadow: one of the two stands
//! out against any photo. The line's width grows with the photo, one pixel up to about a megapixel, so that a large photo scaled
//! to a screen still shows it. Depth, opacity, colour profile and size of a pixel are those of the photo.

use rayon::prelude::*;

use super::photo::Source;
use crate::grid::{Mask, Picture, Shape};

const ACCENT: [f64; 3] = [255.0, 221.0, 0.0];
const SHADOW: [f64; 3] = [24.0, 16.0, 0.0];

/// How much of the accent lies over the object.
const TINT: f64 = 0.12;

/// The overlay as an RGB PNG, or RGBA where the photo is not opaque.
pub fn overlay(picture: &Picture, mask: &Mask) -> Vec<u8> {
    let photo = Source::new(picture);
    let colours = rgb(&photo, picture, mask);
    if photo.is_opaque() {
        return photo.encode(&colours);
    }
    let opaque = |(pixel, &[r, g, b]): (usize, &[f64; 3])| [r, g, b, 255.0 * photo.opacity(pixel)];
    photo.encode(&colours.iter().enumerate().map(opaque).collect::<Vec<_>>())
}

/// The overlay as 8-bit RGB samples, row by row.
pub fn overlay_samples(picture: &Picture, mask: &Mask) -> Vec<u8> {
    let colours = rgb(&Source::new(picture), picture, mask);
    colours.as_flattened().iter().map(|value| value.round() as u8).collect()
}

/// The colour of every pixel on 0–255.
fn rgb(photo: &Source<'_>, picture: &Picture, mask: &Mask) -> Vec<[f64; 3]> {
    let shape = picture.shape();
    let inside = mask.as_slice();
    let width = line_width(shape);
    let line = near_border(shape, inside, false, width);
    let shadow = near_border(shape, inside, false, 2 * width);
    let round = |colour: [f64; 3]| colour.map(|channel| photo.rounded(channel));
    let colour = |(pixel, &rgb): (usize, &[f64; 3])| match inside[pixel] {
        true => round(mix(rgb, ACCENT, TINT)),
        false if line[pixel] => ACCENT,
        false if shadow[pixel] => round(mix(round(recede(rgb)), SHADOW, 0.6)),
        false => round(recede(rgb)),
    };
    photo.colours().par_iter().enumerate().map(colour).collect()
}

fn line_width(shape: Shape) -> usize {
    (shape.width.min(shape.height) as f64 / 900.0).ceil().max(1.0) as usize
}

/// Half-way to grey, and darker.
fn recede([r, g, b]: [f64; 3]) -> [f64; 3] {
    let grey = 0.299 * r + 0.587 * g + 0.114 * b;
    [r, g, b].map(|channel| 0.75 * (0.5 * channel + 0.5 * grey))
}

fn mix(from: [f64; 3], to: [f64; 3], share: f64) -> [f64; 3] {
    std::array::from_fn(|i| from[i] * (1.0 - share) + to[i] * share)
}

/// Pixels of `side` that a walk of at most `steps` 4-neighbours takes to the other side. Grown step by step from the
/// border; the edge of the photo is no border.
fn near_border(shape: Shape, inside: &[bool], side: bool, steps: usize) -> Vec<bool> {
    let mut reached: Vec<bool> = inside.iter().map(|&inside| inside != side).collect();
    for _ in 0..steps {
        reached = grow(shape, &reached);
    }
    reached.iter().zip(inside).map(|(&reached, &inside)| reached && inside == side).collect()
}

fn grow(shape: Shape, set: &[bool]) -> Vec<bool> {
    let Shape { width, height } = shape;
    (0..set.len())
        .into_par_iter()
        .map(|pixel| {
            let (row, column) = (pixel / width, pixel % width);
            set[pixel]
                || (row > 0 && set[pixel - width])
                || (row + 1 < height && set[pixel + width])
                || (column > 0 && set[pixel - 1])
                || (column + 1 < width && set[pixel + 1])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_runs_inside_the_border_and_not_along_the_edge_of_the_photo() {
        let shape = Shape::new(5, 3);
        let rows = ["##...", "##...", "##..."];
        let inside: Vec<bool> = rows.concat().chars().map(|c| c == '#').collect();
        let draw = |set: Vec<bool>| -> Vec<String> {
            set.chunks(5).map(|row| row.iter().map(|&x| if x { 'x' } else { '.' }).collect()).collect()
        };
        assert_eq!(draw(near_border(shape, &inside, true, 1)), [".x...", ".x...", ".x..."]);
        assert_eq!(draw(near_border(shape, &inside, false, 2)), ["..xx.", "..xx.", "..xx."]);
    }
}
