//! Reads κ, the weight of the stroke-distance term, off the strokes.
//!
//! How far can the colours be trusted? Each class's strokes are cut across their long axis into four pieces; mixtures fitted to
//! two of them judge the other two, and the other way round. Whole pieces are held out, not single pixels, because a pixel's
//! neighbours in the same stroke all but repeat it. The verdict is the log loss on the held-out pixels, ½(mean over foreground of
//! log(1+e^−L) + mean over background of log(1+e^L)) with L the colour log-odds: 0 when colour separates the classes, log 2 when
//! it says nothing, more when it misleads. Then
//!
//! κ = 2 · (1 + 2·loss) · (10 % / coverage)^¼
//!
//! with coverage the share of the photo under strokes, of either class, taken as at least ½ %. Generous strokes have shown most
//! colours and leave little to distance, all the more where the object is thin and a path along it long. The constants were
//! chosen on 10 photos with generous strokes and 90 with few (data/README.md has the figures); on 30 of them half or
//! twice this κ cost at most 0.006 in AUC and 0.023 in IoU.

use rayon::prelude::*;

use super::{Mixtures, Options, gmm, stroke};
use crate::grid::{Picture, Seed, Seeds, sort_along_axis};
use crate::kernel::logistic::softplus;
use crate::{Checkpoint, Result};

const PIECES: usize = 4;

/// Pixels of a class in each half: a rough mixture is enough for a verdict.
const SAMPLES: usize = 500;

/// The outlier share of the judging mixtures, whatever the option says: it bounds what one held-out pixel can do.
const OUTLIER: f64 = 1e-3;

/// Below this share of the photo, fewer strokes no longer raise κ.
const LEAST_COVERAGE: f64 = 0.005;

