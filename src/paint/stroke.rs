//! One stroke of a round brush: the path of the pointer in pixels of the photo, and the hard pixels under it.
//!
//! A pixel is covered when its centre is within half the brush's size of the path, or when the path runs through it, so that a
//! brush of one pixel leaves no gaps. Around one piece of the path the covered centres of a row are one interval, because the set of
//! points within a distance of a piece is convex: it is the union of the intervals of two discs and of the rectangle between them.

use serde::Deserialize;

use crate::grid::{Seed, Shape};

/// The most points of one stroke.
pub(super) const MAX_POINTS: usize = 20_000;
/// The most pixels that a stroke may visit, counting each visit.
const MAX_VISITS: f64 = 2e9;

/// What a stroke does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tool {
    /// Says: object.
    Object,
    /// Says: background.
    Background,
    /// Says the opposite of the mask under most of it.
    Auto,
    /// Takes strokes away.
    Eraser,
}

impl Tool {
    /// What it leaves on a pixel; `None` for the tool that has yet to look.
    pub(super) fn seed(self) -> Option<Seed> {
        match self {
            Self::Object => Some(Seed::Foreground),
            Self::Background => Some(Seed::Background),
            Self::Eraser => Some(Seed::Unlabelled),
            Self::Auto => None,
        }
    }
}

/// A stroke as the page sends it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stroke {
    pub(super) tool: Tool,
    /// Diameter of the brush, in pixels of the photo.
    pub(super) size: f64,
    /// The path, x and y from the top left corner.
    pub(super) points: Vec<[f64; 2]>,
    /// The log-odds above which pixels are in the mask that [`Tool::Auto`] looks at.
    #[serde(default)]
    pub(super) threshold: f64,
}

impl Stroke {
    /// Refuses what no brush could have drawn on a photo of this shape.
    pub(super) fn check(&self, shape: Shape) -> Result<(), String> {
        let (width, height) = (shape.width as f64, shape.height as f64);
        let most = width.max(height);
        if !(1.0..=most.max(1.0)).contains(&self.size) {
            return Err(format!("the size of the brush is {}: it must be from 1 to {most}", self.size));
        }
        if !self.threshold.is_finite() {
            return Err("the threshold of the mask is no number".into());
        }
        if self.points.is_empty() || self.points.len() > MAX_POINTS {
            return Err(format!("a stroke has from 1 to {MAX_POINTS} points, this one {}", self.points.len()));
        }
        let inside = |&[x, y]: &[f64; 2]| (0.0..=width).contains(&x) && (0.0..=height).contains(&y);
        if let Some([x, y]) = self.points.iter().find(|point| !inside(point)) {
            return Err(format!("the point {x}, {y} is outside of the photo, which is {shape}"));
        }
        let visits: f64 = self.pieces().map(|[a, b]| (self.size + 1.0) * (distance(a, b) + self.size + 1.0)).sum();
        if visits > MAX_VISITS {
            return Err("the stroke is too long for so large a brush".into());
        }
        Ok(())
    }

    /// Calls `cover` with the pixels of every row that the stroke covers; a pixel may come up more than once.
    pub(super) fn cover(&self, shape: Shape, mut cover: impl FnMut(std::ops::Range<usize>)) {
        let radius = self.size / 2.0;
        for [a, b] in self.pieces() {
            let (top, bottom) = (a[1].min(b[1]) - radius, a[1].max(b[1]) + radius);
            for row in centres(top, bottom, shape.height) {
                let Some((from, to)) = interval(a, b, radius, row as f64 + 0.5) else { continue };
                let columns = centres(from, to, shape.width);
                if !columns.is_empty() {
                    cover(row * shape.width + columns.start..row * shape.width + columns.end);
                }
            }
            let steps = (2.0 * distance(a, b)).ceil().max(1.0);
            for step in 0..=steps as usize {
                let t = step as f64 / steps;
                let [x, y] = [0, 1].map(|i| a[i] + t * (b[i] - a[i]));
                let (column, row) = ((x as usize).min(shape.width - 1), (y as usize).min(shape.height - 1));
                let pixel = row * shape.width + column;
                cover(pixel..pixel + 1);
            }
        }
    }

