//! Red and blue as people paint them: soft edges, half-transparent brushes, JPEG.
//!
//! The strength of a colour is how much of it there is over grey, times its opacity:
//!
//! ```text
//! red: a·(r − max(g, b))    blue: a·(b − max(r, g))    on 0…1; the hue must be right: the two others differ by at most half of it
//! ```
//!
//! On a canvas (transparent, or one plain grey) a pixel is a stroke when its strength is at least half of what most pixels of that
//! colour have, so a brush of 40 % opacity counts like a solid one, and of a soft edge the half nearer to the stroke. The rest of the edge is
//! left out and counted. Elsewhere only pure colours count: skin and sky are no strokes.

use super::super::raster::Raster;
use super::encoding::brush;
use crate::grid::{Picture, Seed, Shape};

/// Weaker colours than this are shades of the canvas.
const FAINTEST: f64 = 0.12;

/// How far around strokes their soft edges reach, in pixels.
const MARGIN: usize = 3;

/// What strokes are painted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Canvas {
    /// Nothing, or strokes everywhere.
    Clear,
    /// One grey.
    Grey(u8),
}

/// Red and blue strokes, and the number of pixels at their edges that were left out.
pub(super) fn read(raster: &Raster) -> (Vec<Seed>, usize) {
    if canvas(raster).is_none() {
        return (raster.rgba.iter().map(|&pixel| brush(pixel)).collect(), 0);
    }
    let least = [Seed::Foreground, Seed::Background].map(|class| {
        let mut found: Vec<f64> = candidates(raster, class).collect();
        found.sort_by(f64::total_cmp);
        // Edges and bleeding colours are the weaker part of what is found.
        found.get(found.len() * 3 / 4).map_or(1.0, |typical| typical / 2.0).max(FAINTEST)
    });
    let mut n_soft = 0;
    let seeds = raster.rgba.iter().map(|&pixel| {
        let (class, strength) = hue(pixel);
        let is_stroke = brush(pixel) != Seed::Unlabelled || strength >= least[usize::from(class == Seed::Background)];
        match class {
            Seed::Unlabelled => Seed::Unlabelled,
            class if is_stroke => class,
            _ => {
                n_soft += usize::from(strength > 0.02);
                Seed::Unlabelled
            }
        }
    });
    let seeds = seeds.collect();
    (seeds, n_soft)
}

fn candidates(raster: &Raster, class: Seed) -> impl Iterator<Item = f64> {
    let strengths = raster.rgba.iter().map(|&pixel| hue(pixel));
    strengths.filter(move |&(found, strength)| found == class && strength >= FAINTEST).map(|(_, strength)| strength)
}

/// The class whose colour a pixel has a shade of, and how strong it is.
fn hue([r, g, b, a]: [u8; 4]) -> (Seed, f64) {
    let of = |main: u8, others: [u8; 2]| {
        let over = f64::from(main) - f64::from(others[0].max(others[1]));
        let skew = f64::from(others[0].abs_diff(others[1]));
        if over > 0.0 && 2.0 * skew <= over { over / 255.0 * f64::from(a) / 255.0 } else { 0.0 }
    };
    match (of(r, [g, b]), of(b, [r, g])) {
        (red, _) if red > 0.0 => (Seed::Foreground, red),
        (_, blue) if blue > 0.0 => (Seed::Background, blue),
        _ => (Seed::Unlabelled, 0.0),
    }
}

/// What the strokes are painted on: there are strokes, and beyond their margin all else is transparent or one plain grey. Inside the margin,
/// only mixtures of canvas, red and blue may be, unless the file has been compressed with losses.
pub(super) fn canvas(raster: &Raster) -> Option<Canvas> {
    let is_stroke: Vec<bool> =
        raster.rgba.iter().map(|&pixel| brush(pixel) != Seed::Unlabelled || hue(pixel).1 >= FAINTEST).collect();
    if !is_stroke.contains(&true) {
        return None;
    }
    let mut counts = [0_usize; 256];
    let rest = || raster.rgba.iter().zip(&is_stroke).filter(|(pixel, is_stroke)| !**is_stroke && pixel[3] >= 128);
    for (&[r, g, b, _], _) in rest().filter(|(pixel, _)| is_grey(**pixel, raster.tolerance())) {
        counts[(usize::from(r) + usize::from(g) + usize::from(b)) / 3] += 1;
    }
    let grey = (0..=255_u8).max_by_key(|&grey| (counts[usize::from(grey)], grey)).unwrap_or(255);
    if rest().next().is_none() {
        return Some(Canvas::Clear);
    }
    let is_canvas = |pixel: [u8; 4]| pixel[..3].iter().all(|channel| channel.abs_diff(grey) <= raster.tolerance());
    let is_near = near(raster.shape, &is_stroke, MARGIN);
    let is_plain = |(i, &pixel): (usize, &[u8; 4])| {
        pixel[3] < 128 || is_stroke[i] || is_canvas(pixel) || is_near[i] && (raster.is_lossy || is_mixture(pixel, grey))
    };
    raster.rgba.iter().enumerate().all(is_plain).then_some(Canvas::Grey(grey))
}

