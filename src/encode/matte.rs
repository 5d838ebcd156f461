//! A soft matte: how opaque each pixel of a cut-out is, and which colour it has there.
//!
//! Alpha is soft in a band along the border of the mask only, solid inside and clear outside. The band holds the pixels on both sides of the
//! border and grows from them, step by step, through pixels that the trimap leaves undecided, up to a width W:
//!
//! ```text
//! alpha = w·p + (1 − w)·[in mask]    w = 1 − (d/(W+1))²    d: steps from the border
//! ```
//!
//! A pixel of the band shows object and background mixed, C = αF + (1−α)B. Its own colour counts only as far as it is opaque; the rest comes from the
//! object beside it: αC + (1−α)F, where F is carried outwards from the solid pixels, each step the mean of the neighbours one step nearer.

use crate::grid::{Marginals, Mask, Shape};

/// What decides where the matte is soft.
pub struct Band<'a> {
    /// For every pixel, whether the certificate proves its side.
    pub certified: &'a [bool],
    /// Probabilities in \[band, 1 − band\] are undecided.
    pub undecided: f64,
    /// How many pixels the band reaches to either side; by default 2 % of the photo's shorter side, and at least 2.
    pub width: Option<usize>,
}

/// Alpha of every pixel, in 0…1.
pub(super) fn alpha(mask: &Mask, marginals: &Marginals, band: &Band<'_>) -> Vec<f64> {
    let (shape, inside, p) = (mask.shape(), mask.as_slice(), marginals.as_slice());
    let shorter = shape.width.min(shape.height) as f64;
    let width = band.width.unwrap_or((0.02 * shorter).round().max(2.0) as usize);
    let is_open = |pixel: usize| !band.certified[pixel] || (band.undecided..=1.0 - band.undecided).contains(&p[pixel]);
    let is_border = |pixel: usize| sides(shape, pixel).any(|other| inside[other] != inside[pixel]);
    let start = (0..inside.len()).filter(|&pixel| width > 0 && is_border(pixel)).collect();
    let steps = walk(shape, start, width.saturating_sub(1), |_, to| is_open(to));
    let mixed = |pixel: usize| {
        let solid = if inside[pixel] { 1.0 } else { 0.0 };
        steps[pixel].map_or(solid, |steps| {
            let share = 1.0 - (steps as f64 / (width as f64 + 1.0)).powi(2);
            share * p[pixel] + (1.0 - share) * solid
        })
    };
    (0..inside.len()).map(mixed).collect()
}

/// The colours of the object where alpha is neither 0 nor 1.
pub(super) fn freed(shape: Shape, colours: &[[f64; 3]], alpha: &[f64]) -> Vec<[f64; 3]> {
    let is_soft = |pixel: usize| alpha[pixel] > 0.0 && alpha[pixel] < 1.0;
    let solid = (0..alpha.len()).filter(|&pixel| alpha[pixel] >= 1.0).collect();
    let steps = walk(shape, solid, usize::MAX, |_, to| is_soft(to));
    let mut order: Vec<usize> = (0..alpha.len()).filter(|&pixel| is_soft(pixel) && steps[pixel].is_some()).collect();
    order.sort_by_key(|&pixel| steps[pixel]);
    let mut object = colours.to_vec();
    for &pixel in &order {
        let nearer =
            around(shape, pixel).filter(|&other| steps[other].is_some_and(|step| Some(step + 1) == steps[pixel]));
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for other in nearer {
            (0..3).for_each(|i| sum[i] += object[other][i]);
            count += 1.0;
        }
        object[pixel] = sum.map(|channel| channel / count);
    }
    let mix = |pixel: usize| {
        std::array::from_fn(|i| alpha[pixel] * colours[pixel][i] + (1.0 - alpha[pixel]) * object[pixel][i])
    };
    (0..alpha.len()).map(|pixel| if is_soft(pixel) { mix(pixel) } else { colours[pixel] }).collect()
}

