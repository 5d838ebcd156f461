//! One function per encoding: values → seeds.
//!
//! A hue counts as red when its red channel is at least 128 and twice every other, blue likewise: pure brush colours,
//! slightly soft edges and JPEG noise pass, skin and sky do not. A transparent pixel (alpha below 128) never is a stroke, but for
//! half-transparent brushes on a canvas ([`paint`]). On a copy of the photo, a pixel is red paint of opacity k where it has moved from
//! the photo the share k ≥ ¼ of the way to red.

use std::path::Path;

use super::super::raster::Raster;
use super::{Format, level, paint};
use crate::grid::{Picture, Seed};
use crate::{Error, Result};

/// Reads `raster` as `format`, which must not be [`Format::Auto`]. Also the number of pixels at the soft edges of strokes, which
/// are left out.
pub(super) fn seeds(raster: &Raster, format: Format, photo: &Picture, path: &Path) -> Result<(Vec<Seed>, usize)> {
    let refused = |expected: &str| Error::StrokeEncoding {
        path: path.to_path_buf(),
        format,
        found: raster.describe(),
        expected: expected.to_string(),
    };
    let by_grey = |read: fn(u16) -> Option<Seed>, expected: &str| match &raster.grey {
        Some(values) => opaque_only(raster, values, read).ok_or_else(|| refused(expected)),
        None => Err(refused(expected)),
    };
    let sharp = match format {
        Format::Auto => unreachable!("auto is decided before the values are read"),
        Format::Labels => {
            return raster.grey.as_ref().and_then(|values| level::labels(raster, values)).ok_or_else(|| {
                refused(
                    "labels are grey 255 (foreground), 128 (background) and 0 (unlabelled), with few values between: \
                     save without smoothing, as PNG",
                )
            });
        }
        Format::Redblue => return Ok(paint::read(raster)),
        Format::Trimap if raster.is_lossy => by_grey(about_trimap, "a trimap is grey: save it without colours"),
        Format::Trimap => by_grey(trimap, "a trimap is grey: save it without colours"),
        Format::Grabcut => {
            by_grey(grabcut, "GrabCut masks hold 0, 1, 2 and 3 only: save OpenCV's mask as it is, as PNG")
        }
        Format::Palette => by_index(raster).ok_or_else(|| {
            refused("this format is an indexed PNG of 1 (foreground), 2 (background), 0 and 255 (unlabelled) only")
        }),
        Format::Diff => diff(raster, photo).ok_or_else(|| {
            refused("most of it differs from the photo: paint red and blue on an unchanged copy of the photo")
        }),
        Format::Labelme | Format::Coco => Err(refused("this format is a JSON file: give that")),
    };
    sharp.map(|seeds| (seeds, 0))
}

/// The palette reading of every pixel, if all have one; in a grey image without a palette the values are the indices.
pub(super) fn by_index(raster: &Raster) -> Option<Vec<Seed>> {
    match (&raster.indices, &raster.grey) {
        (Some(indices), _) => opaque_only(raster, indices, |index| palette(index.into())),
        (None, Some(values)) => opaque_only(raster, values, palette),
        (None, None) => None,
    }
}

/// Seeds where a copy of the photo was painted on, or nothing if less than half of it still is the photo.
pub(super) fn diff(raster: &Raster, photo: &Picture) -> Option<Vec<Seed>> {
    let mut n_changed = 0;
    let seeds = std::iter::zip(&raster.rgba, photo.rgb())
        .map(|(&pixel, original)| {
            let is_changed = std::iter::zip(pixel, original).any(|(now, &before)| now.abs_diff(before) >= CHANGE);
            n_changed += usize::from(is_changed);
            match brush(pixel) {
                _ if !is_changed => Seed::Unlabelled,
                Seed::Unlabelled => glaze(pixel, *original),
                seed => seed,
            }
        })
        .collect();
    (2 * n_changed <= raster.rgba.len()).then_some(seeds)
}

/// What a half-transparent brush over a colour says: the brush towards whose colour it has moved, nearly straight and far enough.
fn glaze([r, g, b, _]: [u8; 4], original: [u8; 3]) -> Seed {
    let (pixel, original) = ([r, g, b].map(f64::from), original.map(f64::from));
    let moved = |colour: [f64; 3]| {
        let way: [f64; 3] = std::array::from_fn(|i| colour[i] - original[i]);
        let step: [f64; 3] = std::array::from_fn(|i| pixel[i] - original[i]);
        let length: f64 = way.iter().map(|x| x * x).sum();
        let share = way.iter().zip(step).map(|(way, step)| way * step).sum::<f64>() / length.max(1.0);
        share >= 0.25 && way.iter().zip(step).all(|(way, step)| (step - share * way).abs() <= STRAY)
    };
    match (moved([255.0, 0.0, 0.0]), moved([0.0, 0.0, 255.0])) {
        (true, false) => Seed::Foreground,
        (false, true) => Seed::Background,
        _ => Seed::Unlabelled,
    }
}

/// How far a channel of glazed colour may be from the straight way to the brush.
const STRAY: f64 = 24.0;

/// The smallest change of a channel that is painting rather than another program's JPEG rounding.
const CHANGE: u8 = 32;

/// What a brush of this colour says.
pub(super) fn brush([r, g, b, a]: [u8; 4]) -> Seed {
    let is_hue = |value: u8, others: [u8; 2]| value >= 128 && others.into_iter().all(|other| other <= value / 2);
    match a {
        0..128 => Seed::Unlabelled,
        _ if is_hue(r, [g, b]) => Seed::Foreground,
        _ if is_hue(b, [r, g]) => Seed::Background,
        _ => Seed::Unlabelled,
    }
}

fn trimap(value: u16) -> Option<Seed> {
    match value {
        255 => Some(Seed::Foreground),
        0 => Some(Seed::Background),
        _ => Some(Seed::Unlabelled),
    }
}

/// The same for values that JPEG has changed a little.
fn about_trimap(value: u16) -> Option<Seed> {
    match value {
        231..=255 => Some(Seed::Foreground),
        0..=24 => Some(Seed::Background),
        _ => Some(Seed::Unlabelled),
    }
}

fn grabcut(value: u16) -> Option<Seed> {
    match value {
        0 => Some(Seed::Background),
        1 => Some(Seed::Foreground),
        2 | 3 => Some(Seed::Unlabelled),
        _ => None,
    }
}

fn palette(index: u16) -> Option<Seed> {
    match index {
        1 => Some(Seed::Foreground),
        2 => Some(Seed::Background),
        0 | 255 => Some(Seed::Unlabelled),
        _ => None,
    }
}

/// Reads every value, transparent pixels being unlabelled whatever lies under them.
fn opaque_only<T: Copy>(raster: &Raster, values: &[T], read: fn(T) -> Option<Seed>) -> Option<Vec<Seed>> {
    let read_pixel =
        |(&value, pixel): (&T, &[u8; 4])| if pixel[3] < 128 { Some(Seed::Unlabelled) } else { read(value) };
    std::iter::zip(values, &raster.rgba).map(read_pixel).collect()
}
