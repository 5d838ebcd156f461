//! How much memory a run needs, told before it begins.
//!
//! It grows with the number of pixels, and the header of a photo tells that number before anything is decoded.

use std::fmt;
use std::path::Path;

use super::{Method, Options, Output};
use crate::grid::Shape;
use crate::read::picture::claimed_shape;
use crate::read::{Input, Limits};
use crate::solver::{Factors, SolverKind};
use crate::{Error, Result};

/// What the program needs without any photo.
pub(crate) const BASE: u64 = 24 << 20;

/// Bytes that the run of a photo on so many threads needs at its peak, without the program itself.
///
/// Measured as the largest resident size of whole runs, bytes per pixel at 0.23, 1 and 4 megapixels: 287, 250 and 228 on one thread, 327,
/// 293 and 245 on two, and there 219 at 77 megapixels. Without a sweep most pixels are undecided, and the network that decides them makes
/// it 299 on two threads at 4 megapixels. Other solvers at 1 megapixel on one thread, against 257
/// then: messages 309, ep 320, frank-wolfe 295, douglas-rachford 371, divide-conquer 440, messages on single edges 483.
///
/// With levels of detail the smaller level costs what a photo of its size costs and more for the band that it leaves open; every pixel of the
/// photo itself costs little. Measured with the sample scenes on two threads: 4 megapixels 535 to 562 MB, 12 megapixels 965 to 988 MB.
/// Where every pixel is solved for, started from the smaller level, it is 373 bytes per pixel at 4 megapixels.
pub(crate) fn estimate(n_pixels: usize, threads: usize, options: &Options) -> u64 {
    let Some(ratio) = options.detail.ratio(n_pixels).filter(|_| options.method == Method::Lfield) else {
        return at_once(n_pixels, threads, options);
    };
    if options.decides_below() {
        let below = estimate(n_pixels / (ratio * ratio), threads, options);
        return below.saturating_add(below / 4).saturating_add((n_pixels as u64).saturating_mul(48));
    }
    at_once(n_pixels, threads, options).saturating_add((n_pixels as u64).saturating_mul(90))
}

/// The same for a photo that is solved at once.
fn at_once(n_pixels: usize, threads: usize, options: &Options) -> u64 {
    let solver = match options.solver.solver {
        SolverKind::Accelerated => 0,
        SolverKind::Messages | SolverKind::Ep | SolverKind::FrankWolfe | SolverKind::MinNorm => 80,
        SolverKind::DouglasRachford => 130,
        SolverKind::DivideConquer => 200,
    };
    let factors = match options.solver.factors {
        Factors::Layers => 0,
        Factors::Edges => 200,
    };
    // Arrays wait in memory until all files are complete.
    let is_array = |output: &&Output| {
        matches!(output, Output::MarginalsArray | Output::LogOddsArray | Output::BaseArray | Output::BoundArray)
    };
    let arrays = 8 * options.output.emit.iter().filter(is_array).count() as u64;
    let per_pixel = 260 + 24 * (threads.max(1) as u64 - 1) + solver + factors + arrays;
    (n_pixels as u64).saturating_mul(per_pixel)
}

/// What a run is expected to need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The size that the photo claims to have.
    pub shape: Shape,
    /// Bytes at the peak, the program itself included.
    pub bytes: u64,
}

impl Input {
    /// What a run on so many threads will need, from the header of the photo.
    pub fn memory(&self, options: &Options, threads: usize) -> Result<Need> {
        let shape = claimed_shape(&self.image, &options.limits)?;
        Ok(Need { shape, bytes: estimate(shape.n_pixels(), threads, options).saturating_add(BASE) })
    }

    /// As [`Input::memory`], but refuses what exceeds `max_memory` bytes or, if that is not given, what this machine can offer.
    pub fn check_memory(&self, options: &Options, threads: usize, max_memory: Option<u64>) -> Result<Need> {
        self.memory(options, threads)?.within(max_memory, &self.image)
    }
}

/// What cutting a photo into layers of superpixels will need, as [`Input::check_memory`] for the whole.
///
/// Measured for two layers, bytes per pixel at 1 and 4 megapixels: 30 and 39 on one thread, 34 and 47 on two.
pub fn check_superpixels(
    image: &Path,
    limits: &Limits,
    n_layers: usize,
    threads: usize,
    max_memory: Option<u64>,
) -> Result<Need> {
    let shape = claimed_shape(image, limits)?;
    let per_pixel = 26 + 6 * n_layers as u64 + 8 * (threads.max(1) as u64 - 1);
    let bytes = (shape.n_pixels() as u64).saturating_mul(per_pixel).saturating_add(BASE);
    Need { shape, bytes }.within(max_memory, image)
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: about {} MB of memory", self.shape, self.bytes.div_ceil(1 << 20))
    }
}

impl Need {
    fn within(self, max_memory: Option<u64>, image: &Path) -> Result<Self> {
        match max_memory.or_else(available) {
            Some(limit) if self.bytes > limit => Err(Error::TooMuchMemory {
                path: image.to_path_buf(),
                shape: self.shape,
                needed: self.bytes.div_ceil(1 << 20),
                limit: limit >> 20,
                is_chosen: max_memory.is_some(),
            }),
            _ => Ok(self),
        }
    }
}

/// What this machine, the control group this process is in, or the limit on its addresses has to offer; nothing where none of
/// them can be read.
pub fn available() -> Option<u64> {
    let free = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let group = read("/proc/self/cgroup").unwrap_or_default();
    let group = group.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default().to_string();
    let root = Path::new("/sys/fs/cgroup");
    let limits = root.join(group);
    let limits = limits.ancestors().take_while(|folder| folder.starts_with(root));
    let limits = limits.filter_map(|folder| read(folder.join("memory.max"))?.trim().parse::<u64>().ok());
    limits.chain(free).chain(addresses()).min()
}

/// What `ulimit -v` leaves. Addresses run out before memory does, because every thread reserves more than it uses.
fn addresses() -> Option<u64> {
    const PER_THREAD: u64 = 64 << 20;
    let limits = read("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = kilobytes(&read("/proc/self/status")?, "VmSize:")?;
    let reserved = PER_THREAD.saturating_mul(rayon::current_num_threads() as u64);
    Some(limit.saturating_sub(used).saturating_sub(reserved) / 5 * 4)
}

/// The number behind `name` in a file of `/proc`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn there_is_some_memory_here() {
        assert!(available().unwrap() > 1 << 20);
    }

    #[test]
    fn no_size_overflows_the_estimate() {
        let options = Options::default();
        assert_eq!(estimate(usize::MAX, usize::MAX >> 8, &options), u64::MAX);
        assert!(estimate(200_000_000, 1, &options) > estimate(100_000_000, 1, &options));
    }
}
