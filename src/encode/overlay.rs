//! `STEM.overlay.png`: the photo with the mask's outline and a light tint.
//!
//! The object gets a light tint and the background loses half of its colour and a quarter of its light. Just outside the mask, so that
//! even an object one pixel wide stays visible inside it, runs a thin bright line with a dark shadow: one of the two stands
//! out against any photo. The line's width grows with the photo, one pixel up to about a megapixel, so that a large photo scaled
//! to a screen still shows it.

use png::ColorType;
use rayon::prelude::*;

use super::samples::encode8;
use crate::grid::{Mask, Picture, Shape};

const ACCENT: [u8; 3] = [255, 221, 0];
const SHADOW: [u8; 3] = [24, 16, 0];

/// How much of the accent lies over the object.
const TINT: f64 = 0.12;

/// The overlay as an RGB PNG.
pub fn overlay(picture: &Picture, mask: &Mask) -> Vec<u8> {
    encode8(picture.shape(), ColorType::Rgb, &overlay_samples(picture, mask))
}

/// The overlay as RGB samples, row by row.
pub fn overlay_samples(picture: &Picture, mask: &Mask) -> Vec<u8> {
    let shape = picture.shape();
    let inside = mask.as_slice();
    let width = line_width(shape);
    let line = near_border(shape, inside, false, width);
    let shadow = near_border(shape, inside, false, 2 * width);
    picture
        .rgb()
        .par_iter()
        .enumerate()
        .flat_map_iter(|(pixel, &rgb)| match inside[pixel] {
            true => mix(rgb, ACCENT, TINT),
            false if line[pixel] => ACCENT,
            false if shadow[pixel] => mix(recede(rgb), SHADOW, 0.6),
            false => recede(rgb),
        })
        .collect()
}

fn line_width(shape: Shape) -> usize {
    (shape.width.min(shape.height) as f64 / 900.0).ceil().max(1.0) as usize
}

/// Half-way to grey, and darker.
fn recede(rgb: [u8; 3]) -> [u8; 3] {
    let [r, g, b] = rgb.map(f64::from);
    let grey = 0.299 * r + 0.587 * g + 0.114 * b;
    [r, g, b].map(|channel| (0.75 * (0.5 * channel + 0.5 * grey)).round() as u8)
}

fn mix(from: [u8; 3], to: [u8; 3], share: f64) -> [u8; 3] {
    std::array::from_fn(|i| (f64::from(from[i]) * (1.0 - share) + f64::from(to[i]) * share).round() as u8)
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
