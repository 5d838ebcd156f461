//! One number per pixel, from any file that holds such: an array, a grey image, a floating-point TIFF.

use std::io::Cursor;
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageFormat};
use tiff::decoder::{Decoder, DecodingResult};
use tiff::tags::{SampleFormat, Tag};
use tiff::{ColorType, TiffError};

use super::npy::{self, Planes};
use super::npz;
use crate::grid::Shape;
use crate::read::picture::{decode_bytes, fits, format_of, orient, oriented};
use crate::read::raster::png_indices;
use crate::read::{Limits, Loaded, Source};
use crate::{Error, Result};

/// The numbers of a file, row by row, exactly as stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Samples {
    /// Floating-point numbers.
    Real {
        values: Vec<f64>,
        /// Distance from 1 to the next smaller number of the file's type.
        step: f64,
    },
    /// Integers.
    Whole {
        values: Vec<i128>,
        /// The value that stands for 1, in images.
        full: Option<u16>,
    },
}

impl Samples {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Real { values, .. } => values.len(),
            Self::Whole { values, .. } => values.len(),
        }
    }

    pub(crate) fn into_real(self) -> Vec<f64> {
        match self {
            Self::Real { values, .. } => values,
            Self::Whole { values, .. } => values.into_iter().map(|value| value as f64).collect(),
        }
    }

    /// The values with the `full` of an image as 1.
    pub(crate) fn into_fraction(self) -> Vec<f64> {
        match self {
            Self::Whole { values, full: Some(full) } => {
                values.into_iter().map(|value| value as f64 / f64::from(full)).collect()
            }
            other => other.into_real(),
        }
    }

    /// The same numbers when they were stored column by column.
    pub(super) fn transposed(self, shape: Shape) -> Self {
        // Column by column is the transposed picture row by row, and a transpose is one of the eight orientations.
        let stored = Shape::new(shape.height, shape.width);
        self.upright(stored, Orientation::Rotate90FlipH)
    }

    /// Two numbers for every pixel, class by class and row by row, of an array (2, height, width) that was stored column by column: there the
    /// class is what changes first.
    pub(super) fn separated(self, shape: Shape) -> Self {
        let (first, second) = (self.clone().every_second(0), self.every_second(1));
        match (first.transposed(shape), second.transposed(shape)) {
            (Self::Real { mut values, step }, Self::Real { values: more, .. }) => {
                values.extend(more);
                Self::Real { values, step }
            }
            (Self::Whole { mut values, full }, Self::Whole { values: more, .. }) => {
                values.extend(more);
                Self::Whole { values, full }
            }
            _ => unreachable!("both halves of an array have its type"),
        }
    }

    fn every_second(self, first: usize) -> Self {
        match self {
            Self::Real { values, step } => {
                Self::Real { values: values.into_iter().skip(first).step_by(2).collect(), step }
            }
            Self::Whole { values, full } => {
                Self::Whole { values: values.into_iter().skip(first).step_by(2).collect(), full }
            }
        }
    }

    fn upright(self, stored: Shape, orientation: Orientation) -> Self {
        match self {
            Self::Real { values, step } => Self::Real { values: orient(values, stored, orientation), step },
            Self::Whole { values, full } => Self::Whole { values: orient(values, stored, orientation), full },
        }
    }

    /// How finely a fraction just below 1 is told; plain integers are taken as exact, like 64-bit floats.
    pub(crate) fn step(&self) -> f64 {
        match self {
            Self::Real { step, .. } => *step,
            Self::Whole { full: Some(full), .. } => 1.0 / f64::from(*full),
            Self::Whole { full: None, .. } => STEP_F64,
        }
    }
}

/// Steps of the floating-point types just below 1.
pub(super) const STEP_F16: f64 = 1.0 / (1_u64 << 11) as f64;
pub(super) const STEP_F32: f64 = 1.0 / (1_u64 << 24) as f64;
pub(super) const STEP_F64: f64 = f64::EPSILON / 2.0;

/// What the pixels of an indexed PNG are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Palette {
    /// The colours shown.
    Colours,
    /// The numbers stored.
    Indices,
}

/// Reads probabilities: an `.npy` array, one in an `.npz` archive, or a grey image of shape `photo`; of an array also two classes.
pub(super) fn read_prior(path: &Path, photo: Shape, limits: &Limits) -> Result<Loaded<Samples>> {
    let mut source = Source::open(path)?;
    if npz::is_npz(source.head()) {
        let (mut array, digest) = npz::open(&mut source, photo, limits)?;
        if !npy::is_npy(array.head()) {
            return Err(Error::Damaged { path: path.to_path_buf(), problem: "its array is not an .npy file".into() });
        }
        return Ok(Loaded { digest, ..npy::read(&mut array, photo, limits, Planes::OneOrTwo)? });
    }
    if npy::is_npy(source.head()) {
        return npy::read(&mut source, photo, limits, Planes::OneOrTwo);
    }
    read_image(source, photo, limits, Palette::Colours)
}

