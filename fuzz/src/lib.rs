//! What the targets share: bytes as a file, a photo to go with it, and numbers of every size.
//!
//! The readers of lfield take paths, so a target writes its bytes to a file and goes in where a user would. The folder is one
//! in memory where the system has one.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use lfield::grid::{Picture, Shape};

/// The shape of the photo that every annotation has to fit.
pub const WIDTH: usize = 8;
pub const HEIGHT: usize = 6;

/// A folder of this process's own.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let folder = parent.join(format!("lfield-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for scratch files");
        folder
    });
    &FOLDER
}

/// A file with these bytes.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("a scratch file");
    path
}

/// A photo with a slope and a step, so that copies of it with paint on them can be told.
pub fn photo() -> Picture {
    let colour = |i: usize| [(i * 5) as u8, if i % WIDTH < 4 { 30 } else { 220 }, (255 - i) as u8];
    Picture::new(Shape::new(WIDTH, HEIGHT), (0..WIDTH * HEIGHT).map(colour).collect())
}

/// Nothing, or a number of any size from 1e-12 to 1e12.
pub fn weight(u: &mut Unstructured<'_>) -> Result<f64> {
    let exponent = i32::from(u.arbitrary::<u8>()? % 26) - 13;
    let digits = f64::from(u.arbitrary::<u8>()?) / 256.0;
    Ok(if exponent == -13 { 0.0 } else { (0.1 + 0.9 * digits) * 10_f64.powi(exponent) })
}

/// A cost of either sign, up to 1e6, with many repetitions.
pub fn cost(u: &mut Unstructured<'_>) -> Result<f64> {
    let value = f64::from(u.arbitrary::<i16>()?);
    Ok(match u.arbitrary::<u8>()? % 4 {
        0 => value / 8192.0,
        1 => (value / 8192.0).round(),
        2 => value * 1e6 / 32768.0,
        _ => 0.0,
    })
}

/// The calling thread does all the work: threads would only make executions slower and differ.
pub fn alone() {
    // Asked a second time it is refused, and nothing has to change.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
}
