//! The mode every pixel climbs to.
//!
//! A step moves the window to the mean of the pixels in it (flat kernel); a pixel has arrived when the step is shorter
//! than a tenth of a pixel and of a colour unit together. The whole window is tested four pixels at a time, without
//! branches, from blocks that cover each of its rows.
//!
//! Most windows travel where another has been. A window that comes by a pixel of nearly its own colour shares that
//! pixel's mode, in both directions: pixels on the way get the mode at its end, and the way ends at a pixel whose mode
//! is known. Sharing stays inside a square tile, and a tile is scanned row by row by one thread, so who shares with
//! whom does not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Layer;
use super::luv::{Block, LANES, Luv, lightness_weight};
use crate::field::Shape;

/// Width and height of the tiles inside which pixels share modes.
const TILE: usize = 64;

/// Squared length of a step that counts as standing still.
const STILL: f32 = 0.01;

/// Steps after which a window stays where it is.
const MAX_STEPS: usize = 100;

/// Squared distance in colour, in units of hr², up to which a passing window shares a pixel's mode.
pub(super) const SHARE: f32 = 0.5;

/// The colour of every pixel's mode, row by row. Windows share the mode of a pixel they pass within `share`·hr² (squared)
/// of its colour; with 0 every pixel climbs alone. `progress` hears the part of the tiles done.
pub(super) fn modes(luv: &Luv, layer: &Layer, share: f32, progress: &(dyn Fn(f64) + Sync)) -> Vec<[f32; 3]> {
    let tiles = Tile::cover(luv.shape());
    let done = AtomicUsize::new(0);
    let found: Vec<Vec<[f32; 3]>> = tiles
        .par_iter()
        .map(|tile| {
            let modes = tile.modes(luv, layer, share);
            progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / tiles.len() as f64);
            modes
        })
        .collect();
    let width = luv.shape().width;
    let mut modes = vec![[0.0; 3]; luv.shape().n_pixels()];
    for (tile, found) in tiles.iter().zip(found) {
        for (y, row) in (tile.top..).zip(found.chunks(tile.shape.width)) {
            let start = y * width + tile.left;
            modes[start..start + row.len()].copy_from_slice(row);
        }
    }
    modes
}

/// A rectangle of the photo.
struct Tile {
    left: usize,
    top: usize,
    shape: Shape,
}

/// What is known of a pixel's mode.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Unknown,
    OnTheWay,
    Known,
}

impl Tile {
    fn cover(shape: Shape) -> Vec<Self> {
        let tops = (0..shape.height).step_by(TILE);
        tops.flat_map(|top| {
            (0..shape.width).step_by(TILE).map(move |left| {
                let shape = Shape::new(TILE.min(shape.width - left), TILE.min(shape.height - top));
                Self { left, top, shape }
            })
        })
        .collect()
    }

    /// The index in this tile of the pixel under a window, if the tile has it.
    fn index(&self, window: &Window) -> Option<usize> {
        let x = (window.x + 0.5) as usize;
        let y = (window.y + 0.5) as usize;
        let inside =
            x >= self.left && y >= self.top && x < self.left + self.shape.width && y < self.top + self.shape.height;
        inside.then(|| (y - self.top) * self.shape.width + x - self.left)
    }

    fn modes(&self, luv: &Luv, layer: &Layer, share: f32) -> Vec<[f32; 3]> {
        let n_pixels = self.shape.n_pixels();
        let mut modes = vec![[0.0; 3]; n_pixels];
        let mut states = vec![State::Unknown; n_pixels];
        let mut way = Vec::new();
        let share = share * (layer.range() * layer.range()) as f32;
        for start in 0..n_pixels {
            if states[start] != State::Unknown {
                continue;
            }
            let (x, y) = (self.left + start % self.shape.width, self.top + start / self.shape.width);
            let mut window = Window { x: x as f32, y: y as f32, luv: luv.at(x, y) };
            states[start] = State::OnTheWay;
            way.push(start);
            for _ in 0..MAX_STEPS {
                let length = window.step(luv, layer);
                if length < STILL {
                    break;
                }
                let Some(under) = self.index(&window) else { continue };
                if states[under] == State::OnTheWay {
                    continue;
                }
                let (x, y) = (self.left + under % self.shape.width, self.top + under / self.shape.width);
                if window.distance(luv.at(x, y)) >= share {
                    continue;
                }
                if states[under] == State::Known {
                    window.luv = modes[under];
                    break;
                }
                states[under] = State::OnTheWay;
                way.push(under);
            }
            for pixel in way.drain(..) {
                modes[pixel] = window.luv;
                states[pixel] = State::Known;
            }
        }
        modes
    }
}

