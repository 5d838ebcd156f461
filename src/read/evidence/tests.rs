use std::io::Cursor;
use std::path::PathBuf;
use std::time::Instant;

use image::ExtendedColorType::{L8, L16, La8, Rgb8};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use ndarray::{Array2, ShapeBuilder};
use ndarray_npy::WriteNpyExt;
use proptest::prelude::*;

use super::*;
use crate::read::Digest;

const LIMITS: Limits = Limits { max_pixels: 200_000_000 };

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evidence.dat");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

type Reader<T> = fn(&Path, Shape, &Limits) -> Result<Loaded<T>>;

fn read<T>(reader: Reader<T>, bytes: &[u8], shape: (usize, usize)) -> Result<Loaded<T>> {
    let (_folder, path) = file(bytes);
    let loaded = reader(&path, Shape::new(shape.0, shape.1), &LIMITS);
    if let Err(error) = &loaded {
        assert!(error.to_string().contains("evidence.dat"), "{error}");
    }
    loaded
}

/// A version-1 file with this header and these bytes of values.
fn npy(descr: &str, fortran_order: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn png(width: u32, height: u32, colour: ExtendedColorType, samples: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes).write_image(samples, width, height, colour).unwrap();
    bytes
}

#[test]
fn a_unary_of_every_number_type() {
    let cases: [(&str, &[u8]); 9] = [
        ("'<f2'", &[0x00, 0x3c, 0x00, 0xc0]),
        ("'>f2'", &[0x3c, 0x00, 0xc0, 0x00]),
        ("'<f4'", &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]),
        ("'>f4'", &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]),
        ("'|i1'", &[1, 0xfe]),
        ("'<i2'", &[1, 0, 0xfe, 0xff]),
        ("'>i4'", &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe]),
        ("'<i8'", &[1, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("'<f8'", &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0]),
    ];
    for (descr, values) in cases {
        let unary = read(unary, &npy(descr, "False", "(1, 2)", values), (2, 1)).unwrap().value;
        assert_eq!(unary.as_slice(), [1.0, -2.0], "{descr}");
    }
}

#[test]
fn a_bad_unary_is_refused_with_the_reason() {
    let good = doubles(&[1.0, 2.0]);
    for (bytes, words) in [
        (npy("'<f8'", "False", "(1, 2)", &doubles(&[1.0, f64::NAN])), "row 0, column 1"),
        (npy("'<f8'", "False", "(1, 2)", &doubles(&[f64::INFINITY, 1.0])), "finite"),
        (npy("'<f8'", "False", "(2, 1)", &good), "1×2"),
        (npy("'<f8'", "False", "(2,)", &good), "1 dimensions"),
        (npy("'<f8'", "False", "(1, 2, 1)", &good), "squeeze"),
        (npy("'<f8'", "False", "(0, 2)", &good), "no pixels"),
        (npy("'<f8'", "False", "(1, 2)", &good[..15]), "16 bytes"),
        (npy("'|O'", "False", "(1, 2)", &good), "never unpickled"),
        (npy("'<c16'", "False", "(1, 2)", &good), "<c16"),
        (npy("'<f16'", "False", "(1, 2)", &good), "<f16"),
        (npy("'<U3'", "False", "(1, 2)", &good), "<U3"),
        (npy("[('a', '<f8')]", "False", "(1, 2)", &good), "fields"),
        (npy("'<f8'", "maybe", "(1, 2)", &good), "header"),
        (b"\x93NUMPY\x01\x00".to_vec(), "header"),
        (b"\x93NUMPY\x09\x00aaaaaaaaaaaaaaaa".to_vec(), "header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xffxx".to_vec(), "header"),
        (b"PK\x03\x04 an npz".to_vec(), "numpy.save"),
        (Vec::new(), "numpy.save"),
    ] {
        let message = read(unary, &bytes, (2, 1)).unwrap_err().to_string();
        assert!(message.contains(words), "{words} in {message}");
    }
}

