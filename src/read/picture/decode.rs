//! From a stranger's file to pixels: every image lfield reads (photo, strokes, truth, prior, label map) comes through here.
//!
//! The decoders' own memory limit is skipped on the path that gives the EXIF orientation, so the size in the header is
//! checked here, against the limit and against the photo it should fit, before a pixel is decoded.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::ops::Range;
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult};

use super::chunk::{drop_profiles, palette_is_whole};
use super::complete::missing_end;
use super::foreign;
use super::frame::Frames;
use super::metadata;
use crate::grid::{Profile, Shape};
use crate::read::source::HEAD;
use crate::read::{Digest, HEADER_BYTES, Limits, Source, standard};
use crate::{Error, Result};

/// A decoded file, upright.
pub(crate) struct Decoded {
    /// The pixels, with the EXIF orientation applied.
    pub(crate) image: DynamicImage,
    /// The shape of `image`.
    pub(crate) shape: Shape,
    /// What was applied.
    pub(crate) orientation: Orientation,
    /// The format found.
    pub(crate) format: ImageFormat,
    /// The ICC profile.
    pub(crate) profile: Option<Profile>,
    /// Pixels per metre, upright.
    pub(crate) density: Option<[u32; 2]>,
    /// The pictures of the file, if there are several.
    pub(crate) frames: Option<Frames>,
    /// What was in the file.
    pub(crate) digest: Digest,
    /// The file without its colour profile, for what the pixels do not tell (palette indices, text).
    pub(crate) bytes: Vec<u8>,
}

/// Decodes an image of at most `limits.max_pixels` pixels and, if `photo` is given, of exactly that shape.
pub(crate) fn decode(mut source: Source, limits: &Limits, photo: Option<Shape>) -> Result<Decoded> {
    let format = format_of(source.path(), source.head())?;
    let bytes = source.image_bytes(limits)?;
    decode_bytes(source.path(), format, bytes, source.digest(), limits, photo)
}

/// As [`decode`], from bytes in memory that messages call `name`.
pub(crate) fn decode_memory(name: &Path, bytes: &[u8], limits: &Limits, photo: Option<Shape>) -> Result<Decoded> {
    let format = format_of(name, &bytes[..bytes.len().min(HEAD)])?;
    decode_bytes(name, format, bytes.to_vec(), Digest::of(bytes), limits, photo)
}

/// As [`decode`], from the bytes of a file whose format and content hash are known.
pub(crate) fn decode_bytes(
    path: &Path,
    format: ImageFormat,
    mut bytes: Vec<u8>,
    digest: Digest,
    limits: &Limits,
    photo: Option<Shape>,
) -> Result<Decoded> {
    let damaged = |problem: &str| Error::Damaged { path: path.to_path_buf(), problem: problem.into() };
    if let Some(problem) = missing_end(format, &bytes) {
        return Err(damaged(problem));
    }
    let mut profile = None;
    if format == ImageFormat::Png {
        png_shape(path, &bytes, limits)?;
        if !palette_is_whole(&bytes) {
            return Err(damaged("its palette ends inside a colour"));
        }
        profile = metadata::packed_profile(&bytes);
        drop_profiles(&mut bytes);
    }

    let refused = |error| refusal(path, error);
    let mut reader = ImageReader::with_format(Cursor::new(bytes.as_slice()), format);
    let mut allowance = header_allowance();
    reader.limits(allowance.clone());
    let mut decoder = reader.into_decoder().map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let stored = limits.shape(path, width.into(), height.into())?;
    let orientation = decoder.orientation().map_err(refused)?;
    let shape = oriented(stored, orientation);
    fits(path, shape, photo)?;

    match format {
        ImageFormat::Png => {}
        ImageFormat::Tiff => profile = metadata::tiff_profile(&bytes),
        _ => profile = metadata::plain_profile(decoder.icc_profile().map_err(refused)?),
    }
    let density = metadata::density(format, &bytes).map(|[across, down]| match is_transposed(orientation) {
        true => [down, across],
        false => [across, down],
    });

    // The pixels, once more for a decoder's copy of them (four channels where CMYK becomes RGB), and room for headers.
    allowance.max_alloc = Some(decoder.total_bytes().saturating_mul(4).saturating_add(HEADER_BYTES));
    decoder.set_limits(allowance).map_err(refused)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(refused)?;
    image.apply_orientation(orientation);
    let frames = Frames::of(format, &bytes);
    Ok(Decoded { image, shape, orientation, format, profile, density, frames, digest, bytes })
}

/// The shape a photo claims to have, from its header alone; its EXIF orientation is not looked at.
pub(crate) fn claimed_shape(path: &Path, limits: &Limits) -> Result<Shape> {
    refuse_pipe(path)?;
    let mut source = Source::open(path)?;
    let format = format_of(path, source.head())?;
    let (width, height) = match format {
        ImageFormat::Png => return png_shape(path, source.head(), limits),
        // What is missing from the end has to be known before the decoder believes a length; the standard input has no place to seek.
        format if format == ImageFormat::WebP || standard::is_meant(path) => {
            let bytes = source.image_bytes(limits)?;
            if let Some(problem) = missing_end(format, &bytes) {
                return Err(Error::Damaged { path: path.to_path_buf(), problem: problem.into() });
            }
            dimensions(Cursor::new(bytes), format)
        }
        _ => dimensions(BufReader::new(File::open(path).map_err(Error::unreadable(path))?), format),
    }
    .map_err(|error| refusal(path, error))?;
    limits.shape(path, width.into(), height.into())
}

