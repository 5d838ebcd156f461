//! What every reader of this library shares: limits, warnings, and bytes that never outgrow their file.
//!
//! Files come from strangers, so sizes are checked against [`Limits`] before anything of that size is allocated, and
//! no more is read than an image within the limits could need. The first bytes are looked at before the rest is read:
//! the content decides the format, not the name, and an endless pipe of rubbish is refused at once.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3Default;

use crate::grid::Shape;
use crate::read::{Digest, standard};
use crate::{Error, Result};

/// What a reader may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most pixels an image or array may have; by default 200 million.
    pub max_pixels: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: 200_000_000 }
    }
}

impl Limits {
    /// The shape of a `width` × `height` grid, if it has at least one pixel and no more than the limit.
    pub(crate) fn shape(&self, path: &Path, width: u64, height: u64) -> Result<Shape> {
        let n_pixels = u128::from(width) * u128::from(height);
        if n_pixels == 0 {
            return Err(Error::Damaged {
                path: path.to_path_buf(),
                problem: format!("it is {width}×{height} and has no pixels"),
            });
        }
        if n_pixels > u128::from(self.max_pixels) {
            let (path, max_pixels) = (path.to_path_buf(), self.max_pixels);
            return Err(Error::TooLarge { path, width, height, max_pixels });
        }
        // Both sides are at most max_pixels here; a 32-bit machine may still be too small for them.
        match (usize::try_from(width), usize::try_from(height)) {
            (Ok(width), Ok(height)) if width.checked_mul(height).is_some() => Ok(Shape::new(width, height)),
            _ => Err(Error::TooLarge { path: path.to_path_buf(), width, height, max_pixels: usize::MAX as u64 }),
        }
    }
}

/// Something read from a file, and what its reader thinks the user should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// Whole sentences that name the file.
    pub warnings: Vec<String>,
    /// What was in the file, to tell whether it has changed since.
    pub digest: Digest,
}

/// Length of the part of a file that is looked at before the rest is read.
pub(super) const HEAD: usize = 64;

/// Room for headers, metadata and padding beside the pixels of an image.
pub(crate) const HEADER_BYTES: u64 = 64 << 20;
/// The widest pixel that is read: four 32-bit channels.
const MAX_PIXEL_BYTES: u64 = 16;

/// An open file whose first bytes are known.
pub(crate) struct Source {
    path: PathBuf,
    head: Vec<u8>,
    reader: Box<dyn Read>,
    hasher: Box<Xxh3Default>,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file: Box<dyn Read> = match standard::is_meant(path) {
            true => Box::<standard::Replay>::default(),
            false => Box::new(File::open(path).map_err(Error::unreadable(path))?),
        };
        let mut head = Vec::new();
        file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(Error::unreadable(path))?;
        let reader = Box::new(Cursor::new(head.clone()).chain(file));
        Ok(Self { path: path.to_path_buf(), reader, head, hasher: Box::default() })
    }

    /// What was inside the file at `path`, as a file of its own.
    pub(crate) fn of_bytes(path: &Path, bytes: Vec<u8>) -> Self {
        let head = bytes[..bytes.len().min(HEAD)].to_vec();
        Self { path: path.to_path_buf(), head, reader: Box::new(Cursor::new(bytes)), hasher: Box::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The first bytes of the file; fewer than 64 only if the file is shorter.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The next `n` bytes, or fewer at the end of the file. Memory grows with what is there, not with `n`.
    pub(crate) fn take(&mut self, n: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.reader.by_ref().take(n).read_to_end(&mut bytes) {
            Ok(_) => {
                self.hasher.update(&bytes);
                Ok(bytes)
            }
            Err(source) => Err(Error::Unreadable { path: self.path.clone(), source }),
        }
    }

    /// The digest of everything taken so far.
    pub(crate) fn digest(&self) -> Digest {
        Digest::from_hasher(&self.hasher)
    }

    /// All the bytes that an image within the limits can have.
    pub(crate) fn image_bytes(&mut self, limits: &Limits) -> Result<Vec<u8>> {
        self.take(limits.max_pixels.saturating_mul(MAX_PIXEL_BYTES).saturating_add(HEADER_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_without_overflow() {
        let path = Path::new("x.png");
        let limits = Limits::default();
        assert_eq!(limits.shape(path, 20_000, 10_000).unwrap(), Shape::new(20_000, 10_000));
        assert!(matches!(limits.shape(path, 20_001, 10_000), Err(Error::TooLarge { .. })));
        assert!(matches!(limits.shape(path, u64::MAX, u64::MAX), Err(Error::TooLarge { .. })));
        assert!(matches!(limits.shape(path, 0, 7), Err(Error::Damaged { .. })));
    }

    #[test]
    fn a_missing_file_and_a_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("nothing here.png");
        let message = Source::open(&missing).err().unwrap().to_string();
        assert!(message.contains("nothing here.png"), "{message}");
        assert!(matches!(Source::open(folder.path()), Err(Error::Unreadable { .. })));
    }
}