#[test]
fn a_huge_shape_is_refused_before_reading() {
    for shape in ["(99999999, 99999999)", "(18446744073709551615, 18446744073709551615)", "(2000000, 2000000)"] {
        let start = Instant::now();
        assert!(matches!(read(unary, &npy("'<f8'", "False", shape, &[]), (2, 1)), Err(Error::TooLarge { .. })));
        assert!(start.elapsed().as_secs_f64() < 0.5);
    }
}

#[test]
fn bytes_behind_the_array_are_remarked_on() {
    let loaded = read(unary, &npy("'<f8'", "False", "(1, 1)", &doubles(&[1.0, 2.0])), (1, 1)).unwrap();
    assert!(loaded.warnings[0].contains("first array"), "{:?}", loaded.warnings);
}

#[test]
fn probabilities_become_costs_at_the_step_of_their_file() {
    let half_step_8 = (509.0_f64).ln();
    let loaded = read(prior, &png(3, 1, L8, &[0, 51, 255]), (3, 1)).unwrap();
    let m = loaded.value.as_slice();
    assert!((m[0] - half_step_8).abs() < 1e-12 && (m[1] - 4_f64.ln()).abs() < 1e-12 && m[2] == -m[0], "{m:?}");
    assert!(loaded.warnings[0].contains("2 probabilities"), "{:?}", loaded.warnings);

    let deep: Vec<u8> = [0_u16, 13107, 65535].into_iter().flat_map(u16::to_ne_bytes).collect();
    let loaded = read(prior, &png(3, 1, L16, &deep), (3, 1)).unwrap();
    let m = loaded.value.as_slice();
    assert!((m[0] - (131_069_f64).ln()).abs() < 1e-10 && (m[1] - 4_f64.ln()).abs() < 1e-12 && m[2] == -m[0], "{m:?}");

    let loaded = read(prior, &npy("'<f8'", "False", "(1, 4)", &doubles(&[0.5, 0.0, 1.0, 1e-300])), (4, 1)).unwrap();
    let m = loaded.value.as_slice();
    assert!(m[0] == 0.0 && m[1] > 36.0 && m[2] == -m[1] && m[3] == m[1], "{m:?}");
    assert!(loaded.warnings[0].contains("3 probabilities"), "{:?}", loaded.warnings);
    assert!(read(prior, &npy("'<f8'", "False", "(1, 1)", &doubles(&[0.25])), (1, 1)).unwrap().warnings.is_empty());
}

