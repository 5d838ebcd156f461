//! The window of mean shift and its step: the mean of the pixels inside, by a flat kernel.
//!
//! A pixel is inside when its offset on the grid is shorter than hs and its offset in colour shorter than hr. Each row of
//! the window is covered by whole blocks of [`LANES`] pixels, and both tests are made on every lane without a branch:
//! outside pixels are masked to zero before they are added. Sums are of offsets from the centre, small numbers that f32
//! holds well, lane by lane in scan order.

use super::Layer;
use super::luv::{LANES, Luv, lightness_weight};

type Lanes = [f32; LANES];

/// How far windows of a layer reach.
pub(super) struct Reach {
    /// hs²
    spatial: f32,
    /// hr²
    range: f32,
    /// For rows 0, 1, 2, … away from the pixel under the centre: columns away from it that may be inside.
    columns: Vec<usize>,
}

impl Reach {
    /// The reach of a layer's windows.
    pub(super) fn new(layer: &Layer) -> Self {
        // The centre is at most half a pixel from the middle of the pixel under it, in either direction.
        let hs = layer.spatial();
        let nearest = (0..).map(|row| (f64::from(row) - 0.5).max(0.0)).take_while(|&dy| dy < hs);
        let columns = nearest.map(|dy| ((hs * hs - dy * dy).sqrt() + 0.5) as usize).collect();
        Self { spatial: (hs * hs) as f32, range: (layer.range() * layer.range()) as f32, columns }
    }

    /// About how many pixels a window has.
    pub(super) fn area(&self) -> usize {
        (4.0 * self.spatial) as usize + 1
    }
}

/// A window: its centre on the grid and in colour.
pub(super) struct Window {
    x: f32,
    y: f32,
    pub(super) luv: [f32; 3],
}

impl Window {
    /// The window centred on a pixel.
    pub(super) fn on(luv: &Luv, (x, y): (usize, usize)) -> Self {
        Self { x: x as f32, y: y as f32, luv: luv.at(x, y) }
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
        let [n, x, y, l, u, v] = self.sums(luv, reach).map(|lanes| lanes.iter().sum::<f32>());
        if n == 0.0 {
            return 0.0;
        }
        let [x, y, l, u, v] = [x, y, l, u, v].map(|sum| sum / n);
        self.x += x;
        self.y += y;
        self.luv = [self.luv[0] + l, self.luv[1] + u, self.luv[2] + v];
        x * x + y * y + l * l + u * u + v * v
    }

    /// Sums over the pixels inside, lane by lane: how many, and their offsets in x, y, L, u and v.
    // Inlined, the sums across lanes in `step` lead the compiler to mix up lanes here, at twice the time.
    #[inline(never)]
    fn sums(&self, luv: &Luv, reach: &Reach) -> [Lanes; 6] {
        let [mut sum_n, mut sum_x, mut sum_y, mut sum_l, mut sum_u, mut sum_v] = [[0.0; LANES]; 6];
        let [l, u, v] = self.luv;
        let weight = lightness_weight(l);
        let (column, row) = self.pixel();
        let rows = reach.columns.len() - 1;
        for y in row.saturating_sub(rows)..(row + rows + 1).min(luv.shape().height) {
            let columns = reach.columns[y.abs_diff(row)];
            let blocks = luv.row(y);
            let first = column.saturating_sub(columns) / LANES;
            let end = ((column + columns) / LANES + 1).min(blocks.len());
            let dy = y as f32 - self.y;
            let reach_x = reach.spatial - dy * dy;
            let offset = (first * LANES) as f32 - self.x;
            let mut dx: Lanes = std::array::from_fn(|lane| offset + lane as f32);
            let mut n = [0.0; LANES];
            for block in &blocks[first..end] {
                let dl = block[0].map(|value| value - l);
                let du = block[1].map(|value| value - u);
                let dv = block[2].map(|value| value - v);
                let inside: [u32; LANES] = std::array::from_fn(|k| {
                    let near = dx[k] * dx[k] < reach_x;
                    let alike = weight * (dl[k] * dl[k]) + du[k] * du[k] + dv[k] * dv[k] < reach.range;
                    u32::from(near & alike).wrapping_neg()
                });
                add(&mut n, [1.0; LANES], inside);
                add(&mut sum_x, dx, inside);
                add(&mut sum_l, dl, inside);
                add(&mut sum_u, du, inside);
                add(&mut sum_v, dv, inside);
                dx = dx.map(|dx| dx + LANES as f32);
            }
            for k in 0..LANES {
                sum_n[k] += n[k];
                sum_y[k] += n[k] * dy;
            }
        }
        [sum_n, sum_x, sum_y, sum_l, sum_u, sum_v]
    }
}

/// Adds the values where `inside` is all ones, nothing where it is all zeros (where a value may be NaN).
#[inline(always)]
fn add(sums: &mut Lanes, values: Lanes, inside: [u32; LANES]) {
    for k in 0..LANES {
        sums[k] += f32::from_bits(values[k].to_bits() & inside[k]);
    }
}