/// κ for these strokes.
pub(super) fn geodesic_weight(
    picture: &Picture,
    seeds: &Seeds,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<f64> {
    let loss = held_out_loss(picture, seeds, options, checkpoint)?.unwrap_or(std::f64::consts::LN_2);
    let covered = seeds.count(Seed::Foreground) + seeds.count(Seed::Background);
    let coverage = (covered as f64 / seeds.labels().len() as f64).max(LEAST_COVERAGE);
    Ok(2.0 * (1.0 + 2.0 * loss) * (0.1 / coverage).powf(0.25))
}

/// The log loss in nats per pixel, or `None` when a class has too few pixels to hold any out.
fn held_out_loss(
    picture: &Picture,
    seeds: &Seeds,
    options: &Options,
    checkpoint: Checkpoint<'_>,
) -> Result<Option<f64>> {
    let foreground = halves(picture, seeds, Seed::Foreground, options.seed);
    let background = halves(picture, seeds, Seed::Background, options.seed);
    let folds: Result<Vec<Option<f64>>> = (0..2)
        .into_par_iter()
        .map(|fold| {
            let fit = |colours| gmm::fit(colours, options.components, checkpoint);
            let (fg, bg) = rayon::join(|| fit(&foreground[fold]), || fit(&background[fold]));
            let (Some(foreground_colours), Some(background_colours)) = (fg?, bg?) else { return Ok(None) };
            let mixtures = Mixtures { foreground: foreground_colours, background: background_colours };
            let loss = |held_out: &[[u8; 3]], sign: f64| {
                mean(held_out.iter().map(|&colour| softplus(-sign * mixtures.log_odds_of(colour, OUTLIER))))
            };
            let losses = loss(&foreground[1 - fold], 1.0).zip(loss(&background[1 - fold], -1.0));
            Ok(losses.map(|(foreground, background)| 0.5 * (foreground + background)))
        })
        .collect();
    let folds = folds?;
    Ok(folds[0].zip(folds[1]).map(|(first, second)| 0.5 * (first + second)))
}

/// The colours of a class's even and odd pieces.
fn halves(picture: &Picture, seeds: &Seeds, class: Seed, seed: u64) -> [Vec<[u8; 3]>; 2] {
    let mut along = gmm::thin(stroke(picture, seeds, class).collect(), 2 * SAMPLES, seed);
    sort_along_axis(&mut along, picture.shape(), |&(pixel, _)| pixel);
    let mut halves = [Vec::new(), Vec::new()];
    for (rank, &(_, colour)) in along.iter().enumerate() {
        halves[rank * PIECES / along.len() % 2].push(colour);
    }
    halves
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;

    /// Stripes of four colours; the strokes are two rows, their pixels coloured by `paint`.
    fn strokes(paint: impl Fn(usize, Seed) -> [u8; 3]) -> (Picture, Seeds) {
        let shape = Shape::new(400, 2);
        let class = |pixel: usize| if pixel < 400 { Seed::Foreground } else { Seed::Background };
        let colours = (0..800).map(|pixel| paint(pixel % 400, class(pixel))).collect();
        (Picture::new(shape, colours), Seeds::new(shape, (0..800).map(class).collect()))
    }

    fn loss(paint: impl Fn(usize, Seed) -> [u8; 3]) -> f64 {
        let (picture, seeds) = strokes(paint);
        held_out_loss(&picture, &seeds, &Options::default(), &|| Ok(())).unwrap().unwrap()
    }

    fn noise(x: usize) -> u8 {
        (x * 7919 % 31) as u8
    }

    #[test]
    fn the_loss_tells_colours_that_separate_from_those_that_do_not() {
        let apart = loss(
            |x, class| if class == Seed::Foreground { [200 + noise(x), 20, 20] } else { [20, 200 + noise(x), 20] },
        );
        let same = loss(|x, _| [100 + noise(x), 100, 100]);
        assert!(apart < 1e-3, "{apart}");
        assert!((same - std::f64::consts::LN_2).abs() < 0.05, "{same}");
    }

    #[test]
    fn a_colour_seen_in_one_piece_only_does_not_help_the_others() {
        // Every piece has its own pair of colours, so what was learned from two pieces says nothing about the other two.
        let loss = loss(|x, class| {
            let hue = (x / 100) as u8 * 60;
            if class == Seed::Foreground { [hue, 0, noise(x)] } else { [hue + 30, 0, noise(x)] }
        });
        assert!(loss > 0.5, "{loss}");
    }

    #[test]
    fn strokes_are_cut_across_their_long_axis() {
        let (picture, seeds) = strokes(|x, _| [(x / 100) as u8, 0, 0]);
        let [even, odd] = halves(&picture, &seeds, Seed::Background, 0);
        assert!(
            even.iter().all(|colour| [0, 2].contains(&colour[0]))
                && odd.iter().all(|colour| [1, 3].contains(&colour[0]))
        );
        assert_eq!((even.len(), odd.len()), (200, 200));
    }

    #[test]
    fn kappa_grows_with_the_loss_and_shrinks_with_coverage() {
        let (picture, seeds) = strokes(|x, _| [100 + noise(x), 100, 100]);
        let loss = held_out_loss(&picture, &seeds, &Options::default(), &|| Ok(())).unwrap().unwrap();
        let kappa = geodesic_weight(&picture, &seeds, &Options::default(), &|| Ok(())).unwrap();
        assert!((kappa - 2.0 * (1.0 + 2.0 * loss) * 0.1_f64.powf(0.25)).abs() < 1e-12);

        // The same strokes in a photo a hundred times as large: one percent covered, 100^¼ times the weight.
        let shape = Shape::new(400, 200);
        let colours = picture.rgb().iter().copied().cycle().take(shape.n_pixels()).collect();
        let mut labels = seeds.labels().to_vec();
        labels.resize(shape.n_pixels(), Seed::Unlabelled);
        let (wide, seeds) = (Picture::new(shape, colours), Seeds::new(shape, labels));
        let wide = geodesic_weight(&wide, &seeds, &Options::default(), &|| Ok(())).unwrap();
        assert!((wide / kappa - 100.0_f64.powf(0.25)).abs() < 1e-9, "{wide} {kappa}");
    }

    #[test]
    fn one_pixel_cannot_be_held_out() {
        let shape = Shape::new(2, 1);
        let picture = Picture::new(shape, vec![[0; 3], [9; 3]]);
        let seeds = Seeds::new(shape, vec![Seed::Foreground, Seed::Background]);
        assert_eq!(held_out_loss(&picture, &seeds, &Options::default(), &|| Ok(())).unwrap(), None);
    }
}