/// An archive of arrays, stored or deflated.
fn npz(entries: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        std::io::Write::write_all(&mut archive, bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn two_classes_are_background_before_object() {
    let alone = read(prior, &npy("'<f8'", "False", "(2, 2)", &doubles(&[0.75, 0.5, 0.0, 0.9])), (2, 2)).unwrap();
    let softmax = [0.25, 0.5, 1.0, 0.1, 0.75, 0.5, 0.0, 0.9];
    let both = read(prior, &npy("'<f8'", "False", "(2, 2, 2)", &doubles(&softmax)), (2, 2)).unwrap();
    assert_eq!((both.value, both.warnings.len()), (alone.value, 1));

    // The class changes first, then the row.
    let by_column = [0.25, 0.75, 1.0, 0.0, 0.5, 0.5, 0.1, 0.9];
    let turned = read(prior, &npy("'<f8'", "True", "(2, 2, 2)", &doubles(&by_column)), (2, 2)).unwrap();
    let straight = read(prior, &npy("'<f8'", "False", "(2, 2, 2)", &doubles(&softmax)), (2, 2)).unwrap();
    assert_eq!(turned.value, straight.value);

    // Logits: what a softmax would be given.
    let logits = read(prior, &npy("'<f8'", "False", "(2, 1, 2)", &doubles(&[-1.0, 3.0, 2.5, 4.0])), (2, 1)).unwrap();
    assert_eq!(logits.value.as_slice(), [-3.5, -1.0]);
}

#[test]
fn arrays_of_networks_that_cannot_be_told_are_refused_with_what_helps() {
    for (bytes, words) in [
        (npy("'<f8'", "False", "(2, 1, 2)", &doubles(&[0.2, 0.3, 0.3, 0.9])), "the softmax of the two"),
        (npy("'<f8'", "False", "(2, 1, 2)", &doubles(&[0.2, 0.3, f64::NAN, 0.9])), "row 0, column 0 (from 0) is NaN"),
        (npy("'<f8'", "False", "(1, 2, 2)", &doubles(&[0.2, 0.8, 0.1, 0.9])), "array.transpose(2, 0, 1)"),
        (npy("'<f8'", "False", "(1, 2, 1, 2)", &doubles(&[0.2, 0.8, 0.1, 0.9])), "array[0]"),
        (npy("'<f8'", "False", "(3, 1, 2)", &doubles(&[0.2; 6])), "one class against all others"),
        (npy("'<f8'", "False", "(1, 2)", &doubles(&[-4.0, 3.0])), "give -x as costs"),
        (npy("'<f8'", "False", "(1, 2)", &doubles(&[4.0, 3.0])), "divide by the largest value"),
    ] {
        let message = read(prior, &bytes, (2, 1)).unwrap_err().to_string();
        assert!(message.contains(words), "{words} in {message}");
    }
}

#[test]
fn the_only_array_of_an_archive_or_the_one_called_prior_is_read() {
    let array = npy("'<f8'", "False", "(1, 2)", &doubles(&[0.25, 0.5]));
    let other = npy("'<f8'", "False", "(1, 2)", &doubles(&[0.5, 0.5]));
    let expected = read(prior, &array, (2, 1)).unwrap().value;
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        for entries in [
            &[("arr_0.npy", &array[..])][..],
            &[("a.npy", &other), ("prior.npy", &array)],
            &[("readme.txt", b"hello"), ("p.npy", &array)],
        ] {
            let bytes = npz(entries, method);
            let loaded = read(prior, &bytes, (2, 1)).unwrap();
            assert_eq!((loaded.value, loaded.digest), (expected.clone(), Digest::of(&bytes)));
        }
    }
    let stored = |entries: &[(&str, &[u8])]| npz(entries, zip::CompressionMethod::Deflated);
    for (bytes, words) in [
        (stored(&[]), "without arrays"),
        (stored(&[("readme.txt", b"hello")]), "without arrays"),
        (stored(&[("a.npy", &array), ("b.npy", &other)]), "2 arrays (a, b), and none is called prior"),
        (stored(&[("a.npy", b"hello")]), "not an .npy file"),
        (stored(&[("a.npy", &npy("'<f8'", "False", "(2, 1)", &doubles(&[0.25, 0.5])))]), "1×2"),
        (b"PK\x03\x04 and more".to_vec(), "damaged"),
    ] {
        let message = read(prior, &bytes, (2, 1)).unwrap_err().to_string();
        assert!(message.contains(words), "{words} in {message}");
    }
}

#[test]
fn an_archive_cut_anywhere_is_refused_and_one_that_swells_takes_no_memory() {
    let array = npy("'<f8'", "False", "(1, 2)", &doubles(&[0.25, 0.5]));
    let whole = npz(&[("p.npy", &array)], zip::CompressionMethod::Deflated);
    for length in 0..whole.len() {
        assert!(read(prior, &whole[..length], (2, 1)).is_err(), "cut to {length} of {}", whole.len());
    }
    // 100 MB of zeros in a few kilobytes; nothing beyond the photo's size is unpacked.
    let huge = npz(
        &[("p.npy", &npy("'<f8'", "False", "(5000, 2500)", &vec![0; 100_000_000]))],
        zip::CompressionMethod::Deflated,
    );
    assert!(matches!(read(prior, &huge, (2, 1)), Err(Error::SizeMismatch { .. })));
}

#[test]
fn a_floating_point_tiff_is_a_prior() {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut bytes).unwrap();
    encoder.write_image::<tiff::encoder::colortype::Gray32Float>(2, 2, &[0.5, 0.2, 0.8, 0.0]).unwrap();
    let bytes = bytes.into_inner();
    let m = read(prior, &bytes, (2, 2)).unwrap().value;
    let m = m.as_slice();
    assert!(m[0] == 0.0 && (m[1] - 4_f64.ln()).abs() < 1e-6 && (m[2] + 4_f64.ln()).abs() < 1e-6, "{m:?}");
    assert!((m[3] - 25.0 * 2_f64.ln()).abs() < 1e-6, "{m:?}");
    assert!(matches!(read(prior, &bytes, (4, 1)), Err(Error::SizeMismatch { .. })));
    assert!(matches!(read(superpixels, &bytes, (2, 2)), Err(Error::Unsuitable { .. })));
    for length in [8, bytes.len() / 2, bytes.len() - 4] {
        assert!(read(prior, &bytes[..length], (2, 2)).is_err(), "cut to {length} of {}", bytes.len());
    }
}

