//! The photo in CIE Luv, laid out for scanning windows.
//!
//! EDISON's conversion: RGB is taken as linear (no sRGB curve), L runs from 0 to 100. Distances count L twice where the
//! window is brighter than L = 80, again as EDISON does; without that, hr would not mean the same.
//!
//! Four pixels of a row lie side by side, one plane after the other (L L L L u u u u v v v v): one vector load a plane.
//! Rows are padded to whole blocks with NaN, which is within no distance of anything.

use rayon::prelude::*;

use crate::grid::{Picture, Shape};

/// Pixels in a block.
pub(super) const LANES: usize = 4;

/// L, u and v of [`LANES`] neighbouring pixels.
pub(super) type Block = [[f32; LANES]; 3];

/// A photo in CIE Luv.
pub(super) struct Luv {
    shape: Shape,
    blocks_per_row: usize,
    blocks: Vec<Block>,
}

impl Luv {
    /// Converts a photo.
    pub(super) fn new(picture: &Picture) -> Self {
        let shape = picture.shape();
        let blocks_per_row = shape.width.div_ceil(LANES);
        let mut blocks = vec![[[f32::NAN; LANES]; 3]; blocks_per_row * shape.height];
        if !blocks.is_empty() {
            let rows = blocks.par_chunks_mut(blocks_per_row).zip(picture.rgb().par_chunks(shape.width));
            rows.for_each(|(blocks, colours)| {
                for (block, colours) in blocks.iter_mut().zip(colours.chunks(LANES)) {
                    for (lane, &rgb) in colours.iter().enumerate() {
                        let luv = from_rgb(rgb);
                        for (plane, value) in block.iter_mut().zip(luv) {
                            plane[lane] = value;
                        }
                    }
                }
            });
        }
        Self { shape, blocks_per_row, blocks }
    }

    /// The shape of the grid.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// The blocks of a row.
    pub(super) fn row(&self, y: usize) -> &[Block] {
        &self.blocks[y * self.blocks_per_row..(y + 1) * self.blocks_per_row]
    }

    /// The colour of a pixel.
    pub(super) fn at(&self, x: usize, y: usize) -> [f32; 3] {
        let block = &self.blocks[y * self.blocks_per_row + x / LANES];
        block.map(|plane| plane[x % LANES])
    }
}

/// How much a squared difference in L counts when one stands at lightness `l`.
pub(super) fn lightness_weight(l: f32) -> f32 {
    if l > 80.0 { 4.0 } else { 1.0 }
}

/// CIE Luv of an 8-bit colour, as EDISON computes it.
pub(super) fn from_rgb(rgb: [u8; 3]) -> [f32; 3] {
    let [r, g, b] = rgb.map(f32::from);
    let x = 0.4125 * r + 0.3576 * g + 0.1804 * b;
    let y = 0.2125 * r + 0.7154 * g + 0.0721 * b;
    let z = 0.0193 * r + 0.1192 * g + 0.9502 * b;
    let luminance = y / 255.0;
    let l = if luminance > 0.008856 { 116.0 * luminance.cbrt() - 16.0 } else { 903.3 * luminance };
    let sum = x + 15.0 * y + 3.0 * z;
    if sum == 0.0 {
        return [0.0; 3];
    }
    [l, 13.0 * l * (4.0 * x / sum - 0.1978), 13.0 * l * (9.0 * y / sum - 0.4683)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greys_have_no_chroma_and_lightness_runs_from_0_to_100() {
        assert_eq!(from_rgb([0; 3]), [0.0; 3]);
        assert!((from_rgb([255; 3])[0] - 100.0).abs() < 0.05);
        let mut before = -1.0;
        for grey in 0..=255 {
            let [l, u, v] = from_rgb([grey; 3]);
            assert!(l > before && u.abs() < 0.3 && v.abs() < 0.3, "{grey}: {l} {u} {v}");
            before = l;
        }
    }

    #[test]
    fn a_pixel_is_found_where_it_was_put() {
        let shape = Shape::new(6, 3);
        let rgb: Vec<[u8; 3]> = (0..18).map(|i| [i * 10, 255 - i, i]).collect();
        let luv = Luv::new(&Picture::new(shape, rgb.clone()));
        for (pixel, &rgb) in rgb.iter().enumerate() {
            assert_eq!(luv.at(pixel % 6, pixel / 6), from_rgb(rgb));
        }
        assert!(luv.row(2)[1][0][3].is_nan());
    }
}
