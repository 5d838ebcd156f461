//! Evidence from one level to the next, where the next one needs it.
//!
//! What strokes teach changes slowly over the photo and fast with colour. So around every pixel of the coarser level its cost is explained by
//! colour, m ≈ ⟨a, rgb⟩ + b (the guided filter's least squares), and a pixel of the finer level gets ⟨a, rgb⟩ + b of its own colour with a and
//! b between those of the four nearest coarser pixels (He and Sun 2015, the fast guided filter). A cost leaves the range of the nine costs
//! around it by nothing. Everywhere else the cost is that of the block: it is conditioned on and only shifts the energy by a constant.

use rayon::prelude::*;

use crate::grid::{Blocks, Picture, Shape, Unary};
use crate::unary::colour_planes;
use crate::{Checkpoint, Result};

/// Pixels of the coarser level around one, on each side, that explain a cost by colour.
const RADIUS: usize = 2;

/// m for every pixel of the finer level.
pub(super) fn costs(
    blocks: Blocks,
    (coarse, costs): (&Picture, &Unary),
    picture: &Picture,
    is_open: impl Fn(usize) -> bool + Sync,
    checkpoint: Checkpoint<'_>,
) -> Result<Unary> {
    let m = costs.as_slice();
    let explained: Vec<f32> = m.par_iter().map(|&m| m as f32).collect();
    let planes = colour_planes(coarse, &explained, RADIUS, checkpoint)?;
    let mut fine = blocks.spread(m);
    let (width, shape) = (blocks.fine().width, blocks.coarse());
    fine.par_chunks_mut(width).enumerate().try_for_each(|(row, fine)| {
        checkpoint()?;
        let rows = between(row, blocks.ratio(), shape.height);
        for (column, value) in fine.iter_mut().enumerate() {
            let pixel = row * width + column;
            if is_open(pixel) {
                let columns = between(column, blocks.ratio(), shape.width);
                let [x, y, z, b] = plane(&planes, shape.width, rows, columns);
                let [red, green, blue] = picture.rgb()[pixel].map(|channel| f32::from(channel) / 255.0);
                let (least, most) = range(m, shape, row / blocks.ratio(), column / blocks.ratio());
                *value = f64::from(x * red + y * green + z * blue + b).clamp(least, most);
            }
        }
        Ok(())
    })?;
    Unary::new(blocks.fine(), fine)
}

/// The two coarser rows (or columns) that the middle of a finer one lies between, and the share of the second.
fn between(place: usize, ratio: usize, length: usize) -> (usize, usize, f32) {
    let middle = ((place as f64 + 0.5) / ratio as f64 - 0.5).clamp(0.0, length as f64 - 1.0);
    let first = middle as usize;
    (first, (first + 1).min(length - 1), (middle - first as f64) as f32)
}

type Between = (usize, usize, f32);

fn plane(planes: &[[f32; 4]], width: usize, (top, low, down): Between, (left, right, along): Between) -> [f32; 4] {
    let mix =
        |a: [f32; 4], b: [f32; 4], share: f32| -> [f32; 4] { std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share) };
    let line = |row: usize| mix(planes[row * width + left], planes[row * width + right], along);
    mix(line(top), line(low), down)
}

/// The least and the most of the costs of a block and those around it.
fn range(m: &[f64], shape: Shape, row: usize, column: usize) -> (f64, f64) {
    let around = |i: usize, length: usize| i.saturating_sub(1)..(i + 2).min(length);
    let near = around(row, shape.height).flat_map(|y| around(column, shape.width).map(move |x| m[y * shape.width + x]));
    near.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), m| (least.min(m), most.max(m)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_follows_colour_is_found_again_at_every_pixel() {
        // Costs are an affine function of colour, so at the finer level they are that of its own colours.
        let blocks = Blocks::new(Shape::new(24, 18), 3);
        let colour = |pixel: usize| [(pixel * 7 % 200) as u8, (pixel * 13 % 230) as u8, (pixel % 90) as u8];
        let picture = Picture::new(blocks.fine(), (0..blocks.fine().n_pixels()).map(colour).collect());
        let coarse = blocks.picture(&picture);
        let cost = |rgb: [u8; 3]| 40.0 * f64::from(rgb[0]) / 255.0 - 10.0 * f64::from(rgb[2]) / 255.0;
        let m = Unary::new(blocks.coarse(), coarse.rgb().iter().map(|&rgb| cost(rgb)).collect()).unwrap();
        let is_open = |pixel: usize| pixel.is_multiple_of(2);
        let fine = costs(blocks, (&coarse, &m), &picture, is_open, &|| Ok(())).unwrap();
        for (pixel, &found) in fine.as_slice().iter().enumerate() {
            let block = blocks.block(pixel);
            if !is_open(pixel) {
                assert_eq!(found, m.as_slice()[block]);
                continue;
            }
            let (row, column) = (block / blocks.coarse().width, block % blocks.coarse().width);
            let (least, most) = range(m.as_slice(), blocks.coarse(), row, column);
            // The ridge of the least squares takes a little of the slope.
            let expected = cost(picture.rgb()[pixel]).clamp(least, most);
            assert!((found - expected).abs() < 2.0, "{pixel}: {found} {expected}");
            assert!((least..=most).contains(&found));
        }
    }
}
