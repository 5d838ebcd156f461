//! Projection onto the base polytope of a concave function of the cardinality, F(A) = h(|A|), without sorting where it can be helped.
//!
//! With z sorted downwards, the projection is z₍ᵢ₎ − xᵢ, x the slopes of the least concave majorant of the points (k, Yₖ),
//! Yₖ = z₍₁₎ + … + z₍ₖ₎ − h(k). Only the corners of the majorant matter, and between them nobody needs the order. So the values
//! are counted into narrow buckets, which gives Y at the borders of the buckets and a first majorant. Inside a bucket of m values
//! and width δ, Y rises above its chord by at most mδ/4, because the sum of sorted values does, and −h is convex. A bucket
//! whose chord lies deeper than that under the first majorant is pooled whole; only the others are sorted. In a strongly
//! coupled superpixel that is a handful, and a giant one is counted by all threads.

use rayon::prelude::*;

use super::isotonic;

/// Memory reused between calls.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The bucket of each value, from the highest values down.
    bucket: Vec<u32>,
    /// Per part of the slice and bucket: how many values, and their sum. Summed over the parts into the first one.
    tallies: Vec<Vec<Tally>>,
    /// Where Y is known: the lower border of each bucket that is not empty.
    corners: Vec<Corner>,
    majorant: Vec<Corner>,
    /// Per bucket: the common x of its values, or 0 when it is to be sorted.
    common: Vec<f64>,
    /// Per bucket: where its next value goes in `sorted`, or [`WHOLE`].
    slot: Vec<u32>,
    sorted: Vec<(f64, u32)>,
    crowd: Crowd,
    /// What is pooled: buckets and single values, by mean and number.
    means: Vec<f64>,
    numbers: Vec<f64>,
    isotonic: isotonic::Scratch,
}

/// Memory for sorting a bucket that holds many values.
#[derive(Debug, Default)]
struct Crowd {
    values: Vec<(f64, u32)>,
    /// Where the next value of each narrower bucket goes.
    next: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: u32,
    sum: f64,
}

#[derive(Clone, Copy, Debug)]
struct Corner {
    bucket: u32,
    /// Values up to here.
    k: usize,
    /// Yₖ
    height: f64,
}

/// Marks a bucket that is pooled whole.
const WHOLE: u32 = u32::MAX;

/// Values per bucket when they spread evenly, and the largest number of buckets that stays in a core's own cache.
const PER_BUCKET: usize = 2;
const MOST_BUCKETS: usize = 1 << 16;

/// From this many values on, all threads share the counting.
const GIANT: usize = 1 << 15;

/// x ← prox_f(z), so that z − x is the projection of z onto { s : s(A) ≤ h(|A|), s(all) = h(n) }. `rise(j, k)` is h(k) − h(j)
/// for j < k, h concave.
///
/// # Panics
/// When there are 2³² values or more.
pub fn prox(z: &[f64], x: &mut [f64], rise: impl Fn(usize, usize) -> f64, scratch: &mut Scratch) {
    assert_eq!(z.len(), x.len(), "one result per value");
    let width = count(z, scratch);
    find_corners(&rise, scratch);
    choose(width, scratch);
    sort_chosen(z, scratch);
    pool(&rise, scratch);

    let Scratch { bucket, common, sorted, .. } = scratch;
    let fill = |x: &mut [f64], bucket: &[u32]| {
        x.iter_mut().zip(bucket).for_each(|(x, &bucket)| *x = common[bucket as usize]);
    };
    let part = part_length(z.len());
    if z.len() <= part {
        fill(x, bucket);
    } else {
        x.par_chunks_mut(part).zip(bucket.par_chunks(part)).for_each(|(x, bucket)| fill(x, bucket));
    }
    // `pool` has left x in place of the value.
    for &(value, place) in sorted.iter() {
        x[place as usize] = value;
    }
}

/// The values downwards, each with its place; equal values keep their order.
///
/// # Panics
/// When there are 2³² values or more.
pub fn sort_downwards<'a>(z: &[f64], scratch: &'a mut Scratch) -> &'a [(f64, u32)] {
    count(z, scratch);
    let Scratch { tallies, slot, sorted, .. } = scratch;
    slot.clear();
    slot.extend(tallies[0].iter().scan(0, |end, tally| {
        let start = *end;
        *end += tally.count;
        Some(start)
    }));
    sorted.clear();
    sorted.resize(z.len(), (0.0, 0));
    sort_chosen(z, scratch);
    &scratch.sorted
}

