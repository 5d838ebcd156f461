//! The standard input as a file called `-`, for programs that ask for it.
//!
//! A reader may open a file more than once: the header first, the pixels later. What has come through the pipe is therefore kept, and no more
//! is taken from it than someone reads, so that an endless pipe of rubbish is refused by its first bytes.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The name that stands for the standard input.
pub const NAME: &str = "-";

static IS_ALLOWED: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// From now on the path `-` is the standard input, in this whole process; before, it is a file like any other.
pub fn allow() {
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether a path is the standard input.
pub(crate) fn is_meant(path: &Path) -> bool {
    path.as_os_str() == NAME && IS_ALLOWED.load(Ordering::Relaxed)
}

/// The standard input from its beginning, whoever has read from it before.
#[derive(Default)]
pub(super) struct Replay {
    at: usize,
}

impl Read for Replay {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let n = read_at(&mut kept, self.at, &mut std::io::stdin().lock(), buffer)?;
        self.at += n;
        Ok(n)
    }
}

/// Bytes from place `at`, out of what is kept, which grows by what `source` still has.
fn read_at(kept: &mut Vec<u8>, at: usize, source: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    if at == kept.len() {
        let n = source.read(buffer)?;
        kept.extend(&buffer[..n]);
        return Ok(n);
    }
    let n = buffer.len().min(kept.len() - at);
    buffer[..n].copy_from_slice(&kept[at..at + n]);
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_sees_all_of_it_and_nothing_is_taken_before_it_is_asked_for() {
        let content: Vec<u8> = (0..200).collect();
        let (mut source, mut kept) = (content.as_slice(), Vec::new());
        for (n_first, n_buffer) in [(10, 7), (64, 64), (200, 33), (200, 500)] {
            let (mut seen, mut buffer): (Vec<u8>, _) = (Vec::new(), vec![0; n_buffer]);
            while seen.len() < n_first {
                let n = read_at(&mut kept, seen.len(), &mut source, &mut buffer).unwrap();
                assert!(n > 0);
                seen.extend(&buffer[..n]);
            }
            assert_eq!(seen, content[..seen.len()]);
            assert!(kept.len() <= n_first.max(200 - source.len()) && kept.len() < n_first + n_buffer);
        }
        assert_eq!(read_at(&mut kept, 200, &mut source, &mut [0; 5]).unwrap(), 0);
    }
}
