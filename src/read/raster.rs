//! A stroke file as stored, before any meaning is given to its values.
//!
//! The image decoder expands palettes and drops texts, and both may carry meaning here: a PNG is looked at a second
//! time for its palette indices and for the text key `lfield`.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageFormat};

use crate::grid::Shape;
use crate::read::picture::{Decoded, Frames, decode, decode_memory, orient};
use crate::read::{Digest, Limits, Source};
use crate::{Error, Result};

/// The pixels of a stroke file, upright.
pub(super) struct Raster {
    pub(super) shape: Shape,
    /// Colour and opacity of every pixel.
    pub(super) rgba: Vec<[u8; 4]>,
    /// The grey values, when no pixel has a colour: 16-bit files come back to 0–255 if they are a stretched or a plain 8-bit range.
    pub(super) grey: Option<Vec<u16>>,
    /// The palette indices of an indexed PNG.
    pub(super) indices: Option<Vec<u8>>,
    /// Whether the file was compressed with losses, so that values are only about what was painted.
    pub(super) is_lossy: bool,
    /// What was in the file.
    pub(super) digest: Digest,
    /// The pictures of the file, if there are several.
    pub(super) frames: Option<Frames>,
    /// The text a PNG has under the key `lfield`.
    pub(super) note: Option<String>,
}

impl Raster {
    pub(super) fn read(path: &Path, limits: &Limits, photo: Option<Shape>) -> Result<Self> {
        Self::decode_source(Source::open(path)?, limits, photo)
    }

    /// The same from a file that is open already.
    pub(super) fn decode_source(source: Source, limits: &Limits, photo: Option<Shape>) -> Result<Self> {
        let path = source.path().to_path_buf();
        Self::of_image(&path, decode(source, limits, photo)?)
    }

    /// The same from memory; `name` is what messages call it.
    pub(super) fn decode(name: &Path, bytes: &[u8], limits: &Limits, photo: Option<Shape>) -> Result<Self> {
        Self::of_image(name, decode_memory(name, bytes, limits, photo)?)
    }

    fn of_image(path: &Path, decoded: Decoded) -> Result<Self> {
        let indices = png_indices(path, &decoded)?;
        let note = if decoded.format == ImageFormat::Png { png_note(&decoded.bytes) } else { None };
        let (shape, digest, frames) = (decoded.shape, decoded.digest, decoded.frames);
        let is_lossy = is_lossy(decoded.format, &decoded.bytes);
        let wide = match &decoded.image {
            DynamicImage::ImageLuma16(image) => Some(image.as_raw().clone()),
            DynamicImage::ImageLumaA16(image) => Some(image.pixels().map(|pixel| pixel.0[0]).collect()),
            _ => None,
        };
        let rgba = decoded.image.into_rgba8().as_raw().as_chunks::<4>().0.to_vec();
        let grey = match wide {
            Some(values) => Some(eight_bit_range(values)),
            None if rgba.iter().all(|&[r, g, b, _]| r == g && g == b) => {
                Some(rgba.iter().map(|pixel| u16::from(pixel[0])).collect())
            }
            None => None,
        };
        Ok(Self { shape, rgba, grey, indices, is_lossy, digest, frames, note })
    }

    /// How far a plain canvas may be from one colour.
    pub(super) fn tolerance(&self) -> u8 {
        if self.is_lossy { 40 } else { 8 }
    }

    /// How far a value may be from the level it stands for.
    pub(super) fn tolerance_of_levels(&self) -> u8 {
        if self.is_lossy { 24 } else { 0 }
    }

    /// Whether every pixel is fully opaque.
    pub(super) fn is_opaque(&self) -> bool {
        self.rgba.iter().all(|pixel| pixel[3] == 255)
    }

    /// The values found and their pixel counts, for a message.
    pub(super) fn describe(&self) -> String {
        let indices =
            self.indices.as_ref().map(|indices| format!("palette indices {}", listed(indices, |v| v.to_string())));
        let colours = match &self.grey {
            Some(values) => format!("grey values {}", listed(values, |v| v.to_string())),
            None => format!(
                "colours {}",
                listed(&self.rgba, |[r, g, b, a]| match a {
                    255 => format!("#{r:02x}{g:02x}{b:02x}"),
                    a => format!("#{r:02x}{g:02x}{b:02x}{a:02x}"),
                })
            ),
        };
        match indices {
            Some(indices) => format!("{indices}, shown as {colours}"),
            None => colours,
        }
    }
}

