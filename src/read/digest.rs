//! The content hash: equal contents have equal hashes, and changed ones do not.
//!
//! XXH3 in its 128-bit form: as fast as memory, and two different files share a hash with a chance of about 2⁻¹²⁸ per pair. It
//! tells changes, not forgeries. The function is fixed for all time, so a hash written by one machine is good on every other.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::{Error, Result};

/// The hash of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(u128);

impl Digest {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }

    /// The hash of a file's content, read in pieces. What need not have an end, a device or a pipe, has none.
    pub fn of_file(path: &Path) -> Result<Self> {
        let unreadable = |source| Error::unreadable(path)(source);
        if std::fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir()) {
            return Err(unreadable(std::io::Error::other("a device or a pipe, not a file")));
        }
        let mut file = File::open(path).map_err(unreadable)?;
        let mut hasher = Xxh3Default::new();
        let mut piece = vec![0; 1 << 16];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(Self::from_hasher(&hasher)),
                Ok(n) => hasher.update(&piece[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
    }

    pub(crate) fn from_hasher(hasher: &Xxh3Default) -> Self {
        Self(hasher.digest128())
    }

    /// One of `n` equal shares, the same on every machine.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn share(self, n: usize) -> usize {
        (self.0 % n as u128) as usize
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_hash_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        for n in [0, 1, 239, 240, 241, 65_536, 200_001] {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 31 % 251) as u8).collect();
            let path = folder.path().join("file");
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Digest::of_file(&path).unwrap(), Digest::of(&bytes), "{n} bytes");
        }
        assert!(Digest::of_file(folder.path()).is_err());
    }

    /// The published test value of XXH3: hashes stay what they are.
    #[test]
    fn the_hash_of_nothing_is_the_published_one() {
        assert_eq!(Digest::of(b"").to_string(), "99aa06d3014798d86001c324468d497f");
    }

    #[test]
    fn a_hash_survives_json() {
        let digest = Digest::of(b"cat");
        let text = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), digest);
        assert!(serde_json::from_str::<Digest>("\"cat\"").is_err());
    }
}
