//! The bias that fits a photo, read off the levels of its own heatmap.
//!
//! The strokes rank pixels better than they say where the object ends. A level λ makes a good outline {x > λ} where the photo has edges along
//! it and where it does not run off the photo. With w̄(λ) the mean weight w_pq of the edges that it cuts, 1 where it cuts none, and e(λ) the
//! share of the outermost pixels that it has inside, λ is given the density
//!
//! p(λ) ∝ exp(−A·w̄(λ) − B·e(λ) − (λ − λ₀)²/2σ²)
//!
//! and the bias is its mean, to a [`STEP`], so that it can be typed. Beyond [`FEW`] strokes it falls as one over their number: many strokes are corrections,
//! and say where the object ends. The mask is the exact optimum of F + λ|·| as for any bias. An edge is cut by the levels between its two x, so one
//! pass over the edges serves all levels.

use crate::assemble::Contrast;
use crate::grid::{Seed, Seeds, Shape, components};

/// A.
const CONTRAST: f64 = 40.0;

/// B.
const FRAME: f64 = 40.0;

/// λ₀: without better knowledge masks are too small rather than too large.
const CENTRE: f64 = -1.5;

/// σ.
const SPREAD: f64 = 1.5;

/// Strokes up to which the bias counts in full.
const FEW: f64 = 5.0;

/// Levels are tried from −`LAST` to `LAST`, in nats.
const LAST: f64 = 6.0;

/// Between two levels.
const STEP: f64 = 0.25;

/// The number of levels.
const LEVELS: usize = (2.0 * LAST / STEP) as usize + 1;

/// The bias for log-odds `x` of the photo that the weights are of, row by row, learned from these strokes.
pub(super) fn bias(contrast: &Contrast<'_>, seeds: &Seeds, x: impl Fn(usize) -> f64) -> f64 {
    let n_strokes: usize = [Seed::Foreground, Seed::Background]
        .map(|class| components(seeds.shape(), |pixel| seeds.labels()[pixel] == class).len())
        .iter()
        .sum();
    let mean = mean_level(contrast, x) * (FEW / n_strokes as f64).min(1.0);
    // No negative zero.
    (mean / STEP).round() * STEP + 0.0
}

/// The mean of p(λ).
fn mean_level(contrast: &Contrast<'_>, x: impl Fn(usize) -> f64) -> f64 {
    let shape = contrast.shape();
    let first: Vec<u8> = (0..shape.n_pixels()).map(|pixel| first_outside(x(pixel))).collect();
    let (mean_weight, frame) = (mean_weights(contrast, &first), frame_shares(shape, &first));
    let log_density: [f64; LEVELS] = std::array::from_fn(|i| {
        -CONTRAST * mean_weight[i] - FRAME * frame[i] - 0.5 * ((level(i) - CENTRE) / SPREAD).powi(2)
    });
    let largest = log_density.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let density = log_density.map(|value| (value - largest).exp());
    let moment: f64 = density.iter().enumerate().map(|(i, density)| level(i) * density).sum();
    moment / density.iter().sum::<f64>()
}

fn level(i: usize) -> f64 {
    i as f64 * STEP - LAST
}

/// The first level that does not have log-odds x inside, the number of levels where all have.
fn first_outside(x: f64) -> u8 {
    ((x + LAST) / STEP).ceil().clamp(0.0, LEVELS as f64) as u8
}

/// w̄ of every level.
fn mean_weights(contrast: &Contrast<'_>, first: &[u8]) -> [f64; LEVELS] {
    let Shape { width, height } = contrast.shape();
    // What begins and what ends at every level.
    let mut changes = [(0.0, 0_i64); LEVELS + 1];
    let mut add = |p: usize, q: usize| {
        let (from, to) = (first[p].min(first[q]), first[p].max(first[q]));
        if from < to {
            let weight = contrast.weight(p, q);
            let (begin, end) = (usize::from(from), usize::from(to));
            (changes[begin].0, changes[begin].1) = (changes[begin].0 + weight, changes[begin].1 + 1);
            (changes[end].0, changes[end].1) = (changes[end].0 - weight, changes[end].1 - 1);
        }
    };
    for row in 0..height {
        for pixel in row * width..(row + 1) * width {
            if pixel + 1 < (row + 1) * width {
                add(pixel, pixel + 1);
            }
            if row + 1 < height {
                add(pixel, pixel + width);
            }
        }
    }
    let (mut weight, mut count) = (0.0, 0);
    std::array::from_fn(|i| {
        (weight, count) = (weight + changes[i].0, count + changes[i].1);
        if count == 0 { 1.0 } else { weight / count as f64 }
    })
}

