//! Reads κ, the weight of the stroke-distance term, off the strokes.
//!
//! How far can the colours be trusted? Each class's strokes are cut across their long axis into pieces; mixtures fitted to the
//! even pieces judge the odd ones, and the other way round. Whole pieces are held out, not single pixels, because a pixel's
//! neighbours in the same stroke all but repeat it. A is the share of (foreground, background) pairs of held-out pixels
//! that the colour log-odds put in the right order (the area under the ROC curve): 1 when colour separates the classes, ½ when
//! it says nothing.

use rayon::prelude::*;

use super::{Mixtures, Options, gmm, stroke};
use crate::annotation::{Seed, Seeds};
use crate::picture::Picture;

const PIECES: usize = 4;
const SAMPLES: usize = 500;

/// κ for these strokes.
pub(super) fn geodesic_weight(picture: &Picture, seeds: &Seeds, options: &Options) -> f64 {
    let area = separation(picture, seeds, options).unwrap_or(0.5);
    1.0 + 5.0 * (2.0 - 2.0 * area).clamp(0.0, 1.0)
}

/// A, or `None` when a class has too few pixels to hold any out.
pub(super) fn separation(picture: &Picture, seeds: &Seeds, options: &Options) -> Option<f64> {
    let foreground = halves(picture, seeds, Seed::Foreground);
    let background = halves(picture, seeds, Seed::Background);
    let judged: Vec<Option<[Vec<f64>; 2]>> = (0..2)
        .into_par_iter()
        .map(|fold| {
            let fit = |colours| gmm::fit(colours, options.components, SAMPLES, options.seed);
            let (fg, bg) = rayon::join(|| fit(&foreground[fold]), || fit(&background[fold]));
            let mixtures = Mixtures { foreground: fg?, background: bg? };
            let judge = |held_out: &[[u8; 3]]| {
                let every = held_out.len().div_ceil(SAMPLES).max(1);
                held_out.iter().step_by(every).map(|&c| mixtures.log_odds_of(c, options.outlier)).collect()
            };
            Some([judge(&foreground[1 - fold]), judge(&background[1 - fold])])
        })
        .collect();
    let mut area = 0.0;
    for fold in judged {
        let [foreground, background] = fold?;
        area += 0.5 * area_under_curve(foreground, background)?;
    }
    Some(area)
}

/// The colours of a class's even and odd pieces.
fn halves(picture: &Picture, seeds: &Seeds, class: Seed) -> [Vec<[u8; 3]>; 2] {
    let width = picture.shape().width;
    let pixels: Vec<_> = stroke(picture, seeds, class).collect();
    let n = pixels.len() as f64;
    let position = |pixel: usize| [(pixel % width) as f64, (pixel / width) as f64];
    let mean = |value: &dyn Fn([f64; 2]) -> f64| pixels.iter().map(|&(p, _)| value(position(p))).sum::<f64>() / n;
    let centre = [mean(&|p| p[0]), mean(&|p| p[1])];
    let moment = |i: usize, j: usize| mean(&|p| (p[i] - centre[i]) * (p[j] - centre[j]));
    // The long axis of the ellipse with these second moments.
    let angle = 0.5 * (2.0 * moment(0, 1)).atan2(moment(0, 0) - moment(1, 1));
    let mut along: Vec<(f64, usize, [u8; 3])> = pixels
        .iter()
        .map(|&(pixel, colour)| {
            let [x, y] = position(pixel);
            (x * angle.cos() + y * angle.sin(), pixel, colour)
        })
        .collect();
    along.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut halves = [Vec::new(), Vec::new()];
    for (rank, &(_, _, colour)) in along.iter().enumerate() {
        halves[rank * PIECES / along.len() % 2].push(colour);
    }
    halves
}

/// The share of pairs with the first above the second, ties counting half; `None` when either side is empty.
fn area_under_curve(mut above: Vec<f64>, mut below: Vec<f64>) -> Option<f64> {
    let pairs = above.len() as f64 * below.len() as f64;
    if pairs == 0.0 {
        return None;
    }
    above.sort_by(f64::total_cmp);
    below.sort_by(f64::total_cmp);
    let (mut lower, mut equal, mut wins) = (0, 0, 0.0);
    for value in above {
        while lower < below.len() && below[lower] < value {
            lower += 1;
        }
        equal = equal.max(lower);
        while equal < below.len() && below[equal] <= value {
            equal += 1;
        }
        wins += (lower + equal) as f64 / 2.0;
    }
    Some(wins / pairs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_area_is_the_share_of_ordered_pairs(
            above in prop::collection::vec(-3_i32..3, 0..20),
            below in prop::collection::vec(-3_i32..3, 0..20),
        ) {
            let mut wins = 0.0;
            for a in &above {
                for b in &below {
                    wins += match a.cmp(b) { std::cmp::Ordering::Greater => 1.0, std::cmp::Ordering::Equal => 0.5, _ => 0.0 };
                }
            }
            let expected = (!above.is_empty() && !below.is_empty()).then(|| wins / (above.len() * below.len()) as f64);
            let real = |v: Vec<i32>| v.into_iter().map(f64::from).collect();
            prop_assert_eq!(area_under_curve(real(above), real(below)), expected);
        }
    }
}
