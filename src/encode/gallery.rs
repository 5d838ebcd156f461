//! Pictures side by side in one PNG, each with a letter in its corner by which a caption can name it.

use png::ColorType;
use rayon::prelude::*;

use super::samples::encode8;
use crate::grid::Shape;

/// A picture of the gallery: RGB, row by row, all of one shape.
pub type Tile = Vec<[u8; 3]>;

/// Width above which pictures are scaled down, by a whole number.
const WIDEST: usize = 360;
/// White between pictures.
const GAP: usize = 8;
/// Screen pixels to a dot of a letter.
const DOT: usize = 3;

/// The letters of the tiles, in order.
pub const LETTERS: [char; 12] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];

/// Five dots by seven, a row to a byte.
const GLYPHS: [[u8; 7]; 12] = [
    [0, 0, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111],
    [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110],
    [0, 0, 0b01110, 0b10000, 0b10000, 0b10001, 0b01110],
    [0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111],
    [0, 0, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
    [0b00110, 0b01001, 0b01000, 0b11100, 0b01000, 0b01000, 0b01000],
    [0, 0b01111, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110],
    [0b10000, 0b10000, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001],
    [0b00100, 0, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b00010, 0, 0b00110, 0b00010, 0b00010, 0b10010, 0b01100],
    [0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010],
    [0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
];

/// At most twelve tiles of one shape, in rows of `columns`, as a PNG.
///
/// # Panics
/// When there are more tiles than letters, or a tile has another shape.
pub fn gallery(shape: Shape, columns: usize, tiles: &[Tile]) -> Vec<u8> {
    assert!(tiles.len() <= LETTERS.len(), "a letter for every tile");
    let factor = shape.width.div_ceil(WIDEST);
    let (width, height) = (shape.width / factor, (shape.height / factor).max(1));
    let scaled: Vec<Tile> = tiles.par_iter().map(|tile| shrink(shape, tile, factor, (width, height))).collect();
    let rows = tiles.len().div_ceil(columns);
    let whole = Shape::new(columns * (width + GAP) + GAP, rows * (height + GAP) + GAP);
    let mut canvas = vec![[255_u8; 3]; whole.n_pixels()];
    for (index, tile) in scaled.iter().enumerate() {
        let (x, y) = (GAP + index % columns * (width + GAP), GAP + index / columns * (height + GAP));
        for (row, line) in tile.chunks(width).enumerate() {
            let start = (y + row) * whole.width + x;
            canvas[start..start + width].copy_from_slice(line);
        }
        badge(&mut canvas, whole, (x, y), &GLYPHS[index]);
    }
    encode8(whole, ColorType::Rgb, canvas.as_flattened())
}

/// The mean of every `factor` × `factor` block.
fn shrink(shape: Shape, tile: &Tile, factor: usize, (width, height): (usize, usize)) -> Tile {
    assert_eq!(tile.len(), shape.n_pixels(), "a tile of the gallery's shape");
    let block = |x: usize, y: usize| {
        let mut sum = [0_usize; 3];
        for row in y * factor..(y + 1) * factor {
            for pixel in &tile[row * shape.width + x * factor..][..factor] {
                sum.iter_mut().zip(pixel).for_each(|(sum, &level)| *sum += usize::from(level));
            }
        }
        let count = factor * factor;
        sum.map(|sum| ((sum + count / 2) / count) as u8)
    };
    (0..height).flat_map(|y| (0..width).map(move |x| block(x, y))).collect()
}

/// A letter in black on a white corner.
fn badge(canvas: &mut [[u8; 3]], whole: Shape, (x, y): (usize, usize), glyph: &[u8; 7]) {
    for row in 0..9 * DOT {
        for column in 0..7 * DOT {
            let (dot_row, dot_column) = ((row / DOT).wrapping_sub(1), (column / DOT).wrapping_sub(1));
            let ink = dot_row < 7 && dot_column < 5 && glyph[dot_row] >> (4 - dot_column) & 1 == 1;
            if let Some(pixel) = canvas.get_mut((y + row) * whole.width + x + column) {
                *pixel = if ink { [0; 3] } else { [255; 3] };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_scaled_down_and_laid_out_in_rows() {
        let shape = Shape::new(720, 100);
        let tile = |level: u8| vec![[level; 3]; shape.n_pixels()];
        let bytes = gallery(shape, 2, &[tile(10), tile(20), tile(30)]);
        let decoded = image::load_from_memory(&bytes).unwrap().into_rgb8();
        assert_eq!(decoded.dimensions(), (2 * 368 + 8, 2 * 58 + 8));
        assert_eq!(decoded.get_pixel(300, 40).0, [10; 3]);
        assert_eq!(decoded.get_pixel(700, 40).0, [20; 3]);
        assert_eq!(decoded.get_pixel(300, 100).0, [30; 3]);
        assert_eq!(decoded.get_pixel(700, 100).0, [255; 3]);
        // The letter a has ink in the middle of its last row.
        assert_eq!(decoded.get_pixel(8 + 3 * 3 + 1, 8 + 7 * 3 + 1).0, [0; 3]);
    }

    #[test]
    fn shrinking_takes_the_mean() {
        let tile = vec![[0, 0, 0], [4, 0, 0], [0, 8, 0], [0, 0, 10], [9, 9, 9], [9, 9, 9]];
        assert_eq!(shrink(Shape::new(2, 3), &tile, 2, (1, 1)), [[1, 2, 3]]);
    }
}