/// A photo is opened more than once, and a pipe can be read only once: it would wait for ever.
fn refuse_pipe(path: &Path) -> Result<()> {
    #[cfg(unix)]
    if std::fs::metadata(path).is_ok_and(|file| std::os::unix::fs::FileTypeExt::is_fifo(&file.file_type())) {
        return Err(Error::unsuitable(path, "is a pipe", "save the photo in a file and give that"));
    }
    Ok(())
}

fn dimensions(bytes: impl BufRead + Seek, format: ImageFormat) -> ImageResult<(u32, u32)> {
    let mut reader = ImageReader::with_format(bytes, format);
    reader.limits(header_allowance());
    reader.into_dimensions()
}

/// Where the first chunk of a PNG says its width and height.
const PNG_SIZE: Range<usize> = 16..24;

/// The size of a PNG from its header chunk: the decoder makes room for a row when it is opened, so this has to be known before.
fn png_shape(path: &Path, bytes: &[u8], limits: &Limits) -> Result<Shape> {
    let Some(&[w0, w1, w2, w3, h0, h1, h2, h3]) = bytes.get(PNG_SIZE) else {
        return Err(Error::Damaged { path: path.to_path_buf(), problem: "it ends too early".into() });
    };
    let [width, height] = [[w0, w1, w2, w3], [h0, h1, h2, h3]].map(|side| u64::from(u32::from_be_bytes(side)));
    limits.shape(path, width, height)
}

/// What a decoder may use before the size of the picture is known.
fn header_allowance() -> image::Limits {
    let mut allowance = image::Limits::no_limits();
    allowance.max_alloc = Some(HEADER_BYTES);
    allowance
}

/// Refuses a shape that is not the photo's.
pub(crate) fn fits(path: &Path, found: Shape, photo: Option<Shape>) -> Result<()> {
    match photo {
        Some(photo) if photo != found => Err(Error::SizeMismatch { what: path.display().to_string(), found, photo }),
        _ => Ok(()),
    }
}

/// The shape after `orientation`.
pub(crate) fn oriented(stored: Shape, orientation: Orientation) -> Shape {
    if is_transposed(orientation) { Shape::new(stored.height, stored.width) } else { stored }
}

/// Applies `orientation` to values that no image buffer holds; the result has the shape [`oriented`] gives.
pub(crate) fn orient<T: Copy>(values: Vec<T>, stored: Shape, orientation: Orientation) -> Vec<T> {
    if orientation == Orientation::NoTransforms {
        return values;
    }
    let (right, bottom) = (stored.width - 1, stored.height - 1);
    let upright = oriented(stored, orientation);
    let mut result = Vec::with_capacity(values.len());
    for row in 0..upright.height {
        for column in 0..upright.width {
            let (from_row, from_column) = match orientation {
                Orientation::NoTransforms => (row, column),
                Orientation::FlipHorizontal => (row, right - column),
                Orientation::FlipVertical => (bottom - row, column),
                Orientation::Rotate180 => (bottom - row, right - column),
                Orientation::Rotate90 => (bottom - column, row),
                Orientation::Rotate270 => (column, right - row),
                Orientation::Rotate90FlipH => (column, row),
                Orientation::Rotate270FlipH => (bottom - column, right - row),
            };
            result.push(values[from_row * stored.width + from_column]);
        }
    }
    result
}

/// The format that the first bytes of a file show.
pub(crate) fn format_of(path: &Path, head: &[u8]) -> Result<ImageFormat> {
    use ImageFormat::{Bmp, Jpeg, Png, Pnm, Tiff, WebP};
    if let Some(found) = foreign::named(path, head) {
        return Err(Error::NotAnImage { path: path.to_path_buf(), found });
    }
    let found = match image::guess_format(head) {
        Ok(format @ (Png | Jpeg | Bmp | Tiff | WebP | Pnm)) => return Ok(format),
        Ok(other) => format!("a {} file, which is not read here", format!("{other:?}").to_uppercase()),
        Err(_) if head.is_empty() => "an empty file".into(),
        Err(_) => "not an image of any format known here".into(),
    };
    Err(Error::NotAnImage { path: path.to_path_buf(), found })
}

fn is_transposed(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

fn refusal(path: &Path, error: ImageError) -> Error {
    let path = path.to_path_buf();
    match error {
        ImageError::Unsupported(error) => Error::unsuitable(
            path,
            format!("is of a kind that cannot be decoded ({error})"),
            "convert it to an 8-bit or 16-bit PNG",
        ),
        ImageError::Limits(error) => Error::unsuitable(
            path,
            format!("asks for more memory than its size explains ({error})"),
            "save it again as a plain PNG",
        ),
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Error::Damaged { path, problem: "it ends too early".into() }
        }
        other => Error::Damaged { path, problem: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orienting_values_is_what_the_image_crate_does_to_pixels() {
        let stored = Shape::new(3, 2);
        for exif in 1..=8 {
            let orientation = Orientation::from_exif(exif).unwrap();
            let values: Vec<u8> = (0..6).collect();
            let mut twin = DynamicImage::ImageLuma8(image::GrayImage::from_raw(3, 2, values.clone()).unwrap());
            twin.apply_orientation(orientation);
            assert_eq!(orient(values, stored, orientation), twin.as_bytes(), "orientation {exif}");
            let shape = oriented(stored, orientation);
            assert_eq!((shape.width as u32, shape.height as u32), (twin.width(), twin.height()));
        }
    }
}
