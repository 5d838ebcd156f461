//! Who may write to an output folder: locks on files that the operating system holds.
//!
//! The system gives a lock back when the process ends, however it ends, so a crash leaves none behind. The locked file stays
//! where it is, empty: removing it would let two processes lock two files of one name. An undivided batch holds the folder alone; shards
//! hold it together, and each its own share alone:
//!
//! ```text
//! OUT/.lfield/lock          undivided, merge: exclusive    shard: shared
//! OUT/.lfield/lock.I-of-N                                  shard I of N: exclusive
//! ```

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The right to write to an output folder, or to a share of it, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    /// The folder first; the share, if there is one, second.
    _files: Vec<File>,
}

/// One file to lock.
struct Claim {
    path: PathBuf,
    is_shared: bool,
}

impl Lock {
    /// Nothing comes back when another process has the right.
    pub fn try_take(folder: &Path, share: Option<&str>) -> Result<Option<Self>> {
        Self::take_with(folder, share, |claim, file| {
            let locked = if claim.is_shared { file.try_lock_shared() } else { file.try_lock() };
            match locked {
                Ok(()) => Ok(true),
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Error(error)) => Err(error),
            }
        })
    }

    /// Waits until no other process has the right.
    pub fn take(folder: &Path, share: Option<&str>) -> Result<Self> {
        let lock = Self::take_with(folder, share, |claim, file| {
            loop {
                match if claim.is_shared { file.lock_shared() } else { file.lock() } {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    result => return result.map(|()| true),
                }
            }
        })?;
        Ok(lock.expect("waiting ends with the lock"))
    }

    fn take_with(
        folder: &Path,
        share: Option<&str>,
        lock: impl Fn(&Claim, &File) -> std::io::Result<bool>,
    ) -> Result<Option<Self>> {
        std::fs::create_dir_all(folder).map_err(|source| Error::OutputFolder { path: folder.to_path_buf(), source })?;
        let whole = Claim { path: folder.join("lock"), is_shared: share.is_some() };
        let part = share.map(|label| Claim { path: folder.join(format!("lock.{label}")), is_shared: false });
        let mut files = Vec::new();
        for claim in std::iter::once(whole).chain(part) {
            let refuse = |source| Error::Write { path: claim.path.clone(), source };
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).open(&claim.path).map_err(refuse)?;
            match lock(&claim, &file) {
                Ok(true) => files.push(file),
                Ok(false) => return Ok(None),
                // A file system without locks: the batch runs as if it were alone.
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
                Err(error) => return Err(refuse(error)),
            }
        }
        Ok(Some(Self { _files: files }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_alone_or_in_shares() {
        let folder = tempfile::tempdir().unwrap();
        let take = |share| Lock::try_take(&folder.path().join("deep/.lfield"), share).unwrap();
        let whole = take(None).unwrap();
        assert!(take(None).is_none() && take(Some("1-of-2")).is_none());
        drop(whole);
        let (first, second) = (take(Some("1-of-2")).unwrap(), take(Some("2-of-2")).unwrap());
        assert!(take(Some("1-of-2")).is_none() && take(None).is_none());
        drop(first);
        assert!(take(Some("1-of-2")).is_some() && take(None).is_none());
        drop(second);
        assert!(take(None).is_some());
    }

    #[test]
    fn waiting_ends_when_the_other_does() {
        let folder = tempfile::tempdir().unwrap();
        let held = Lock::take(folder.path(), Some("1-of-2")).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Lock::take(folder.path(), None).unwrap());
            drop(held);
            let whole = waiting.join().unwrap();
            assert!(Lock::try_take(folder.path(), Some("2-of-2")).unwrap().is_none());
            drop(whole);
        });
    }
}