    /// From point to point; a single point is a piece of no length.
    fn pieces(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        let first = self.points.first().map(|&point| [point; 2]);
        first.into_iter().chain(self.points.windows(2).map(|pair| [pair[0], pair[1]]))
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// The pixels i of a line of n with `from` < i + ½ ≤ `to`: of two that are equally near only one.
fn centres(from: f64, to: f64, n: usize) -> std::ops::Range<usize> {
    let first = ((from - 0.5).floor() + 1.0).max(0.0) as usize;
    first..((to + 0.5).floor().max(0.0) as usize).min(n)
}

/// The x within `radius` of the piece from `a` to `b` on the line of that y.
fn interval(a: [f64; 2], b: [f64; 2], radius: f64, y: f64) -> Option<(f64, f64)> {
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut take = |x: f64| {
        from = from.min(x);
        to = to.max(x);
    };
    for [centre_x, centre_y] in [a, b] {
        let square = radius * radius - (y - centre_y).powi(2);
        if square >= 0.0 {
            take(centre_x - square.sqrt());
            take(centre_x + square.sqrt());
        }
    }
    let length = distance(a, b);
    if length > 0.0 {
        let across = [(b[1] - a[1]) * radius / length, (a[0] - b[0]) * radius / length];
        let corner = |point: [f64; 2], side: f64| [point[0] + side * across[0], point[1] + side * across[1]];
        let corners = [corner(a, 1.0), corner(b, 1.0), corner(b, -1.0), corner(a, -1.0)];
        for i in 0..4 {
            let ([x0, y0], [x1, y1]) = (corners[i], corners[(i + 1) % 4]);
            if (y0 <= y) != (y1 <= y) {
                take(x0 + (y - y0) / (y1 - y0) * (x1 - x0));
            }
        }
    }
    (from <= to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stroke(size: f64, points: Vec<[f64; 2]>) -> Stroke {
        Stroke { tool: Tool::Object, size, points, threshold: 0.0 }
    }

    fn covered(stroke: &Stroke, shape: Shape) -> Vec<bool> {
        let mut covered = vec![false; shape.n_pixels()];
        stroke.cover(shape, |pixels| covered[pixels].fill(true));
        covered
    }

    /// How far a point is from the nearest point of the path.
    fn distance_to_path(stroke: &Stroke, [x, y]: [f64; 2]) -> f64 {
        let to_piece = |[a, b]: [[f64; 2]; 2]| {
            let along = [b[0] - a[0], b[1] - a[1]];
            let square = along[0] * along[0] + along[1] * along[1];
            let t = ((x - a[0]) * along[0] + (y - a[1]) * along[1]) / square;
            let t = if square > 0.0 { t.clamp(0.0, 1.0) } else { 0.0 };
            distance([x, y], [a[0] + t * along[0], a[1] + t * along[1]])
        };
        stroke.pieces().map(to_piece).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn one_pixel_is_one_pixel() {
        let shape = Shape::new(5, 4);
        for (x, y, pixel) in [(0.5, 0.5, 0), (2.2, 1.9, 7), (3.0, 2.0, 13), (5.0, 4.0, 19), (4.99, 0.0, 4)] {
            let found: Vec<usize> = (0..20).filter(|&i| covered(&stroke(1.0, vec![[x, y]]), shape)[i]).collect();
            assert_eq!(found, [pixel], "{x} {y}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let shape = Shape::new(40, 30);
        let at = |size, x, y| stroke(size, vec![[1.0, 1.0], [x, y]]).check(shape);
        assert!(at(3.0, 40.0, 30.0).is_ok());
        for (size, x, y) in [
            (0.5, 1.0, 1.0),
            (-1.0, 1.0, 1.0),
            (41.0, 1.0, 1.0),
            (f64::NAN, 1.0, 1.0),
            (3.0, f64::NAN, 1.0),
            (3.0, -0.1, 1.0),
            (3.0, 1.0, 1e300),
            (3.0, f64::INFINITY, 1.0),
        ] {
            assert!(at(size, x, y).is_err(), "{size} {x} {y}");
        }
        assert!(stroke(3.0, vec![]).check(shape).is_err());
        assert!(stroke(3.0, vec![[1.0, 1.0]; MAX_POINTS + 1]).check(shape).is_err());
        let large = Shape::new(20_000, 10_000);
        assert!(stroke(9_000.0, vec![[1.0, 1.0]; MAX_POINTS]).check(large).is_err());
    }

    proptest! {
        #![proptest_config(crate::cases(128))]

        /// Against the distance of every pixel's centre to the path.
        #[test]
        fn the_pixels_are_those_near_the_path(
            size in 1.0..20.0_f64,
            points in prop::collection::vec((0.0..30.0_f64, 0.0..20.0_f64).prop_map(|(x, y)| [x, y]), 1..6),
        ) {
            let shape = Shape::new(30, 20);
            let stroke = stroke(size, points);
            stroke.check(shape).unwrap();
            let covered = covered(&stroke, shape);
            for (pixel, &is_covered) in covered.iter().enumerate() {
                let centre = [(pixel % 30) as f64 + 0.5, (pixel / 30) as f64 + 0.5];
                let distance = distance_to_path(&stroke, centre);
                if distance < size / 2.0 - 1e-9 {
                    prop_assert!(is_covered, "pixel {pixel} at {distance}");
                }
                // The path runs through no pixel whose centre is further away than its corners.
                if distance > (size / 2.0).max(0.5_f64.hypot(0.5)) + 1e-9 {
                    prop_assert!(!is_covered, "pixel {pixel} at {distance}");
                }
            }
            // A brush of one pixel leaves no gaps: from covered pixel to covered pixel by steps to one of eight neighbours.
            let first = covered.iter().position(|&is_covered| is_covered).unwrap();
            let (mut reached, mut queue) = (vec![false; 600], vec![first]);
            while let Some(pixel) = queue.pop() {
                if !std::mem::replace(&mut reached[pixel], true) {
                    let (x, y) = (pixel % 30, pixel / 30);
                    let near = (0..600_usize).filter(|&p| (p % 30).abs_diff(x) <= 1 && (p / 30).abs_diff(y) <= 1);
                    queue.extend(near.filter(|&p| covered[p] && !reached[p]));
                }
            }
            prop_assert_eq!(reached, covered);
        }
    }
}
