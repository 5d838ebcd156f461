use std::io::Cursor;
use std::path::PathBuf;
use std::time::Instant;

use image::{DynamicImage, ExtendedColorType, ImageEncoder, ImageFormat, Rgb, RgbImage};
use proptest::prelude::*;

use super::*;
use crate::grid::Shape;

/// A file of the given content in a fresh folder, which lives as long as the first of the pair.
fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photo with spaces.xyz");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn read(bytes: &[u8]) -> Result<Loaded<Picture>> {
    let (_folder, path) = file(bytes);
    Picture::read(&path, &Limits::default())
}

fn sample() -> RgbImage {
    RgbImage::from_fn(5, 3, |x, y| Rgb([(x * 50) as u8, (y * 100) as u8, (x * y * 20) as u8]))
}

fn triples(image: &RgbImage) -> Vec<[u8; 3]> {
    image.pixels().map(|pixel| pixel.0).collect()
}

const LOSSLESS: [ImageFormat; 5] =
    [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::Tiff, ImageFormat::WebP, ImageFormat::Pnm];

#[test]
fn every_lossless_format_is_known_by_its_content() {
    for format in LOSSLESS {
        let loaded = read(&encoded(&sample().into(), format)).unwrap();
        assert_eq!(loaded.value, Picture::new(Shape::new(5, 3), triples(&sample())), "{format:?}");
        assert!(loaded.warnings.is_empty());
    }
}

#[test]
fn a_colour_profile_is_left_folded() {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    encoder.set_icc_profile(vec![0; 1 << 20]).unwrap();
    encoder.write_image(sample().as_raw(), 5, 3, ExtendedColorType::Rgb8).unwrap();
    let plain = read(&encoded(&sample().into(), ImageFormat::Png)).unwrap().value;
    assert_eq!(read(&bytes).unwrap().value.rgb(), plain.rgb());
    let contains = |bytes: &[u8]| bytes.windows(4).any(|kind| kind == b"iCCP");
    assert!(contains(&bytes));
    let decoded = decode_memory(Path::new("photo.png"), &bytes, &Limits::default(), None).unwrap();
    assert!(!contains(&decoded.bytes));
    assert_eq!(decoded.digest, crate::read::Digest::of(&bytes));
}

#[test]
fn a_jpeg_is_close() {
    let flat = RgbImage::from_pixel(16, 8, Rgb([200, 100, 50]));
    let picture = read(&encoded(&flat.into(), ImageFormat::Jpeg)).unwrap().value;
    assert_eq!(picture.shape(), Shape::new(16, 8));
    let worst =
        picture.rgb().iter().flat_map(|rgb| std::iter::zip(rgb, [200_u8, 100, 50]).map(|(a, b)| a.abs_diff(b))).max();
    assert!(worst.unwrap() <= 4, "{worst:?}");
}

#[test]
fn grey_sixteen_bit_and_float_become_eight_bit_colour() {
    let grey: DynamicImage = image::GrayImage::from_raw(2, 1, vec![7, 200]).unwrap().into();
    assert_eq!(read(&encoded(&grey, ImageFormat::Png)).unwrap().value.rgb(), [[7; 3], [200; 3]]);
    let deep: DynamicImage =
        DynamicImage::ImageRgb16(image::ImageBuffer::from_raw(2, 1, vec![0, 257, 65535, 128, 129, 32896]).unwrap());
    assert_eq!(read(&encoded(&deep, ImageFormat::Png)).unwrap().value.rgb(), [[0, 1, 255], [0, 1, 128]]);
    let float = |last| DynamicImage::ImageRgb32F(image::ImageBuffer::from_raw(1, 1, vec![0.0, 1.0, last]).unwrap());
    assert_eq!(read(&encoded(&float(0.2), ImageFormat::Tiff)).unwrap().value.rgb(), [[0, 255, 51]]);
    for last in [1.5, -0.1, f32::NAN] {
        assert!(matches!(read(&encoded(&float(last), ImageFormat::Tiff)), Err(Error::Unsuitable { .. })));
    }
}

#[test]
fn an_indexed_png_shows_its_colours() {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 3, 1);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Two);
    encoder.set_palette(vec![1, 2, 3, 40, 50, 60, 255, 0, 9]);
    encoder.write_header().unwrap().write_image_data(&[0b10_00_01_00]).unwrap();
    assert_eq!(read(&bytes).unwrap().value.rgb(), [[255, 0, 9], [1, 2, 3], [40, 50, 60]]);
}

#[test]
fn transparency_is_laid_over_white_and_reported() {
    let image = image::RgbaImage::from_raw(3, 1, vec![10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 255, 51]).unwrap();
    let loaded = read(&encoded(&image.into(), ImageFormat::Png)).unwrap();
    assert_eq!(loaded.value.rgb(), [[10, 20, 30], [255, 255, 255], [204, 224, 255]]);
    assert!(loaded.warnings[0].contains("2 pixels"), "{:?}", loaded.warnings);
    let opaque = image::RgbaImage::from_raw(1, 1, vec![10, 20, 30, 255]).unwrap();
    assert!(read(&encoded(&opaque.into(), ImageFormat::Png)).unwrap().warnings.is_empty());
}