/// JPEG always, WebP unless its picture chunk says lossless.
fn is_lossy(format: ImageFormat, bytes: &[u8]) -> bool {
    match format {
        ImageFormat::Jpeg => true,
        ImageFormat::WebP => bytes.get(12..16) != Some(b"VP8L"),
        _ => false,
    }
}

/// The palette indices of an indexed PNG, upright; nothing for any other image.
pub(crate) fn png_indices(path: &Path, decoded: &Decoded) -> Result<Option<Vec<u8>>> {
    if decoded.format != ImageFormat::Png {
        return Ok(None);
    }
    let damaged = |error: png::DecodingError| Error::Damaged { path: path.to_path_buf(), problem: error.to_string() };
    let mut decoder = png::Decoder::new(Cursor::new(decoded.bytes.as_slice()));
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let info = reader.info();
    if info.color_type != png::ColorType::Indexed {
        return Ok(None);
    }
    let stored = Shape::new(info.width as usize, info.height as usize);
    let depth = info.bit_depth as usize;
    let row_bytes = (stored.width * depth).div_ceil(8);
    let mut packed = vec![0; row_bytes * stored.height];
    reader.next_frame(&mut packed).map_err(damaged)?;
    // The leftmost pixel of a byte sits in its highest bits.
    let index = |row: &[u8], column: usize| {
        let bit = column * depth;
        let shift = 8 - depth - bit % 8;
        (row[bit / 8] >> shift) & (0xff >> (8 - depth)) as u8
    };
    let indices =
        packed.chunks_exact(row_bytes).flat_map(|row| (0..stored.width).map(move |column| index(row, column)));
    Ok(Some(orient(indices.collect(), stored, decoded.orientation)))
}

/// The text under the key `lfield`, before or behind the pixels; a text that cannot be read counts as absent.
fn png_note(bytes: &[u8]) -> Option<String> {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().ok()?;
    reader.finish().ok()?;
    let info = reader.info();
    let plain =
        info.uncompressed_latin1_text.iter().find(|chunk| chunk.keyword == NOTE_KEY).map(|chunk| chunk.text.clone());
    let utf8 = || {
        let mut chunk = info.utf8_text.iter().find(|chunk| chunk.keyword == NOTE_KEY)?.clone();
        chunk.decompress_text_with_limit(NOTE_BYTES).ok()?;
        chunk.get_text().ok()
    };
    let compressed = || {
        let mut chunk = info.compressed_latin1_text.iter().find(|chunk| chunk.keyword == NOTE_KEY)?.clone();
        chunk.decompress_text_with_limit(NOTE_BYTES).ok()?;
        chunk.get_text().ok()
    };
    plain.or_else(utf8).or_else(compressed)
}

const NOTE_KEY: &str = "lfield";
const NOTE_BYTES: usize = 256;

/// 16-bit values that are 8-bit ones, multiplied by 257 as PNG asks or stored as they are.
fn eight_bit_range(mut values: Vec<u16>) -> Vec<u16> {
    if values.iter().all(|value| value % 257 == 0) {
        values.iter_mut().for_each(|value| *value /= 257);
    }
    values
}

/// The most frequent values with their counts, in their own order.
fn listed<T: Copy + Ord>(values: &[T], show: impl Fn(T) -> String) -> String {
    const SHOWN: usize = 8;
    let mut counts = BTreeMap::new();
    for &value in values {
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    let mut entries: Vec<(T, usize)> = counts.into_iter().collect();
    let n_hidden = entries.len().saturating_sub(SHOWN);
    entries.sort_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
    entries.truncate(SHOWN);
    entries.sort();
    let mut text =
        entries.iter().map(|&(value, count)| format!("{} ({count} px)", show(value))).collect::<Vec<_>>().join(", ");
    if n_hidden > 0 {
        text += &format!(" and {n_hidden} more");
    }
    text
}
