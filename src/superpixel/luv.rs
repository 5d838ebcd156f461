//! The photo in CIE Luv, laid out for scanning windows.
//!
//! EDISON's conversion: RGB is taken as linear (no sRGB curve), L runs from 0 to 100. Distances count L twice where the
//! window is brighter than L = 80, again as EDISON does; without that, hr would not mean the same.
//!
//! L, u and v are planes of their own. Rows are padded on both sides with NaN, which is within no distance of anything, so that
//! a window at the border is scanned like any other.

use rayon::prelude::*;

use crate::grid::{Picture, Shape};

/// Pixels that are looked at together.
pub(super) const LANES: usize = 8;

/// A photo in CIE Luv.
pub(super) struct Luv {
    shape: Shape,
    padding: usize,
    stride: usize,
    planes: [Vec<f32>; 3],
}

impl Luv {
    /// Converts a photo, for windows that reach at most `reach` columns to each side.
    pub(super) fn new(picture: &Picture, reach: usize) -> Self {
        let shape = picture.shape();
        let stride = shape.width + 2 * reach + LANES;
        let mut planes: [Vec<f32>; 3] = std::array::from_fn(|_| vec![f32::NAN; stride * shape.height]);
        let [l, u, v] = planes.each_mut().map(|plane| plane.par_chunks_mut(stride));
        l.zip(u).zip(v).zip(picture.rgb().par_chunks(shape.width)).for_each(|(((l, u), v), colours)| {
            let pixels = l[reach..].iter_mut().zip(&mut u[reach..]).zip(&mut v[reach..]);
            for (((l, u), v), &rgb) in pixels.zip(colours) {
                [*l, *u, *v] = from_rgb(rgb);
            }
        });
        Self { shape, padding: reach, stride, planes }
    }

    /// The shape of the grid.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// L, u and v of the pixels of row `y` from `columns` left of column `x` on, at least `count` of them.
    #[inline(always)]
    pub(super) fn stretch(&self, x: usize, columns: usize, y: usize, count: usize) -> [&[f32]; 3] {
        let start = y * self.stride + self.padding + x - columns;
        self.planes.each_ref().map(|plane| &plane[start..start + count])
    }

    /// The colour of a pixel.
    pub(super) fn at(&self, x: usize, y: usize) -> [f32; 3] {
        self.planes.each_ref().map(|plane| plane[y * self.stride + self.padding + x])
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
        let luv = Luv::new(&Picture::new(shape, rgb.clone()), 3);
        for (pixel, &rgb) in rgb.iter().enumerate() {
            assert_eq!(luv.at(pixel % 6, pixel / 6), from_rgb(rgb));
        }
        let [l, ..] = luv.stretch(0, 3, 2, 3 + 6 + 3);
        assert!(l[..3].iter().chain(&l[9..]).all(|value| value.is_nan()));
        assert_eq!(l[3..9], [12, 13, 14, 15, 16, 17].map(|pixel: usize| from_rgb(rgb[pixel])[0]));
    }
}
