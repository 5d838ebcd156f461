//! Pictures for pages: photos as PNG, photos at a smaller size, and thumbnails as small JPEGs, also as `data:` addresses.

use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use serde::{Deserialize, Serialize};

use super::heatmap::colour_table;
use super::samples::encode8;
use crate::grid::{Marginals, Mask, Picture, Shape};

/// The largest thumbnail.
const BOX: Shape = Shape { width: 144, height: 96 };
const QUALITY: u8 = 80;

/// Photo, probabilities and mask, each as a `data:` address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thumbnails {
    /// The photo.
    pub photo: String,
    /// The probabilities in colour.
    pub heatmap: String,
    /// The mask.
    pub mask: String,
}

impl Thumbnails {
    /// Scales down by averaging: colours of the photo, probabilities before they are coloured, shares of the mask.
    pub fn of(picture: &Picture, marginals: &Marginals, mask: &Mask) -> Self {
        let shape = picture.shape();
        let rgb = picture.rgb();
        let small = fitted(shape, BOX);
        let photo = means(shape, small, |pixel| rgb[pixel].map(f64::from)).into_iter().flat_map(rounded);
        let p = marginals.as_slice();
        let table = colour_table();
        let heat =
            means(shape, small, |pixel| [p[pixel]]).into_iter().flat_map(|[p]| table[(p * 255.0).round() as usize]);
        let inside = mask.as_slice();
        let share = means(shape, small, |pixel| [f64::from(u8::from(inside[pixel]))]);
        let grey = share.into_iter().map(|[share]| (share * 255.0).round() as u8);
        Self {
            photo: address(small, photo.collect(), ExtendedColorType::Rgb8),
            heatmap: address(small, heat.collect(), ExtendedColorType::Rgb8),
            mask: address(small, grey.collect(), ExtendedColorType::L8),
        }
    }
}

/// A photo as a PNG.
pub fn photo(picture: &Picture) -> Vec<u8> {
    encode8(picture.shape(), png::ColorType::Rgb, picture.rgb().as_flattened())
}

/// A photo at another size, at most its own: every pixel has the mean colour of its block.
pub fn shrunk(picture: &Picture, small: Shape) -> Picture {
    let rgb = picture.rgb();
    let colours = means(picture.shape(), small, |pixel| rgb[pixel].map(f64::from));
    Picture::new(small, colours.into_iter().map(rounded).collect())
}

/// A photo as a JPEG that fits into a box.
pub fn thumbnail(picture: &Picture, within: Shape) -> Vec<u8> {
    let small = fitted(picture.shape(), within);
    jpeg(small, shrunk(picture, small).rgb().as_flattened(), ExtendedColorType::Rgb8)
}

fn rounded(colour: [f64; 3]) -> [u8; 3] {
    colour.map(|value| value.round() as u8)
}

/// The shape in which a picture fits into a box; never larger than it is.
fn fitted(shape: Shape, within: Shape) -> Shape {
    let scale = (within.width as f64 / shape.width as f64).min(within.height as f64 / shape.height as f64).min(1.0);
    let side = |length: usize| ((length as f64 * scale).round() as usize).max(1);
    Shape::new(side(shape.width), side(shape.height))
}

/// Means over the block of pixels that each pixel of the small shape stands for.
fn means<const N: usize>(shape: Shape, small: Shape, value: impl Fn(usize) -> [f64; N]) -> Vec<[f64; N]> {
    let block = |i: usize, from: usize, to: usize| i * from / to..(i + 1) * from / to;
    let mut result = Vec::with_capacity(small.n_pixels());
    for row in 0..small.height {
        for column in 0..small.width {
            let (rows, columns) = (block(row, shape.height, small.height), block(column, shape.width, small.width));
            let n = (rows.len() * columns.len()) as f64;
            let mut sum = [0.0; N];
            for pixel in rows.flat_map(|y| columns.clone().map(move |x| y * shape.width + x)) {
                let value = value(pixel);
                sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += value);
            }
            result.push(sum.map(|sum| sum / n));
        }
    }
    result
}

fn address(shape: Shape, samples: Vec<u8>, colour: ExtendedColorType) -> String {
    format!("data:image/jpeg;base64,{}", base64(&jpeg(shape, &samples, colour)))
}

fn jpeg(shape: Shape, samples: &[u8], colour: ExtendedColorType) -> Vec<u8> {
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, QUALITY)
        .encode(samples, shape.width as u32, shape.height as u32, colour)
        .expect("a small picture, written to memory");
    file
}

/// RFC 4648: three bytes become four letters.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(cases.map(|case| base64(case.as_bytes())), texts);
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
    }

    #[test]
    fn a_thumbnail_fits_the_box_and_keeps_the_proportions() {
        assert_eq!(fitted(Shape::new(640, 427), BOX), Shape::new(144, 96));
        assert_eq!(fitted(Shape::new(20, 10), BOX), Shape::new(20, 10));
        assert_eq!(fitted(Shape::new(1, 5000), BOX), Shape::new(1, 96));
        assert_eq!(fitted(Shape::new(5000, 3), BOX), Shape::new(144, 1));
    }

    #[test]
    fn shrinking_keeps_the_mean() {
        let shape = Shape::new(288, 192);
        let value = |pixel: usize| [(pixel * 7 % 31) as f64];
        let small = means(shape, fitted(shape, BOX), value);
        let mean = |values: &mut dyn Iterator<Item = f64>, n: usize| values.sum::<f64>() / n as f64;
        let (whole, part) = (
            mean(&mut (0..shape.n_pixels()).map(|pixel| value(pixel)[0]), shape.n_pixels()),
            mean(&mut small.iter().map(|v| v[0]), small.len()),
        );
        assert!((whole - part).abs() < 1e-9, "{whole} {part}");
        let same = means(Shape::new(7, 5), Shape::new(7, 5), |pixel| [pixel as f64]);
        assert_eq!(same, (0..35).map(|pixel| [f64::from(pixel)]).collect::<Vec<_>>());
    }
}