/// A window: its centre on the grid and in colour.
struct Window {
    x: f32,
    y: f32,
    luv: [f32; 3],
}

impl Window {
    /// Squared distance in colour.
    fn distance(&self, luv: [f32; 3]) -> f32 {
        let [l, u, v] = [luv[0] - self.luv[0], luv[1] - self.luv[1], luv[2] - self.luv[2]];
        lightness_weight(self.luv[0]) * l * l + u * u + v * v
    }

    /// Moves to the mean of the pixels inside; the squared length of the step.
    fn step(&mut self, luv: &Luv, layer: &Layer) -> f32 {
        let radius = layer.spatial() as f32;
        let mut sums = Sums {
            weight: lightness_weight(self.luv[0]),
            limit: (layer.range() * layer.range()) as f32,
            ..Sums::default()
        };
        let top = (self.y - radius).ceil().max(0.0) as usize;
        let bottom = ((self.y + radius) as usize).min(luv.shape().height - 1);
        for y in top..=bottom {
            let dy = y as f32 - self.y;
            let reach = radius * radius - dy * dy;
            let half = reach.max(0.0).sqrt();
            let first = (self.x - half).max(0.0) as usize / LANES;
            let last = ((self.x + half) as usize / LANES).min(luv.row(y).len() - 1);
            sums.add_row(self, &luv.row(y)[first..=last], (first * LANES) as f32 - self.x, dy, reach);
        }
        let [n, x, y, l, u, v] = sums.total();
        if n == 0.0 {
            return 0.0;
        }
        let step = [x / n, y / n, l / n, u / n, v / n];
        self.x += step[0];
        self.y += step[1];
        for (value, step) in self.luv.iter_mut().zip(&step[2..]) {
            *value += step;
        }
        step.iter().map(|s| s * s).sum()
    }
}

type Lanes = [f32; LANES];

/// Sums over the pixels in a window, lane by lane: how many, and their offsets from its centre.
#[derive(Default)]
struct Sums {
    weight: f32,
    limit: f32,
    n: Lanes,
    x: Lanes,
    y: Lanes,
    luv: [Lanes; 3],
}

impl Sums {
    #[inline]
    fn add_row(&mut self, window: &Window, blocks: &[Block], mut offset: f32, dy: f32, reach: f32) {
        let mut n = [0.0; LANES];
        let [l, u, v] = window.luv;
        for block in blocks {
            for lane in 0..LANES {
                let dx = offset + lane as f32;
                let dl = block[0][lane] - l;
                let du = block[1][lane] - u;
                let dv = block[2][lane] - v;
                let inside = (dx * dx < reach) & (self.weight * dl * dl + du * du + dv * dv < self.limit);
                n[lane] += if inside { 1.0 } else { 0.0 };
                self.x[lane] += if inside { dx } else { 0.0 };
                self.luv[0][lane] += if inside { dl } else { 0.0 };
                self.luv[1][lane] += if inside { du } else { 0.0 };
                self.luv[2][lane] += if inside { dv } else { 0.0 };
            }
            offset += LANES as f32;
        }
        for ((total, y), n) in self.n.iter_mut().zip(&mut self.y).zip(n) {
            *total += n;
            *y += n * dy;
        }
    }

    fn total(&self) -> [f32; 6] {
        let [l, u, v] = self.luv;
        [self.n, self.x, self.y, l, u, v].map(|lanes| lanes.iter().sum())
    }
}
