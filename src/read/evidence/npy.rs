//! NumPy's `.npy` files, read without trusting them.
//!
//! The header is a Python dictionary of three entries; it is parsed here, by hand, so that the shape is checked
//! against the photo and the limits before a single value is read. Reading never allocates more than the
//! file holds, and nothing is ever unpickled.

use super::samples::{STEP_F16, STEP_F32, STEP_F64, Samples};
use crate::grid::Shape;
use crate::read::picture::fits;
use crate::read::{Limits, Loaded, Source};
use crate::{Error, Result};

/// Whether a file that begins like this is an `.npy` file.
pub(super) fn is_npy(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// How many numbers an array may have for every pixel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Planes {
    /// One: (height, width).
    One,
    /// One, or one for each of two classes: (2, height, width).
    OneOrTwo,
}

/// Reads an array of shape (height, width) of integers, booleans or floats, in either byte order and either memory order; or, where that is
/// allowed, of shape (2, height, width), the first class before the second.
pub(super) fn read(source: &mut Source, photo: Shape, limits: &Limits, planes: Planes) -> Result<Loaded<Samples>> {
    let path = source.path().to_path_buf();
    let damaged = |problem: String| Error::Damaged { path: path.clone(), problem };
    let unsuitable = |(problem, remedy): (String, &str)| Error::unsuitable(&path, problem, remedy);

    let text =
        header_text(source)?.ok_or_else(|| damaged("its header is cut short or of an unknown version".into()))?;
    let header = Header::parse(&text).ok_or_else(|| damaged("its header does not describe one array".into()))?;
    let number = Number::parse(&header.descr).map_err(unsuitable)?;
    let (n_planes, height, width) = match (header.shape[..].as_ref(), planes) {
        (&[height, width], _) => (1, height, width),
        (&[2, height, width], Planes::OneOrTwo) => (2, height, width),
        (sizes, _) => {
            let problem = format!("holds an array of {} dimensions {:?}", sizes.len(), header.shape);
            return Err(unsuitable((problem, advice(sizes, photo, planes))));
        }
    };
    let shape = limits.shape(&path, width, height)?;
    fits(&path, shape, Some(photo))?;

    let n_bytes = n_planes * shape.n_pixels() as u64 * number.size as u64;
    let bytes = source.take(n_bytes)?;
    if (bytes.len() as u64) < n_bytes {
        return Err(damaged(format!("it should hold {n_bytes} bytes of values and has {}", bytes.len())));
    }
    let mut warnings = Vec::new();
    if !source.take(1)?.is_empty() {
        warnings.push(format!("{}: only the first array in it was read, more bytes follow", path.display()));
    }
    let value = number.decode(&bytes);
    let value = match header.fortran_order {
        true if n_planes == 2 => value.separated(shape),
        true => value.transposed(shape),
        false => value,
    };
    Ok(Loaded { value, warnings, digest: source.digest() })
}

