//! Grey labels as people save them: soft edges and JPEG.
//!
//! A pixel belongs to the level 255, 128 or 0 that it has (within a tolerance if the file was compressed with losses); other values are soft
//! edges. On the way from 255 down to 0 an edge passes 128, so where there are soft edges a pixel of 128 beside a brighter one
//! is an edge, not background. Soft pixels are left out and counted. When they are more than a fifth of the picture it is no picture of strokes.

use super::super::raster::Raster;
use super::paint::near;
use crate::grid::Seed;

/// Labels, and the number of pixels left out; nothing when too many are between the levels.
pub(super) fn labels(raster: &Raster, values: &[u16]) -> Option<(Vec<Seed>, usize)> {
    let tolerance = u16::from(raster.tolerance_of_levels());
    let level = |value: u16| match value {
        _ if value <= tolerance => Some(Seed::Unlabelled),
        _ if value.abs_diff(128) <= tolerance => Some(Seed::Background),
        _ if value + tolerance >= 255 && value <= 255 => Some(Seed::Foreground),
        _ => None,
    };
    let is_visible = |pixel: usize| raster.rgba[pixel][3] >= 128;
    let mut seeds: Vec<Option<Seed>> = values
        .iter()
        .enumerate()
        .map(|(pixel, &value)| if is_visible(pixel) { level(value) } else { Some(Seed::Unlabelled) })
        .collect();
    let n_between = seeds.iter().filter(|seed| seed.is_none()).count();
    if n_between == 0 {
        return Some((seeds.into_iter().flatten().collect(), 0));
    }
    if 5 * n_between > values.len() {
        return None;
    }
    let is_bright: Vec<bool> =
        values.iter().enumerate().map(|(pixel, &value)| is_visible(pixel) && value > 128 + tolerance).collect();
    let beside_bright = near(raster.shape, &is_bright, 1);
    for (seed, beside_bright) in seeds.iter_mut().zip(beside_bright) {
        if *seed == Some(Seed::Background) && beside_bright {
            *seed = None;
        }
    }
    let n_soft = seeds.iter().filter(|seed| seed.is_none()).count();
    Some((seeds.into_iter().map(|seed| seed.unwrap_or(Seed::Unlabelled)).collect(), n_soft))
}
