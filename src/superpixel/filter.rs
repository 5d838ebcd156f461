//! The mode every pixel climbs to.
//!
//! A step moves the window to the mean of the pixels in it (flat kernel); a pixel has arrived when the step is shorter
//! than a tenth of a pixel and of a colour unit together. A pixel starts where it is, or at its mode in the layer before, which
//! all pixels of that mode do together.
//!
//! Most windows travel where another has been, so modes are shared (the idea behind EDISON's speed-ups):
//! - a window that comes by a pixel of about its own colour shares that pixel's mode, in both directions: pixels on the
//!   way get the mode at its end, and the way ends at a pixel whose mode is known;
//! - a pixel of nearly the colour of its left or upper neighbour takes the neighbour's mode and does not travel at all,
//!   as long as that mode is near its own colour, which keeps a slow gradient from becoming one region.
//!
//! Sharing stays inside a square tile, and a tile is scanned row by row by one thread, so who shares with whom does not
//! depend on the number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Layer;
use super::luv::Luv;
use super::window::{Point, Reach, Window};
use crate::grid::Shape;
use crate::{Checkpoint, Result};

/// Width and height of the tiles inside which pixels share modes.
const TILE: usize = 64;

/// Squared length of a step that counts as standing still.
const STILL: f32 = 0.01;

/// Steps after which a window stays where it is.
const MAX_STEPS: usize = 100;

/// Squared distance in colour, in units of hr², below which a passing window shares a pixel's mode.
const PASSING: f32 = 0.5;

/// The same for neighbours, from pixel to pixel and from pixel to mode.
const NEIGHBOUR: [f32; 2] = [0.005, 0.25];

/// Pixels that windows look at between two checkpoints.
const CHECK_EVERY: usize = 1 << 20;

/// The modes of a photo's pixels.
#[derive(Default)]
pub(super) struct Modes {
    /// The number of every pixel's mode, row by row.
    of: Vec<u32>,
    points: Vec<Point>,
    /// The modes of every tile's pixels.
    tiles: Vec<Range<u32>>,
}

impl Modes {
    /// The number of a pixel's mode; the same number is the same mode, other numbers may be as well.
    pub(super) fn number(&self, pixel: usize) -> u32 {
        self.of[pixel]
    }

    /// L, u and v of a pixel's mode.
    pub(super) fn colour(&self, pixel: usize) -> [f32; 3] {
        let [_, _, l, u, v] = self.point(pixel);
        [l, u, v]
    }

    /// A pixel's mode.
    pub(super) fn point(&self, pixel: usize) -> Point {
        self.points[self.of[pixel] as usize]
    }

    /// Climbs from every pixel, or from its mode in `start`. Without `share` every mode is climbed to alone. `progress` hears the part
    /// of the tiles done.
    pub(super) fn climb(
        luv: &Luv,
        layer: &Layer,
        start: Option<&Self>,
        share: bool,
        checkpoint: Checkpoint<'_>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self> {
        let reach = Reach::new(layer);
        let unit = if share { (layer.range() * layer.range()) as f32 } else { 0.0 };
        let tiles = Tile::cover(luv.shape());
        let done = AtomicUsize::new(0);
        let found: Vec<Climbed> = tiles
            .par_iter()
            .enumerate()
            .map(|(number, tile)| {
                let start = start.map(|modes| (modes, &modes.tiles[number]));
                let climbed = tile.climb(luv, &reach, start, unit, checkpoint)?;
                progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / tiles.len() as f64);
                Ok(climbed)
            })
            .collect::<Result<_>>()?;
        let width = luv.shape().width;
        let mut modes = Self { of: vec![0; luv.shape().n_pixels()], ..Self::default() };
        for (tile, found) in tiles.iter().zip(found) {
            let first = modes.points.len() as u32;
            modes.points.extend(found.points);
            modes.tiles.push(first..modes.points.len() as u32);
            for (y, row) in (tile.top..).zip(found.of.chunks(tile.shape.width)) {
                let start = y * width + tile.left;
                for (of, found) in modes.of[start..start + row.len()].iter_mut().zip(row) {
                    *of = first + found;
                }
            }
        }
        Ok(modes)
    }
}

