//! How much memory photos need, and how it is divided among those who work on them.
//!
//! A run's memory grows with the number of pixels, and the header of a photo tells that number before anything is decoded. Freed
//! memory mostly stays with the thread that had it, so a budget of what is in use at the same time would not hold: each worker has
//! a slot of fixed size instead and takes only photos that fit into it.

use std::path::Path;

use crate::pipeline::Options;
use crate::render::Output;
use crate::solver::{Factors, SolverKind};

/// What the program needs without any photo.
pub(super) const BASE: u64 = 24 << 20;

/// Bytes that the run of a photo on so many threads needs at its peak, at most.
///
/// Measured as the largest resident size of whole runs, bytes per pixel at 1.1 and 4.4 megapixels: 257 and 294 on one thread, 289
/// and 321 on two, 350 on four (4.4), 480 on eight (1.1). At 1.1 megapixels on one thread by solver: messages 309, ep 320, frank-wolfe
/// 295, douglas-rachford 371, divide-conquer 440, messages on single edges 483.
pub(super) fn estimate(n_pixels: usize, threads: usize, options: &Options) -> u64 {
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
    let is_array = |output: &&Output| matches!(output, Output::MarginalsArray | Output::LogOddsArray);
    let arrays = 8 * options.output.emit.iter().filter(is_array).count() as u64;
    let per_pixel = 310 + 32 * (threads as u64 - 1) + solver + factors + arrays;
    (8 << 20) + n_pixels as u64 * per_pixel
}

/// What this machine, or the control group this process is in, has to offer; nothing where that cannot be read.
pub fn available() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let free = read(Path::new("/proc/meminfo")).and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    });
    let group = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let group = group.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default().to_string();
    let root = Path::new("/sys/fs/cgroup");
    let limits = root.join(group);
    let limits = limits.ancestors().take_while(|folder| folder.starts_with(root));
    let limits = limits.filter_map(|folder| read(&folder.join("memory.max"))?.trim().parse::<u64>().ok());
    limits.chain(free).min()
}

/// What one worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its threads.
    pub(super) threads: usize,
    /// The most that a photo it takes may need.
    pub(super) bytes: u64,
}

/// Divides memory and threads among at most `jobs` workers, for photos of `sizes` pixels. `need` is [`estimate`].
///
/// Equal slots, if the largest photo that fits at all fits into one. Else the first slot is as large as that photo, and what is left
/// is divided among others as long as at least half of the photos can use them; if nothing is, big photos run alone.
pub(super) fn slots(
    total: u64,
    threads: usize,
    jobs: usize,
    sizes: &[usize],
    need: &dyn Fn(usize, usize) -> u64,
) -> Vec<Slot> {
    let each = (threads / jobs).max(1);
    let mut needs: Vec<u64> = sizes.iter().map(|&size| need(size, each)).filter(|&need| need <= total).collect();
    needs.sort_unstable();
    let largest = needs.last().copied().unwrap_or(0);
    if largest <= total / jobs as u64 {
        return vec![Slot { threads: each, bytes: total / jobs as u64 }; jobs];
    }
    let rest = total - largest;
    let median = needs[(needs.len() - 1) / 2];
    let n_others = (jobs as u64 - 1).min(rest / median.max(1));
    if let Some(bytes) = rest.checked_div(n_others) {
        let others = Slot { threads: each, bytes };
        let mut slots = vec![others; n_others as usize + 1];
        slots[0].bytes = largest;
        return slots;
    }
    let most = sizes.iter().copied().filter(|&size| need(size, each) <= total).max().unwrap_or(0);
    let threads = (each..=threads).rev().find(|&threads| need(most, threads) <= total).unwrap_or(each);
    vec![Slot { threads, bytes: total }]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A hundred bytes per thread beyond the first, and one per pixel.
    fn need(size: usize, threads: usize) -> u64 {
        size as u64 + 100 * (threads as u64 - 1)
    }

    #[test]
    fn photos_of_one_size_share_and_a_big_one_is_alone() {
        let equal = Slot { threads: 1, bytes: 500 };
        assert_eq!(slots(1000, 2, 2, &[400; 9], &need), [equal, equal]);
        assert_eq!(
            slots(1000, 2, 2, &[300, 300, 300, 700], &need),
            [Slot { bytes: 700, ..equal }, Slot { bytes: 300, ..equal }]
        );
        assert_eq!(slots(1000, 2, 2, &[800, 800, 300], &need), [Slot { threads: 2, bytes: 1000 }]);
        assert_eq!(slots(1000, 2, 2, &[950, 950, 300], &need), [Slot { threads: 1, bytes: 1000 }]);
        assert_eq!(slots(1000, 4, 2, &[5000], &need), [Slot { threads: 2, ..equal }; 2]);
    }

    proptest! {
        #[test]
        fn no_more_is_given_than_there_is_and_whatever_fits_at_all_fits_somewhere(
            total in 1..5000_u64,
            threads in 1..9_usize,
            jobs in 1..9_usize,
            sizes in prop::collection::vec(1..6000_usize, 1..20),
        ) {
            let slots = slots(total, threads, jobs, &sizes, &need);
            prop_assert!(!slots.is_empty() && slots.len() <= jobs);
            prop_assert!(slots.iter().map(|slot| slot.bytes).sum::<u64>() <= total);
            prop_assert!(slots.iter().all(|slot| slot.threads >= 1));
            let each = (threads / jobs).max(1);
            for size in sizes.into_iter().filter(|&size| need(size, each) <= total) {
                prop_assert!(need(size, slots[0].threads) <= slots[0].bytes, "{} in {:?}", size, slots);
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn there_is_some_memory_here() {
        assert!(available().unwrap() > 1 << 20);
    }
}