/// Sorts the values into buckets and returns the width of a bucket.
fn count(point: &[f64], scratch: &mut Scratch) -> f64 {
    let n = point.len();
    assert!(u32::try_from(n).is_ok(), "too many values for one set");
    let n_buckets = (n / PER_BUCKET).clamp(1, MOST_BUCKETS);
    let part = part_length(n);
    let n_parts = n.div_ceil(part).max(1);
    let Scratch { bucket, tallies, .. } = scratch;
    bucket.resize(n, 0);
    if tallies.len() < n_parts {
        tallies.resize_with(n_parts, Vec::new);
    }
    let (low, high) = range(point);
    let width = (high - low) / n_buckets as f64;
    // Rounding keeps the order of the values, so a bucket's values are all above the next one's; values that are all equal, or
    // too far apart for numbers to tell, share the first.
    let per_width = if width > 0.0 && width.recip().is_finite() { width.recip() } else { 0.0 };
    let tally = |tally: &mut Vec<Tally>, point: &[f64], bucket: &mut [u32]| {
        tally.clear();
        tally.resize(n_buckets, Tally::default());
        for (&z, bucket) in point.iter().zip(bucket) {
            let b = (((high - z) * per_width) as usize).min(n_buckets - 1);
            tally[b].count += 1;
            tally[b].sum += z;
            *bucket = b as u32;
        }
    };
    if n_parts == 1 {
        tally(&mut tallies[0], point, bucket);
    } else {
        let parts = point.par_chunks(part).zip(bucket.par_chunks_mut(part));
        tallies[..n_parts].par_iter_mut().zip(parts).for_each(|(t, (point, bucket))| tally(t, point, bucket));
        let (total, others) = tallies.split_first_mut().expect("at least one part");
        for other in &others[..n_parts - 1] {
            for (sum, t) in total.iter_mut().zip(other) {
                sum.count += t.count;
                sum.sum += t.sum;
            }
        }
    }
    width
}

/// Y at the borders of the buckets, and its least concave majorant.
fn find_corners(rise: impl Fn(usize, usize) -> f64, scratch: &mut Scratch) {
    let Scratch { tallies, corners, majorant, .. } = scratch;
    let origin = Corner { bucket: 0, k: 0, height: 0.0 };
    let (mut k, mut height) = (0, 0.0);
    corners.clear();
    majorant.clear();
    majorant.push(origin);
    for (b, tally) in tallies[0].iter().enumerate().filter(|(_, tally)| tally.count > 0) {
        let next = k + tally.count as usize;
        height += tally.sum - rise(k, next);
        k = next;
        let corner = Corner { bucket: b as u32, k, height };
        corners.push(corner);
        while let [.., a, b] = majorant[..] {
            let (run, whole) = ((b.k - a.k) as f64, (corner.k - a.k) as f64);
            if (b.height - a.height) * whole > (corner.height - a.height) * run {
                break;
            }
            majorant.pop();
        }
        majorant.push(corner);
    }
}

/// Decides which buckets are sorted, and lays out their places in `sorted`.
fn choose(width: f64, scratch: &mut Scratch) {
    let Scratch { tallies, corners, majorant, slot, sorted, .. } = scratch;
    slot.clear();
    slot.resize(tallies[0].len(), WHOLE);
    let mut taken = 0;
    let mut side = 0;
    let (mut from, mut to) = (majorant[0], majorant[0]);
    let mut slope = 0.0;
    let mut depth_above = 0.0;
    for corner in corners.iter() {
        if corner.k > to.k {
            side += 1;
            (from, to) = (to, majorant[side]);
            slope = (to.height - from.height) / (to.k - from.k) as f64;
            depth_above = 0.0;
        }
        let depth =
            if corner.k == to.k { 0.0 } else { from.height + slope * (corner.k - from.k) as f64 - corner.height };
        let count = tallies[0][corner.bucket as usize].count;
        if count > 1 && f64::min(depth, depth_above) <= 0.25 * f64::from(count) * width {
            slot[corner.bucket as usize] = taken;
            taken += count;
        }
        depth_above = depth;
    }
    sorted.clear();
    sorted.resize(taken as usize, (0.0, 0));
}