#[test]
fn a_floating_point_tiff_is_turned_upright() {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut bytes).unwrap();
    let mut image = encoder.new_image::<tiff::encoder::colortype::Gray32Float>(2, 1).unwrap();
    image.encoder().write_tag(tiff::tags::Tag::Orientation, 8_u16).unwrap(); // a quarter turn to the left
    image.write_data(&[0.5, 0.75]).unwrap();
    let m = read(prior, &bytes.into_inner(), (1, 2)).unwrap().value;
    assert_eq!(m.as_slice(), [cost(0.75), cost(0.5)]);
}

#[test]
fn what_is_no_probability_is_refused() {
    for value in [1.5, -0.1, f64::NAN, f64::NEG_INFINITY] {
        let error = read(prior, &npy("'<f8'", "False", "(1, 2)", &doubles(&[0.5, value])), (2, 1)).unwrap_err();
        assert!(matches!(error, Error::Value { row: 0, column: 1, .. }), "{error}");
    }
    assert!(matches!(read(prior, &npy("'|u1'", "False", "(1, 1)", &[200]), (1, 1)), Err(Error::Value { .. })));
    for bytes in [png(1, 1, Rgb8, &[1, 2, 3]), png(1, 1, La8, &[9, 100])] {
        assert!(matches!(read(prior, &bytes, (1, 1)), Err(Error::Unsuitable { .. })));
    }
    assert!(matches!(read(prior, b"rubbish", (1, 1)), Err(Error::NotAnImage { .. })));
}

#[test]
fn a_grey_picture_saved_in_colour_is_still_grey() {
    let m = read(prior, &png(1, 1, Rgb8, &[51, 51, 51]), (1, 1)).unwrap().value;
    assert!((m.as_slice()[0] - 4_f64.ln()).abs() < 1e-12);
}

#[test]
fn superpixels_from_arrays_and_images() {
    let labels = [9, 9, 0xff, 9];
    let expected = [0, 0, 1, 0];
    let wide = |size: usize| labels.iter().flat_map(|&label| std::iter::repeat_n(label, size)).collect::<Vec<u8>>();
    for (descr, size) in [("'|u1'", 1), ("'<i2'", 2), ("'>u4'", 4), ("'<u8'", 8), ("'>i8'", 8)] {
        let partition = read(superpixels, &npy(descr, "False", "(2, 2)", &wide(size)), (2, 2)).unwrap().value;
        assert_eq!(partition.labels(), expected, "{descr}");
    }
    assert_eq!(read(superpixels, &png(2, 2, L8, &labels), (2, 2)).unwrap().value.labels(), expected);
    assert_eq!(read(superpixels, &png(2, 2, L16, &wide(2)), (2, 2)).unwrap().value.labels(), expected);
    let floats = npy("'<f8'", "False", "(1, 2)", &doubles(&[1.0, 2.0]));
    assert!(read(superpixels, &floats, (2, 1)).unwrap_err().to_string().contains("astype"));
}