/// The modes of a tile's pixels, numbered by themselves.
struct Climbed {
    of: Vec<u32>,
    points: Vec<Point>,
}

/// In place of a mode's number: not known yet, or that of the window which is under way.
const UNKNOWN: u32 = u32::MAX;
const ON_THE_WAY: u32 = u32::MAX - 1;

/// A rectangle of the photo.
struct Tile {
    left: usize,
    top: usize,
    shape: Shape,
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

    /// The index in this tile of a pixel of the photo, if the tile has it.
    fn index(&self, (x, y): (usize, usize)) -> Option<usize> {
        let (x, y) = (x.wrapping_sub(self.left), y.wrapping_sub(self.top));
        (x < self.shape.width && y < self.shape.height).then(|| y * self.shape.width + x)
    }

    /// Column and row in the photo of a pixel of this tile.
    fn pixel(&self, index: usize) -> (usize, usize) {
        (self.left + index % self.shape.width, self.top + index / self.shape.width)
    }

    /// The pixels to the left of and above a pixel of this tile.
    fn before(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let width = self.shape.width;
        let left = (!index.is_multiple_of(width)).then(|| index - 1);
        left.into_iter().chain(index.checked_sub(width))
    }

    /// The modes of this tile's pixels; distances for sharing are in units of `unit`.
    fn climb(
        &self,
        luv: &Luv,
        reach: &Reach,
        start: Option<(&Modes, &Range<u32>)>,
        unit: f32,
        checkpoint: Checkpoint<'_>,
    ) -> Result<Climbed> {
        let n_pixels = self.shape.n_pixels();
        let mut of = vec![UNKNOWN; n_pixels];
        let mut points: Vec<Point> = Vec::new();
        // What the modes to start from have come to.
        let mut come_to = vec![UNKNOWN; start.map_or(0, |(_, range)| range.len())];
        let mut way = Vec::new();
        let mut scanned = 0;
        for index in 0..n_pixels {
            if of[index] != UNKNOWN {
                continue;
            }
            let (x, y) = self.pixel(index);
            let started = start.map(|(modes, range)| {
                let pixel = y * luv.shape().width + x;
                ((modes.of[pixel] - range.start) as usize, modes.point(pixel))
            });
            let mut window = match started {
                Some((_, point)) => Window::at(point),
                None => Window::on(luv, (x, y)),
            };
            let known = match started {
                Some((mode, _)) => Some(come_to[mode]).filter(|&mode| mode != UNKNOWN),
                None => self.before(index).map(|before| (before, of[before])).find_map(|(before, mode)| {
                    let (x, y) = self.pixel(before);
                    let [_, _, l, u, v] = points[mode as usize];
                    let is_alike = window.distance(luv.at(x, y)) < NEIGHBOUR[0] * unit
                        && window.distance([l, u, v]) < NEIGHBOUR[1] * unit;
                    is_alike.then_some(mode)
                }),
            };
            if let Some(mode) = known {
                of[index] = mode;
                continue;
            }
            of[index] = ON_THE_WAY;
            way.push(index);
            let mut joined = None;
            for _ in 0..MAX_STEPS {
                scanned += reach.area();
                if scanned > CHECK_EVERY {
                    scanned = 0;
                    checkpoint()?;
                }
                if window.step(luv, reach) < STILL {
                    break;
                }
                let under = window.pixel();
                let Some(index) = self.index(under) else { continue };
                if of[index] == ON_THE_WAY || window.distance(luv.at(under.0, under.1)) >= PASSING * unit {
                    continue;
                }
                if of[index] != UNKNOWN {
                    joined = Some(of[index]);
                    break;
                }
                of[index] = ON_THE_WAY;
                way.push(index);
            }
            let mode = joined.unwrap_or_else(|| {
                points.push(window.centre());
                points.len() as u32 - 1
            });
            way.drain(..).for_each(|pixel| of[pixel] = mode);
            if let Some((start, _)) = started {
                come_to[start] = mode;
            }
        }
        checkpoint()?;
        Ok(Climbed { of, points })
    }
}