/// Collects the values of the chosen buckets, each bucket's sorted downwards.
fn sort_chosen(point: &[f64], scratch: &mut Scratch) {
    let Scratch { bucket, tallies, slot, sorted, crowd, .. } = scratch;
    if sorted.is_empty() {
        return;
    }
    for (place, (&z, &b)) in point.iter().zip(bucket.iter()).enumerate() {
        let next = &mut slot[b as usize];
        if *next != WHOLE {
            sorted[*next as usize] = (z, place as u32);
            *next += 1;
        }
    }
    let mut rest = &mut sorted[..];
    for (_, tally) in slot.iter().zip(&tallies[0]).filter(|(slot, _)| **slot != WHOLE) {
        let (values, others) = rest.split_at_mut(tally.count as usize);
        if values.len() > FEW {
            spread_downwards(values, crowd);
        } else {
            insert_downwards(values);
        }
        rest = others;
    }
}

/// Values that straight insertion sorts quickly.
const FEW: usize = 24;

/// A crowded bucket, one level region of a photo for example, falls apart into narrower ones. Equal values keep their order.
fn spread_downwards(values: &mut [(f64, u32)], Crowd { values: from, next }: &mut Crowd) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.iter().fold(start, |(low, high), (z, _)| (low.min(*z), high.max(*z)));
    let n_buckets = values.len() / PER_BUCKET;
    let per_width = n_buckets as f64 / (high - low);
    if !per_width.is_finite() {
        return insert_downwards(values);
    }
    let bucket = |z: f64| (((high - z) * per_width) as usize).min(n_buckets - 1);
    next.clear();
    next.resize(n_buckets + 1, 0);
    values.iter().for_each(|&(z, _)| next[bucket(z) + 1] += 1);
    for b in 1..n_buckets {
        next[b] += next[b - 1];
    }
    from.clear();
    from.extend_from_slice(values);
    for &value in from.iter() {
        let to = &mut next[bucket(value.0)];
        values[*to] = value;
        *to += 1;
    }
    let mut rest = values;
    let mut start = 0;
    for &end in &next[..n_buckets] {
        let (few, others) = rest.split_at_mut(end - start);
        insert_downwards(few);
        (rest, start) = (others, end);
    }
}

/// Straight insertion; a bucket that is crowded after all is sorted like any slice. Equal values keep their order.
fn insert_downwards(values: &mut [(f64, u32)]) {
    if values.len() > FEW {
        // Adding 0 makes minus zero equal to zero, as it is for the insertion.
        return values.sort_by(|a, b| (b.0 + 0.0).total_cmp(&(a.0 + 0.0)));
    }
    for i in 1..values.len() {
        let moving = values[i];
        let mut hole = i;
        while hole > 0 && values[hole - 1].0 < moving.0 {
            values[hole] = values[hole - 1];
            hole -= 1;
        }
        values[hole] = moving;
    }
}

/// Pools buckets and single values; leaves x in `common` and in place of the values in `sorted`.
fn pool(rise: impl Fn(usize, usize) -> f64, scratch: &mut Scratch) {
    let Scratch { tallies, corners, common, slot, sorted, means, numbers, isotonic, .. } = scratch;
    means.clear();
    numbers.clear();
    let mut k = 0;
    let mut values = sorted.iter();
    for &Corner { bucket, k: end, .. } in corners.iter() {
        if slot[bucket as usize] == WHOLE {
            let number = (end - k) as f64;
            means.push((tallies[0][bucket as usize].sum - rise(k, end)) / number);
            numbers.push(number);
        } else {
            means.extend(values.by_ref().take(end - k).zip(k..).map(|((z, _), k)| z - rise(k, k + 1)));
            numbers.resize(means.len(), 1.0);
        }
        k = end;
    }
    isotonic::non_increasing_weighted(means, numbers, isotonic);
    common.clear();
    common.resize(tallies[0].len(), 0.0);
    let mut found = means.iter();
    let mut k = 0;
    let mut values = sorted.iter_mut();
    for &Corner { bucket, k: end, .. } in corners.iter() {
        if slot[bucket as usize] == WHOLE {
            common[bucket as usize] = *found.next().expect("one mean per bucket");
        } else {
            values.by_ref().take(end - k).zip(found.by_ref()).for_each(|((value, _), x)| *value = *x);
        }
        k = end;
    }
}

