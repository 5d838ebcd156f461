//! Where the next stroke would help most.
//!
//! A pixel is wrong with probability min(p, 1−p), and a stroke settles what surrounds it. So the pixels are split into connected
//! regions of doubt, |x| below [`DOUBT`] on one side of one half, and the region with the largest expected number of wrong pixels,
//! Σ min(p, 1−p), is suggested, at its point deepest inside. The label is left to whoever looks at it.

use serde::{Deserialize, Serialize};

use crate::grid::{Shape, components, deepest};
use crate::kernel::logistic::probability;

/// Log-odds up to which a pixel is in doubt.
const DOUBT: f64 = 2.0;

/// A place for the next stroke.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Suggestion {
    /// Column.
    pub x: usize,
    /// Row.
    pub y: usize,
    /// Pixels that a stroke there is expected to put right.
    pub gain: f64,
}

/// The suggestion for log-odds `s` = −x over the grid; none where nothing is in doubt.
pub(super) fn suggestion(shape: Shape, s: &[f64]) -> Option<Suggestion> {
    let doubt = |pixel: usize| s[pixel].abs() < DOUBT;
    let gain = |region: &Vec<usize>| region.iter().map(|&pixel| probability(-s[pixel].abs())).sum::<f64>();
    let sides = [true, false].map(|inside| components(shape, |pixel| doubt(pixel) && (s[pixel] < 0.0) == inside));
    let regions = sides.into_iter().flatten().map(|region| (gain(&region), region));
    // The first of equals.
    let (gain, region) = regions.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    let point = deepest(shape, &region);
    Some(Suggestion { x: point % shape.width, y: point / shape.width, gain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_doubt_is_suggested_in_its_middle() {
        let shape = Shape::new(12, 7);
        let value = |pixel: usize| match (pixel % 12, pixel / 12) {
            (1..=5, 1..=5) => 0.5,
            (8..=10, 2..=4) => 0.1,
            (x, _) if x < 7 => 9.0,
            _ => -9.0,
        };
        let s: Vec<f64> = (0..84).map(value).collect();
        let found = suggestion(shape, &s).unwrap();
        assert_eq!((found.x, found.y), (3, 3));
        assert!((found.gain - 25.0 / (1.0 + 0.5_f64.exp())).abs() < 1e-9);
        assert_eq!(suggestion(shape, &[5.0; 84]), None);
    }
}