/// What to do about an array of the wrong shape.
fn advice(sizes: &[u64], photo: Shape, planes: Planes) -> &'static str {
    let of_photo = |height: u64, width: u64| (height, width) == (photo.height as u64, photo.width as u64);
    match (planes, sizes) {
        (Planes::OneOrTwo, &[height, width, 2]) if of_photo(height, width) => {
            "put the classes first, (2, height, width), for example with array.transpose(2, 0, 1)"
        }
        (Planes::OneOrTwo, &[1, 2, height, width]) if of_photo(height, width) => {
            "save one photo, (2, height, width), for example array[0]"
        }
        (Planes::OneOrTwo, &[classes, height, width]) if classes > 2 && of_photo(height, width) => {
            "save one class against all others, (height, width), for example the softmax of the object, array[1]"
        }
        _ => "save one number per pixel, shape (height, width), for example with array.squeeze()",
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy itself refuses longer headers.
const MAX_HEADER: u64 = 10_000;

/// The text of the header, or nothing if it is not there in full.
fn header_text(source: &mut Source) -> Result<Option<String>> {
    let fixed = source.take(8)?;
    let length = match fixed[..] {
        [.., 1, _] if fixed.len() == 8 => source.take(2)?.try_into().map(|bytes| u64::from(u16::from_le_bytes(bytes))),
        [.., 2 | 3, _] if fixed.len() == 8 => {
            source.take(4)?.try_into().map(|bytes| u64::from(u32::from_le_bytes(bytes)))
        }
        _ => return Ok(None),
    };
    let Ok(length @ ..=MAX_HEADER) = length else { return Ok(None) };
    let text = source.take(length)?;
    Ok(if text.len() as u64 == length { String::from_utf8(text).ok() } else { None })
}

/// What the header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Parses `{'descr': '<f8', 'fortran_order': False, 'shape': (427, 640), }`, with the entries in any order.
    fn parse(text: &str) -> Option<Self> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut rest = text.trim_matches([' ', '\n']).strip_prefix('{')?.strip_suffix('}')?;
        while !rest.trim_start().is_empty() {
            let (key, behind) = quoted(rest.trim_start())?;
            let value = behind.trim_start().strip_prefix(':')?.trim_start();
            let behind = match key {
                "descr" if value.starts_with('[') => {
                    let (fields, behind) = value.split_at(matching(value)?);
                    descr = Some(fields.to_string());
                    behind
                }
                "descr" => {
                    let (kind, behind) = quoted(value)?;
                    descr = Some(kind.to_string());
                    behind
                }
                "fortran_order" => {
                    fortran_order = Some(value.starts_with("True"));
                    value.strip_prefix("True").or_else(|| value.strip_prefix("False"))?
                }
                "shape" => {
                    let (sizes, behind) = value.strip_prefix('(')?.split_once(')')?;
                    let sizes = sizes.trim().strip_suffix(',').unwrap_or(sizes.trim());
                    let parsed = sizes.split(',').map(|size| size.trim().trim_end_matches('L').parse().ok());
                    shape = Some(if sizes.is_empty() { Vec::new() } else { parsed.collect::<Option<_>>()? });
                    behind
                }
                _ => return None,
            };
            rest = behind.trim_start();
            rest = rest.strip_prefix(',').or(if rest.is_empty() { Some(rest) } else { None })?;
        }
        Some(Self { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

/// A Python string without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|&quote| quote == '\'' || quote == '"')?;
    text[1..].split_once(quote)
}

/// The length of the bracketed list that `text` begins with.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The type of a number: kind, bytes, and byte order.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    kind: char,
    size: usize,
    is_big_endian: bool,
}

impl Number {
    /// Parses `<f8` and the like; the error is what the array holds and what to do about it.
    fn parse(descr: &str) -> Result<Self, (String, &'static str)> {
        let code = descr.trim_start_matches(['<', '>', '|']);
        let number = |kind, size| Ok(Self { kind, size, is_big_endian: descr.starts_with('>') });
        match code {
            "f2" | "f4" | "f8" | "i1" | "i2" | "i4" | "i8" | "u1" | "u2" | "u4" | "u8" | "b1" => {
                number(char::from(code.as_bytes()[0]), usize::from(code.as_bytes()[1] - b'0'))
            }
            _ if code.starts_with('O') => Err((
                "holds Python objects, which are never unpickled".into(),
                "save plain numbers, for example array.astype(numpy.float64)",
            )),
            _ if descr.starts_with('[') => {
                Err(("holds records of several fields".into(), "save a single field as a plain array"))
            }
            _ => Err((
                format!("holds values of type {descr:?}"),
                "save real numbers or integers, for example array.astype(numpy.float64)",
            )),
        }
    }

    fn decode(&self, bytes: &[u8]) -> Samples {
        let real = |step, read: fn(u64) -> f64| Samples::Real { values: self.words(bytes).map(read).collect(), step };
        let whole =
            |read: fn(u64) -> i128| Samples::Whole { values: self.words(bytes).map(read).collect(), full: None };
        match (self.kind, self.size) {
            ('f', 2) => real(STEP_F16, |word| half::f16::from_bits(word as u16).to_f64()),
            ('f', 4) => real(STEP_F32, |word| f64::from(f32::from_bits(word as u32))),
            ('f', _) => real(STEP_F64, f64::from_bits),
            ('i', 1) => whole(|word| i128::from(word as i8)),
            ('i', 2) => whole(|word| i128::from(word as i16)),
            ('i', 4) => whole(|word| i128::from(word as i32)),
            ('i', _) => whole(|word| i128::from(word as i64)),
            _ => whole(i128::from),
        }
    }

    /// The bits of each number, zero-extended.
    fn words(&self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.chunks_exact(self.size).map(|chunk| {
            let append = |word: u64, &byte: &u8| (word << 8) | u64::from(byte);
            if self.is_big_endian { chunk.iter().fold(0, append) } else { chunk.iter().rev().fold(0, append) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(descr: &str, fortran_order: bool, shape: &[u64]) -> Option<Header> {
        Some(Header { descr: descr.into(), fortran_order, shape: shape.to_vec() })
    }

    #[test]
    fn headers_as_numpy_writes_them() {
        let parse = Header::parse;
        assert_eq!(
            parse("{'descr': '<f8', 'fortran_order': False, 'shape': (427, 640), }   \n"),
            header("<f8", false, &[427, 640])
        );
        assert_eq!(parse("{'shape': (3L,), \"descr\": '|u1', 'fortran_order': True}"), header("|u1", true, &[3]));
        assert_eq!(parse("{'descr': '|O', 'fortran_order': False, 'shape': ()}"), header("|O", false, &[]));
        let fields = "[('a', '<f4'), ('b', '<i2', (2,))]";
        assert_eq!(
            parse(&format!("{{'descr': {fields}, 'fortran_order': False, 'shape': (2, 2), }}")),
            header(fields, false, &[2, 2])
        );
    }

    #[test]
    fn headers_nobody_should_write() {
        for text in [
            "",
            "{}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, -2)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 99999999999999999999999)}",
            "{'descr': '<f8', 'fortran_order': None, 'shape': (2, 2)}",
            "{'descr': '<f8' 'fortran_order': False, 'shape': (2, 2)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'more': 1}",
            "{'descr': [[, 'fortran_order': False, 'shape': (2, 2)}",
            "{'é",
        ] {
            assert_eq!(Header::parse(text), None, "{text}");
        }
    }
}