/// Smallest and largest value.
fn range(point: &[f64]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let of = |part: &[f64]| part.iter().fold(start, |(low, high), &z| (low.min(z), high.max(z)));
    if point.len() < GIANT {
        return of(point);
    }
    point.par_chunks(GIANT).map(of).reduce(|| start, |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Parts of equal length, a few of them: a function of the size alone, so that sums do not depend on the number of threads.
fn part_length(n: usize) -> usize {
    n.div_ceil(4).max(GIANT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sort everything, pool everything.
    fn sorted_twin(point: &mut [f64], rise: impl Fn(usize, usize) -> f64) {
        let mut order: Vec<usize> = (0..point.len()).collect();
        order.sort_by(|&a, &b| point[b].total_cmp(&point[a]));
        let mut x: Vec<f64> = order.iter().enumerate().map(|(i, &v)| point[v] - rise(i, i + 1)).collect();
        isotonic::non_increasing(&mut x, &mut isotonic::Scratch::default());
        for (x, v) in x.iter().zip(order) {
            point[v] = *x;
        }
    }

    fn quadratic(n: usize, weight: f64) -> impl Fn(usize, usize) -> f64 {
        let scale = weight / n.max(1) as f64;
        move |j, k| scale * (k - j) as f64 * (n as f64 - (j + k) as f64)
    }

    fn check(z: &[f64], rise: impl Fn(usize, usize) -> f64, scratch: &mut Scratch) {
        let (mut fast, mut slow) = (z.to_vec(), z.to_vec());
        prox(z, &mut fast, &rise, scratch);
        sorted_twin(&mut slow, &rise);
        let scale = z.iter().fold(1.0_f64, |scale, z| scale.max(z.abs()));
        for (i, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            assert!((fast - slow).abs() <= 1e-11 * scale, "value {i} of {}: {fast} and {slow}", z.len());
        }
    }

    proptest! {
        #[test]
        fn buckets_give_what_sorting_gives(
            z in prop::collection::vec(-3.0..3.0_f64, 0..700), weight in prop_oneof![Just(0.0), 0.01..8.0_f64],
            kind in 0..4_u8, robust in any::<bool>(),
        ) {
            let z: Vec<f64> = z.iter().map(|z| match kind {
                0 => *z,
                1 => z.round(),
                // Clusters, and a far outlier that leaves one bucket for nearly all.
                2 => z.round() + 1e-3 * z,
                _ => if *z > 2.99 { 1e6 } else { *z },
            }).collect();
            let n = z.len();
            let scratch = &mut Scratch::default();
            if robust {
                let top = (n / 5).max(1);
                let h = move |k: usize| weight * k.min(top).min(n - k) as f64;
                check(&z, move |j, k| h(k) - h(j), scratch);
            } else {
                check(&z, quadratic(n, weight), scratch);
            }
            let mut twin: Vec<(f64, u32)> = z.iter().copied().zip(0..).collect();
            twin.sort_by(|a, b| (b.0 + 0.0).total_cmp(&(a.0 + 0.0)));
            prop_assert_eq!(sort_downwards(&z, scratch), &twin);
            // The scratch of a larger problem must not be seen by a smaller one.
            check(&z[..n / 3], quadratic(n / 3, weight), scratch);
        }
    }

    #[test]
    fn giants_too_and_the_same_bits_on_any_number_of_threads() {
        let n = 3 * GIANT + 17;
        let z: Vec<f64> = (0..n).map(|i| ((i * 7919) % 10_007) as f64 / 3000.0 + f64::from(i % 7 == 0)).collect();
        for weight in [0.1, 2.0] {
            check(&z, quadratic(n, weight), &mut Scratch::default());
            let run = |threads| {
                let mut x = z.clone();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| prox(&z, &mut x, quadratic(n, weight), &mut Scratch::default()));
                x
            };
            assert_eq!(run(1), run(3));
        }
    }
}
