//! The window of mean shift and its step: the mean of the pixels inside, by a flat kernel.
//!
//! A pixel is inside when its offset on the grid is shorter than hs and its offset in colour shorter than hr. Every row of the
//! window is as long as the longest, and both tests are made on [`LANES`] pixels at once without a branch: pixels outside count as
//! zero. Sums are of offsets from the centre, small numbers that f32 holds well. A pixel's lane is its column in the
//! window, and lanes are summed in a fixed order, so that the instruction set does not show in the result.

use fearless_simd::{Level, Select, Simd, SimdBase, dispatch, f32x8};

use super::Layer;
use super::luv::{LANES, Luv, lightness_weight};
use crate::kernel::vector;

/// Column, row, L, u and v.
pub(super) type Point = [f32; 5];

/// How far windows of a layer reach.
pub(super) struct Reach {
    /// hs²
    spatial: f32,
    /// hr²
    range: f32,
    /// Columns and rows away from the pixel under the centre that may be inside.
    pixels: usize,
    level: Level,
}

impl Reach {
    /// The reach of a layer's windows.
    pub(super) fn new(layer: &Layer) -> Self {
        Self {
            spatial: (layer.spatial() * layer.spatial()) as f32,
            range: (layer.range() * layer.range()) as f32,
            pixels: Self::pixels(layer),
            level: vector::level(),
        }
    }

    /// Columns and rows away from the pixel under the centre that may be inside.
    pub(super) fn pixels(layer: &Layer) -> usize {
        // The centre is at most half a pixel from the middle of the pixel under it, in either direction.
        (layer.spatial() + 0.5) as usize
    }

    /// About how many pixels a window has.
    pub(super) fn area(&self) -> usize {
        (2 * self.pixels + 1).pow(2)
    }
}

/// A window: its centre on the grid and in colour.
pub(super) struct Window {
    x: f32,
    y: f32,
    luv: [f32; 3],
}

impl Window {
    /// The window centred on a pixel.
    pub(super) fn on(luv: &Luv, (x, y): (usize, usize)) -> Self {
        Self { x: x as f32, y: y as f32, luv: luv.at(x, y) }
    }

    /// The window with this centre.
    pub(super) fn at([x, y, l, u, v]: Point) -> Self {
        Self { x, y, luv: [l, u, v] }
    }

    /// The centre.
    pub(super) fn centre(&self) -> Point {
        let [l, u, v] = self.luv;
        [self.x, self.y, l, u, v]
    }

    /// Column and row of the pixel under the centre.
    pub(super) fn pixel(&self) -> (usize, usize) {
        ((self.x + 0.5) as usize, (self.y + 0.5) as usize)
    }

    /// Squared distance of a colour from the centre.
    pub(super) fn distance(&self, luv: [f32; 3]) -> f32 {
        let [l, u, v] = [0, 1, 2].map(|c| luv[c] - self.luv[c]);
        lightness_weight(self.luv[0]) * l * l + u * u + v * v
    }

    /// Moves to the mean of the pixels inside; the squared length of the step.
    pub(super) fn step(&mut self, luv: &Luv, reach: &Reach) -> f32 {
        let [n, x, y, l, u, v] = dispatch!(reach.level, simd => self.sums(simd, luv, reach));
        if n == 0.0 {
            return 0.0;
        }
        let [x, y, l, u, v] = [x, y, l, u, v].map(|sum| sum / n);
        self.x += x;
        self.y += y;
        self.luv = [self.luv[0] + l, self.luv[1] + u, self.luv[2] + v];
        x * x + y * y + l * l + u * u + v * v
    }

    /// Sums over the pixels inside: how many, and their offsets in x, y, L, u and v.
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S, luv: &Luv, reach: &Reach) -> [f32; 6] {
        let all = |value: f32| f32x8::splat(simd, value);
        let (zero, one, block) = (all(0.0), all(1.0), all(LANES as f32));
        let [mut sum_n, mut sum_x, mut sum_y, mut sum_l, mut sum_u, mut sum_v] = [zero; 6];
        let [l, u, v] = self.luv.map(all);
        let (weight, range) = (all(lightness_weight(self.luv[0])), all(reach.range));
        let (column, row) = self.pixel();
        let leftmost = column as f32 - reach.pixels as f32 - self.x;
        let leftmost = all(leftmost) + f32x8::from_slice(simd, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let count = (2 * reach.pixels + 1).next_multiple_of(LANES);
        for y in row.saturating_sub(reach.pixels)..(row + reach.pixels + 1).min(luv.shape().height) {
            let planes = luv.stretch(column, reach.pixels, y, count);
            let [ls, us, vs] = planes.map(|plane| plane.as_chunks::<LANES>().0);
            let dy = y as f32 - self.y;
            let reach_x = all(reach.spatial - dy * dy);
            let mut dx = leftmost;
            let mut n = zero;
            for ((ls, us), vs) in ls.iter().zip(us).zip(vs) {
                let dl = f32x8::from_slice(simd, ls) - l;
                let du = f32x8::from_slice(simd, us) - u;
                let dv = f32x8::from_slice(simd, vs) - v;
                let near = (dx * dx).simd_lt(reach_x);
                let alike = (weight * (dl * dl) + du * du + dv * dv).simd_lt(range);
                let inside = near & alike;
                n += inside.select(one, zero);
                sum_x += inside.select(dx, zero);
                sum_l += inside.select(dl, zero);
                sum_u += inside.select(du, zero);
                sum_v += inside.select(dv, zero);
                dx += block;
            }
            sum_n += n;
            sum_y += n * all(dy);
        }
        [sum_n, sum_x, sum_y, sum_l, sum_u, sum_v].map(|lanes| total(lanes.into()))
    }
}

/// The sum of all lanes.
#[inline(always)]
fn total(lanes: [f32; LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Picture, Shape};

    #[test]
    fn every_instruction_set_takes_the_same_steps_to_the_bit() {
        let shape = Shape::new(61, 47);
        let colour = |p: usize| [(p * 7919 % 251) as u8, (p % 61 * 4) as u8, (p / 61 * 5) as u8];
        let picture = Picture::new(shape, (0..shape.n_pixels()).map(colour).collect());
        for layer in ["2.5,20,1", "7,6.5,20", "10,30,100", "40,50,1"] {
            let layer: Layer = layer.parse().unwrap();
            let luv = Luv::new(&picture, Reach::pixels(&layer));
            let climb = |level: Level, start: usize| {
                let reach = Reach { level, ..Reach::new(&layer) };
                let mut window = Window::on(&luv, (start % 61, start / 61));
                (0..4).for_each(|_| _ = window.step(&luv, &reach));
                window.centre().map(f32::to_bits)
            };
            let levels = vector::levels();
            for start in (0..shape.n_pixels()).step_by(13) {
                let first = climb(levels[0], start);
                assert!(levels.iter().all(|&level| climb(level, start) == first), "{layer} from {start}");
            }
        }
    }
}