#[test]
fn superpixels_of_an_indexed_png_are_its_indices() {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 3, 1);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(vec![8; 9]); // three equal colours
    encoder.write_header().unwrap().write_image_data(&[2, 0, 2]).unwrap();
    assert_eq!(read(superpixels, &bytes, (3, 1)).unwrap().value.labels(), [0, 1, 0]);
}

#[test]
fn wide_integers_in_a_tiff_are_labels() {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut bytes).unwrap();
    encoder.write_image::<tiff::encoder::colortype::Gray32>(2, 1, &[70_000, 5]).unwrap();
    assert_eq!(read(superpixels, &bytes.into_inner(), (2, 1)).unwrap().value.count(), 2);
}

#[test]
fn a_huge_image_is_refused_by_its_header() {
    let mut tiff = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut tiff).unwrap();
    encoder.write_image::<tiff::encoder::colortype::Gray32Float>(1, 1, &[0.5]).unwrap();
    let mut tiff = tiff.into_inner();
    inflate(&mut tiff);
    for bytes in [crate::read::huge_png(), tiff] {
        let start = Instant::now();
        assert!(matches!(read(prior, &bytes, (1, 1)), Err(Error::TooLarge { .. })));
        assert!(matches!(read(superpixels, &bytes, (1, 1)), Err(Error::TooLarge { .. })));
        assert!(start.elapsed().as_secs_f64() < 0.5, "took {:?}", start.elapsed());
    }
}

/// Makes the header of a little-endian TIFF claim a million columns and rows in one strip.
fn inflate(bytes: &mut [u8]) {
    let at = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let n_entries = usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    for entry in bytes[at + 2..].chunks_exact_mut(12).take(n_entries) {
        if matches!(u16::from_le_bytes([entry[0], entry[1]]), 256 | 257 | 278) {
            entry[2..4].copy_from_slice(&4_u16.to_le_bytes());
            entry[8..12].copy_from_slice(&1_000_000_u32.to_le_bytes());
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// What ndarray-npy writes, in either memory order, comes back.
    #[test]
    fn arrays_survive_both_memory_orders(height in 1_usize..6, width in 1_usize..6, fortran: bool, seed: u32) {
        let value = |(row, column): (usize, usize)| f64::from(seed) / (1.0 + row as f64) - 1e5 * column as f64;
        let array = Array2::from_shape_fn((height, width).set_f(fortran), value);
        let mut bytes = Vec::new();
        array.write_npy(&mut bytes).unwrap();
        let back = read(unary, &bytes, (width, height)).unwrap().value;
        prop_assert_eq!(back.array(), &array);
    }

    /// The cost of a probability gives the probability back.
    #[test]
    fn costs_invert(p in 1e-9_f64..=(1.0 - 1e-9)) {
        prop_assert!((1.0 / (1.0 + cost(p).exp()) - p).abs() < 1e-15 + 1e-12 * p);
    }

    /// Rubbish behind a sound beginning is an error or a value, not a panic.
    #[test]
    fn rubbish_never_panics(rubbish in prop::collection::vec(any::<u8>(), 0..120), keep in 0_usize..100) {
        let sound = npy("'<f8'", "False", "(1, 2)", &doubles(&[1.0, 2.0]));
        let bytes = [&sound[..keep.min(sound.len())], &rubbish].concat();
        let _ = read(unary, &bytes, (2, 1));
        let _ = read(prior, &bytes, (2, 1));
        let _ = read(superpixels, &bytes, (2, 1));
    }

    /// Any header text is parsed or refused.
    #[test]
    fn header_text_never_panics(text in "[{}()\\[\\]'\":,<>|0-9a-zé L]{0,60}") {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        let _ = read(unary, &bytes, (2, 1));
    }
}