#[test]
fn cmyk_is_understood() {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut bytes).unwrap();
    encoder.write_image::<tiff::encoder::colortype::CMYK8>(2, 1, &[0, 0, 0, 0, 0, 255, 255, 0]).unwrap();
    assert_eq!(read(&bytes.into_inner()).unwrap().value.rgb(), [[255, 255, 255], [255, 0, 0]]);
}

/// A TIFF block as EXIF carries it, with nothing but the orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let mut bytes = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    bytes.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

/// `image` in the format of `encoder`, with an EXIF orientation.
fn turned(mut encoder: impl ImageEncoder, orientation: u8, image: &RgbImage) {
    encoder.set_exif_metadata(exif(orientation)).unwrap();
    encoder.write_image(image, image.width(), image.height(), ExtendedColorType::Rgb8).unwrap();
}

#[test]
fn exif_orientation_is_applied() {
    use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
    for (orientation, shape, first) in
        [(1, (5, 3), (0, 0)), (6, (3, 5), (0, 2)), (3, (5, 3), (4, 2)), (8, (3, 5), (4, 0))]
    {
        let [mut png, mut webp, mut jpeg] = [const { Vec::new() }; 3];
        turned(PngEncoder::new(&mut png), orientation, &sample());
        turned(WebPEncoder::new_lossless(&mut webp), orientation, &sample());
        turned(JpegEncoder::new(&mut jpeg), orientation, &sample());
        for bytes in [&png, &webp] {
            let picture = read(bytes).unwrap().value;
            assert_eq!(picture.shape(), Shape::new(shape.0, shape.1), "orientation {orientation}");
            assert_eq!(picture.rgb()[0], sample().get_pixel(first.0, first.1).0, "orientation {orientation}");
        }
        assert_eq!(read(&jpeg).unwrap().value.shape(), Shape::new(shape.0, shape.1), "orientation {orientation}");
    }
}

#[test]
fn any_file_cut_short_is_refused() {
    for format in LOSSLESS.into_iter().chain([ImageFormat::Jpeg]) {
        let image = RgbImage::from_fn(40, 30, |x, y| Rgb([(x * 6) as u8, (y * 8) as u8, (x ^ y) as u8]));
        let bytes = encoded(&image.into(), format);
        for length in [bytes.len() / 3, bytes.len() / 2, bytes.len() * 9 / 10] {
            let error = read(&bytes[..length]).expect_err(&format!("{format:?} cut to {length} of {}", bytes.len()));
            assert!(error.to_string().contains("photo with spaces.xyz"), "{error}");
        }
    }
}

#[test]
fn what_is_no_image_is_said_to_be_none() {
    for (bytes, words) in [(&b""[..], "empty"), (b"hello, world", "not an image"), (b"GIF89a\x01\0\x01\0", "GIF")] {
        let error = read(bytes).unwrap_err();
        assert!(matches!(error, Error::NotAnImage { .. }) && error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_claim_of_too_many_pixels_is_refused_before_decoding() {
    for bytes in [bomb_png(100_000, 100_000), bomb_png(0x7fff_ffff, 0x7fff_ffff), bomb_bmp(65_000), bomb_pnm()] {
        let start = Instant::now();
        let error = read(&bytes).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        assert!(start.elapsed().as_secs_f64() < 0.5, "took {:?}", start.elapsed());
    }
    let (_folder, path) = file(&encoded(&sample().into(), ImageFormat::Png));
    assert!(matches!(Picture::read(&path, &Limits { max_pixels: 14 }), Err(Error::TooLarge { .. })));
    assert!(Picture::read(&path, &Limits { max_pixels: 15 }).is_ok());
}

/// A sound header of a huge PNG, and one short data chunk.
fn bomb_png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_chunk(png::chunk::IDAT, &[0x78, 0x9c, 0x63, 0, 0, 0, 1, 0, 1]).unwrap();
    bytes
}

fn bomb_bmp(side: i32) -> Vec<u8> {
    let mut bytes = encoded(&sample().into(), ImageFormat::Bmp);
    bytes[18..22].copy_from_slice(&side.to_le_bytes());
    bytes[22..26].copy_from_slice(&side.to_le_bytes());
    bytes
}

fn bomb_pnm() -> Vec<u8> {
    b"P6 99999 99999 255\n....".to_vec()
}

proptest! {
    /// A sound file with some bytes changed is a picture or an error, never a panic and never a long wait.
    #[test]
    fn changed_bytes_never_panic(format in 0_usize..6, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let format = LOSSLESS.into_iter().chain([ImageFormat::Jpeg]).nth(format).unwrap();
        let mut bytes = encoded(&sample().into(), format);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let (_folder, path) = file(&bytes);
        let _ = Picture::read(&path, &Limits { max_pixels: 1_000_000 });
    }
}