fn is_grey([r, g, b, _]: [u8; 4], tolerance: u8) -> bool {
    r.abs_diff(g) <= tolerance && g.abs_diff(b) <= tolerance
}

/// Whether a colour is about k·grey + l·red + m·blue with shares that add up to one: green tells k, the others then have to fit.
fn is_mixture([r, g, b, _]: [u8; 4], grey: u8) -> bool {
    const SLACK: f64 = 64.0;
    let [r, g, b, grey] = [r, g, b, grey].map(f64::from);
    let share = if grey < SLACK { 0.0 } else { (g / grey).min(1.0) };
    let rest = (r - g) + (b - g);
    let fits = if grey < SLACK {
        g <= grey + SLACK && rest <= 255.0 + SLACK
    } else {
        (rest - 255.0 * (1.0 - share)).abs() <= SLACK
    };
    r - g >= -SLACK && b - g >= -SLACK && fits
}

/// Whether the file is the photo painted on: where the photo differs from the canvas, most of it is still there.
pub(super) fn is_copy(raster: &Raster, photo: &Picture, canvas: Canvas) -> bool {
    let Canvas::Grey(grey) = canvas else { return false };
    let differs = |a: &[u8], b: &[u8]| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) >= 32);
    let (mut n_other, mut n_kept) = (0, 0);
    for (pixel, original) in
        raster.rgba.iter().zip(photo.rgb()).filter(|(_, original)| differs(&original[..], &[grey; 3]))
    {
        n_other += 1;
        n_kept += usize::from(!differs(&pixel[..3], original));
    }
    2 * n_kept > n_other
}

/// Pixels at most `steps` rows and columns from one of a set.
pub(super) fn near(shape: Shape, set: &[bool], steps: usize) -> Vec<bool> {
    let Shape { width, height } = shape;
    let along = |set: &[bool], length: usize, stride: usize, lines: usize, apart: usize| {
        let mut grown = vec![false; set.len()];
        for line in 0..lines {
            let place = |i: usize| line * apart + i * stride;
            let mut last = None;
            for i in 0..length {
                last = if set[place(i)] { Some(i) } else { last };
                grown[place(i)] |= last.is_some_and(|last| i - last <= steps);
            }
            let mut next = None;
            for i in (0..length).rev() {
                next = if set[place(i)] { Some(i) } else { next };
                grown[place(i)] |= next.is_some_and(|next| next - i <= steps);
            }
        }
        grown
    };
    let rows = along(set, width, 1, height, width);
    along(&rows, height, width, width, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn near_is_within_steps_of_one(set in prop::collection::vec(prop::bool::weighted(0.1), 35), steps in 0..4_usize) {
            let shape = Shape::new(7, 5);
            let twin: Vec<bool> = (0..35_usize).map(|pixel| {
                let close = |other: usize| (pixel / 7).abs_diff(other / 7) <= steps && (pixel % 7).abs_diff(other % 7) <= steps;
                (0..35).any(|other| set[other] && close(other))
            }).collect();
            prop_assert_eq!(near(shape, &set, steps), twin);
        }
    }

    #[test]
    fn mixtures_of_canvas_red_and_blue_are_told_from_other_colours() {
        for grey in [255_u8, 200, 77, 0] {
            for (k, l) in [(1.0, 0.0), (0.5, 0.5), (0.3, 0.0), (0.0, 0.5), (0.8, 0.1)] {
                let m = 1.0 - k - l;
                let mixed = [k * f64::from(grey) + 255.0 * l, k * f64::from(grey), k * f64::from(grey) + 255.0 * m];
                let [r, g, b] = mixed.map(|channel| channel.round() as u8);
                assert!(is_mixture([r, g, b, 255], grey), "{r} {g} {b} on {grey}");
            }
            assert!(!is_mixture([0, 255, 0, 255], grey) && !is_mixture([255, 200, 0, 255], grey), "{grey}");
        }
        assert!(!is_mixture([0, 0, 0, 255], 255) && !is_mixture([0, 255, 255, 255], 255));
    }
}
