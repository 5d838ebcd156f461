//! How memory is divided among those who work on photos.
//!
//! What a run needs is known before it begins ([`estimate`](crate::session::memory::estimate)). Freed memory mostly stays with the
//! thread that had it, so a budget of what is in use at the same time would not hold: each worker has a slot of fixed size
//! instead and takes only photos that fit into it.

/// What one worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its threads.
    pub(super) threads: usize,
    /// The most that a photo it takes may need.
    pub(super) bytes: u64,
}

/// Divides memory and threads among at most `jobs` workers, for photos of `sizes` pixels. `need` is what a photo of so many pixels needs on so many
/// threads.
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
}