/// Reads an `.npy` array or a grey image of shape `photo`.
pub(super) fn read(path: &Path, photo: Shape, limits: &Limits, palette: Palette) -> Result<Loaded<Samples>> {
    let mut source = Source::open(path)?;
    if npy::is_npy(source.head()) {
        return npy::read(&mut source, photo, limits, Planes::One);
    }
    read_image(source, photo, limits, palette)
}

fn read_image(mut source: Source, photo: Shape, limits: &Limits, palette: Palette) -> Result<Loaded<Samples>> {
    let path = &source.path().to_path_buf();
    let format = format_of(path, source.head())?;
    let bytes = source.image_bytes(limits)?;
    let digest = source.digest();
    if format == ImageFormat::Tiff
        && let Some(value) = from_tiff(path, &bytes, photo, limits)?
    {
        return Ok(Loaded { value, warnings: Vec::new(), digest });
    }
    let decoded = decode_bytes(path, format, bytes, digest, limits, Some(photo))?;
    let indices = if palette == Palette::Indices { png_indices(path, &decoded)? } else { None };
    let value = match (indices, decoded.image) {
        (Some(indices), _) => whole(indices, None),
        (None, DynamicImage::ImageLuma8(image)) => whole(image.into_raw(), Some(255)),
        (None, DynamicImage::ImageLuma16(image)) => whole(image.into_raw(), Some(65535)),
        (None, image) if image.color().bytes_per_pixel() > 4 => {
            whole(grey(path, image.into_rgba16().as_raw(), u16::MAX)?, Some(65535))
        }
        (None, image) => whole(grey(path, image.into_rgba8().as_raw(), u8::MAX)?, Some(255)),
    };
    Ok(Loaded { value, warnings: Vec::new(), digest })
}

fn whole<T: Into<i128>>(values: Vec<T>, full: Option<u16>) -> Samples {
    Samples::Whole { values: values.into_iter().map(Into::into).collect(), full }
}

fn real<T: Into<f64>>(values: Vec<T>, step: f64) -> Samples {
    Samples::Real { values: values.into_iter().map(Into::into).collect(), step }
}

/// The grey values of RGBA samples that are opaque and without colour.
fn grey<T: Copy + PartialEq>(path: &Path, rgba: &[T], opaque: T) -> Result<Vec<T>> {
    let value = |&[r, g, b, a]: &[T; 4]| (r == g && g == b && a == opaque).then_some(r);
    rgba.as_chunks::<4>().0.iter().map(value).collect::<Option<_>>().ok_or_else(|| {
        Error::unsuitable(
            path,
            "has colours or transparency, so it is not one number per pixel",
            "save it as a grey image or an .npy array",
        )
    })
}

/// The samples of a one-channel TIFF that the image crate does not decode: floats, signed and wide integers.
fn from_tiff(path: &Path, bytes: &[u8], photo: Shape, limits: &Limits) -> Result<Option<Samples>> {
    let refused = |error: TiffError| Error::Damaged { path: path.to_path_buf(), problem: error.to_string() };
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(refused)?;
    let (width, height) = decoder.dimensions().map_err(refused)?;
    let stored = limits.shape(path, width.into(), height.into())?;
    let kind = decoder.find_tag_unsigned::<u16>(Tag::SampleFormat).unwrap_or(None);
    let is_plain = kind.is_none_or(|kind| kind == SampleFormat::Uint.to_u16());
    match decoder.colortype().map_err(refused)? {
        ColorType::Gray(bits) if bits > 16 || !is_plain => {}
        _ => return Ok(None),
    }
    let turn = decoder.find_tag_unsigned::<u8>(Tag::Orientation).unwrap_or(None);
    let orientation = turn.and_then(Orientation::from_exif).unwrap_or(Orientation::NoTransforms);
    fits(path, oriented(stored, orientation), Some(photo))?;

    let mut allowance = tiff::decoder::Limits::default();
    allowance.decoding_buffer_size = stored.n_pixels().saturating_mul(8);
    allowance.intermediate_buffer_size = allowance.decoding_buffer_size.saturating_add(1 << 20);
    let samples = match decoder.with_limits(allowance).read_image().map_err(refused)? {
        DecodingResult::U8(values) => whole(values, None),
        DecodingResult::U16(values) => whole(values, None),
        DecodingResult::U32(values) => whole(values, None),
        DecodingResult::U64(values) => whole(values, None),
        DecodingResult::I8(values) => whole(values, None),
        DecodingResult::I16(values) => whole(values, None),
        DecodingResult::I32(values) => whole(values, None),
        DecodingResult::I64(values) => whole(values, None),
        DecodingResult::F16(values) => real(values.into_iter().map(f64::from).collect(), STEP_F16),
        DecodingResult::F32(values) => real(values, STEP_F32),
        DecodingResult::F64(values) => real(values, STEP_F64),
    };
    // The decoder leaves numbers of less than a byte packed.
    if samples.len() != stored.n_pixels() {
        return Err(Error::unsuitable(path, "packs several numbers into a byte", "save 8 or more bits per pixel"));
    }
    Ok(Some(samples.upright(stored, orientation)))
}