/// e of every level.
fn frame_shares(shape: Shape, first: &[u8]) -> [f64; LEVELS] {
    let Shape { width, height } = shape;
    let is_outermost = |pixel: usize| {
        let (column, row) = (pixel % width, pixel / width);
        column == 0 || row == 0 || column + 1 == width || row + 1 == height
    };
    let mut inside = [0_usize; LEVELS];
    let mut count = 0;
    for pixel in (0..first.len()).filter(|&pixel| is_outermost(pixel)) {
        count += 1;
        inside[..usize::from(first[pixel])].iter_mut().for_each(|inside| *inside += 1);
    }
    inside.map(|inside| inside as f64 / count.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assemble::Theta;
    use crate::grid::Picture;

    /// w̄ and e of one level, from its mask.
    fn slow(contrast: &Contrast<'_>, x: &[f64], level: f64) -> (f64, f64) {
        let Shape { width, height } = contrast.shape();
        let inside = |pixel: usize| x[pixel] > level;
        let (mut weights, mut frame) = (Vec::new(), Vec::new());
        for p in 0..x.len() {
            let (column, row) = (p % width, p / width);
            for q in 0..x.len() {
                let apart = column.abs_diff(q % width) + row.abs_diff(q / width);
                if apart == 1 && inside(p) && !inside(q) {
                    weights.push(contrast.weight(p, q));
                }
            }
            if column == 0 || row == 0 || column + 1 == width || row + 1 == height {
                frame.push(f64::from(inside(p)));
            }
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        (if weights.is_empty() { 1.0 } else { mean(&weights) }, mean(&frame))
    }

    proptest! {
        #![proptest_config(crate::cases(60))]

        #[test]
        fn all_levels_at_once_are_each_level_alone(
            (width, height) in (1..6_usize, 1..5_usize),
            values in prop::collection::vec((prop_oneof![-8.0..8.0_f64, (-24..24_i32).prop_map(|i| 0.25 * f64::from(i)), Just(1e9), Just(-1e9)], any::<[u8; 3]>()), 20),
        ) {
            let shape = Shape::new(width, height);
            let (x, rgb): (Vec<f64>, Vec<[u8; 3]>) = values.into_iter().take(shape.n_pixels()).unzip();
            let picture = Picture::new(shape, rgb);
            let contrast = Contrast::new(&picture, Theta::Fixed(0.001));
            let first: Vec<u8> = x.iter().map(|&x| first_outside(x)).collect();
            let (weights, frame) = (mean_weights(&contrast, &first), frame_shares(shape, &first));
            for i in 0..LEVELS {
                let expected = slow(&contrast, &x, level(i));
                prop_assert!((weights[i] - expected.0).abs() < 1e-9 && (frame[i] - expected.1).abs() < 1e-12, "{} {:?}", level(i), expected);
            }
            let found = mean_level(&contrast, |pixel| x[pixel]);
            prop_assert!(found.abs() <= LAST, "{}", found);
            for n_strokes in 0..3 {
                let label = |pixel| if pixel % 2 == 0 && pixel < 2 * n_strokes { Seed::Foreground } else { Seed::Unlabelled };
                let seeds = Seeds::new(shape, (0..shape.n_pixels()).map(label).collect());
                let rounded = bias(&contrast, &seeds, |pixel| x[pixel]);
                prop_assert!((rounded / STEP).fract() == 0.0 && (rounded - found).abs() <= 0.5 * STEP + 1e-12, "{} {}", rounded, found);
            }
        }
    }

    /// So many strokes of one pixel.
    fn dots(shape: Shape, count: usize) -> Seeds {
        let label = |pixel| if pixel % 2 == 0 && pixel < 2 * count { Seed::Background } else { Seed::Unlabelled };
        Seeds::new(shape, (0..shape.n_pixels()).map(label).collect())
    }

    /// A square with an edge around it, its evidence a ramp that crosses zero elsewhere: the bias is where the edge is.
    #[test]
    fn the_outline_goes_to_the_edge_of_the_photo() {
        let shape = Shape::new(41, 41);
        let away = |pixel: usize| (pixel % 41).abs_diff(20).max((pixel / 41).abs_diff(20));
        for edge in [5, 8, 11] {
            let rgb = (0..shape.n_pixels()).map(|pixel| if away(pixel) < edge { [200; 3] } else { [90; 3] }).collect();
            let picture = Picture::new(shape, rgb);
            let contrast = Contrast::new(&picture, Theta::Fixed(0.005));
            let x = |pixel: usize| 0.5 * (8.2 - away(pixel) as f64);
            let found = bias(&contrast, &dots(shape, 2), x);
            let area = (0..shape.n_pixels()).filter(|&pixel| x(pixel) > found).count();
            assert_eq!(area, (2 * edge - 1_usize).pow(2), "edge at {edge}, bias {found}");
        }
    }

    #[test]
    fn without_edges_it_stays_with_what_is_usual_and_off_the_frame() {
        let shape = Shape::new(30, 20);
        let picture = Picture::new(shape, vec![[7; 3]; 600]);
        let contrast = Contrast::new(&picture, Theta::Fixed(0.005));
        assert_eq!(bias(&contrast, &dots(shape, 5), |pixel| if pixel == 315 { 1e9 } else { -1e9 }), CENTRE);
        assert_eq!(bias(&contrast, &dots(shape, 10), |pixel| if pixel == 315 { 1e9 } else { -1e9 }), CENTRE / 2.0);
        // Half of the frame would come in below −1.
        assert!(bias(&contrast, &dots(shape, 5), |pixel| if pixel % 30 < 15 { -1.0 } else { -1e9 }) >= -1.0);
    }
}