/// Steps to each pixel from the nearest of `start`, over rows, columns and diagonals, where a step is allowed and within `most`.
fn walk(shape: Shape, start: Vec<usize>, most: usize, may: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut steps = vec![None; shape.n_pixels()];
    start.iter().for_each(|&pixel| steps[pixel] = Some(0));
    let (mut front, mut step) = (start, 0);
    while !front.is_empty() && step < most {
        step += 1;
        let mut next = Vec::new();
        for pixel in front {
            for other in around(shape, pixel) {
                if steps[other].is_none() && may(pixel, other) {
                    steps[other] = Some(step);
                    next.push(other);
                }
            }
        }
        front = next;
    }
    steps
}

/// The up to four pixels beside one.
fn sides(shape: Shape, pixel: usize) -> impl Iterator<Item = usize> {
    let (row, column) = (pixel / shape.width, pixel % shape.width);
    around(shape, pixel).filter(move |other| other / shape.width == row || other % shape.width == column)
}

/// The up to eight pixels around one.
fn around(shape: Shape, pixel: usize) -> impl Iterator<Item = usize> {
    let (row, column) = (pixel / shape.width, pixel % shape.width);
    let rows = row.saturating_sub(1)..(row + 2).min(shape.height);
    let columns = column.saturating_sub(1)..(column + 2).min(shape.width);
    let pixels = rows.flat_map(move |row| columns.clone().map(move |column| row * shape.width + column));
    pixels.filter(move |&other| other != pixel)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of ten: inside on the left, with these probabilities.
    fn row(p: [f64; 10], width: Option<usize>) -> Vec<f64> {
        let shape = Shape::new(10, 1);
        let mask = Mask::new(shape, p.map(|p| p > 0.5).to_vec());
        let band = Band { certified: &[true; 10], undecided: 0.05, width };
        alpha(&mask, &Marginals::new(shape, p.to_vec()).unwrap(), &band)
    }

    #[test]
    fn it_is_soft_along_the_border_and_solid_or_clear_elsewhere() {
        let p = [0.7, 0.99, 0.99, 0.9, 0.8, 0.2, 0.1, 0.01, 0.3, 0.3];
        let alpha = row(p, Some(3));
        assert_eq!(alpha[..3], [1.0; 3]);
        assert_eq!(alpha[7..], [0.0; 3]);
        assert_eq!(alpha[4..6], [0.8, 0.2]);
        assert!(alpha[3] > 0.9 && alpha[3] < 1.0 && alpha[6] > 0.0 && alpha[6] < 0.1, "{alpha:?}");
        assert_eq!(row(p, Some(1)), [1.0, 1.0, 1.0, 1.0, 0.8, 0.2, 0.0, 0.0, 0.0, 0.0]);
        assert!(row(p, Some(0)).iter().all(|&alpha| alpha == 0.0 || alpha == 1.0));
        assert_eq!(row([0.6; 10], None), [1.0; 10]);
    }

    #[test]
    fn the_colour_of_the_background_leaves_the_edge() {
        let shape = Shape::new(5, 1);
        let (red, green) = ([200.0, 0.0, 0.0], [0.0, 200.0, 0.0]);
        let alpha = [1.0, 1.0, 0.5, 0.25, 0.0];
        let seen: Vec<[f64; 3]> =
            alpha.iter().map(|a| std::array::from_fn(|i| a * red[i] + (1.0 - a) * green[i])).collect();
        let freed = freed(shape, &seen, &alpha);
        assert_eq!(freed[..2], [red, red]);
        for (pixel, a) in [(2, 0.5), (3, 0.25)] {
            // What is left of the background is its share times alpha.
            assert!((freed[pixel][1] - a * (1.0 - a) * 200.0).abs() < 1e-9, "{freed:?}");
        }
        assert_eq!(freed[4], seen[4]);
        let alone = super::freed(shape, &seen, &[0.5; 5]);
        assert_eq!(alone, seen, "without a solid pixel a colour stays as it is");
    }
}
