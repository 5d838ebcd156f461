//! How far the object strokes reach: path lengths through what does not look like the object.
//!
//! The length of a path is what it goes through background, 10 for a step to a side and 14 for a diagonal one, half of it for a step
//! between the two; inside the object it is nothing. Parts of the object that every path reaches only through much background are usually
//! wrong: something else that has its colours. As evidence, what lies beyond half the reach R loses [`SLOPE`] nats per diagonal, background
//! as well: L − σ·max(length − R/2, 0), with lengths through {L ≤ 0}. What the mask still has beyond R is [dropped](unreached).
//!
//! Dijkstra's algorithm with a bucket for every length: no comparisons, and time linear in pixels plus buckets.

use crate::grid::{Mask, Seed, Seeds, Shape};
use crate::{Checkpoint, Result};

/// σ, in nats per diagonal.
const SLOPE: f64 = 20.0;

/// Lengths between two checkpoints.
const CHECK_EVERY: usize = 64;

/// What is not reached.
const FAR: u32 = u32::MAX;

/// Takes from the log-odds what lies beyond half the reach, a share of the diagonal. Needs an object stroke.
pub(super) fn discount(values: &mut [f64], seeds: &Seeds, reach: f64, checkpoint: Checkpoint<'_>) -> Result<()> {
    let shape = seeds.shape();
    let diagonal = diagonal(shape);
    let inside = |pixel: usize| values[pixel] > 0.0 || seeds.labels()[pixel] == Seed::Foreground;
    let inside: Vec<bool> = (0..values.len()).map(inside).collect();
    // No path is longer than one along every row.
    let lengths = lengths(shape, &inside, seeds, 14 * shape.n_pixels().max(1), checkpoint)?;
    for (value, length) in values.iter_mut().zip(lengths) {
        *value -= SLOPE * (f64::from(length) / diagonal - 0.5 * reach).max(0.0);
    }
    Ok(())
}

/// For every pixel of the mask whether no object stroke is within `reach` of it, a share of the photo's diagonal; never
/// where there is no object stroke.
pub fn unreached(mask: &Mask, seeds: &Seeds, reach: f64, checkpoint: Checkpoint<'_>) -> Result<Vec<bool>> {
    let inside = mask.as_slice();
    if seeds.count(Seed::Foreground) == 0 {
        return Ok(vec![false; inside.len()]);
    }
    let limit = (reach * diagonal(mask.shape())).floor() as usize;
    let lengths = lengths(mask.shape(), inside, seeds, limit, checkpoint)?;
    Ok(inside.iter().zip(lengths).map(|(&inside, length)| inside && length == FAR).collect())
}

/// The diagonal as a length.
fn diagonal(shape: Shape) -> f64 {
    10.0 * (shape.width as f64).hypot(shape.height as f64)
}

/// The length of the shortest path from an object stroke to every pixel, as far as it is at most `limit`.
fn lengths(shape: Shape, inside: &[bool], seeds: &Seeds, limit: usize, checkpoint: Checkpoint<'_>) -> Result<Vec<u32>> {
    let Shape { width, height } = shape;
    let mut nearest = vec![FAR; inside.len()];
    let sources = seeds.labels().iter().enumerate().filter(|(_, seed)| **seed == Seed::Foreground);
    let mut buckets: Vec<Vec<u32>> = vec![sources.map(|(pixel, _)| pixel as u32).collect()];
    buckets[0].iter().for_each(|&pixel| nearest[pixel as usize] = 0);
    let mut length = 0;
    while length < buckets.len() {
        if length % CHECK_EVERY == 0 {
            checkpoint()?;
        }
        // Steps inside the object put pixels into the bucket at hand.
        while let Some(pixel) = buckets[length].pop() {
            let pixel = pixel as usize;
            if (nearest[pixel] as usize) < length {
                continue;
            }
            let (x, y) = (pixel % width, pixel / width);
            for v in y.saturating_sub(1)..(y + 2).min(height) {
                for u in x.saturating_sub(1)..(x + 2).min(width) {
                    let other = v * width + u;
                    let half = if u == x || v == y { 5 } else { 7 };
                    let outside = usize::from(!inside[pixel]) + usize::from(!inside[other]);
                    let there = length + half * outside;
                    if there <= limit && there < nearest[other] as usize {
                        nearest[other] = there as u32;
                        if buckets.len() <= there {
                            buckets.resize_with(there + 1, Vec::new);
                        }
                        buckets[there].push(other as u32);
                    }
                }
            }
        }
        buckets[length] = Vec::new();
        length += 1;
    }
    Ok(nearest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every pair of neighbours tried until nothing changes.
    fn slow_lengths(shape: Shape, inside: &[bool], from: &[usize]) -> Vec<usize> {
        let mut lengths = vec![usize::MAX; inside.len()];
        from.iter().for_each(|&pixel| lengths[pixel] = 0);
        let place = |pixel: usize| (pixel % shape.width, pixel / shape.width);
        loop {
            let before = lengths.clone();
            for p in 0..inside.len() {
                for q in 0..inside.len() {
                    let ((a, b), (c, d)) = (place(p), place(q));
                    let apart = (a.abs_diff(c), b.abs_diff(d));
                    if before[p] == usize::MAX || apart.0 > 1 || apart.1 > 1 {
                        continue;
                    }
                    let half = if apart == (1, 1) { 7 } else { 5 };
                    let step = half * (usize::from(!inside[p]) + usize::from(!inside[q]));
                    lengths[q] = lengths[q].min(before[p] + if p == q { 0 } else { step });
                }
            }
            if lengths == before {
                return lengths;
            }
        }
    }

    proptest! {
        #![proptest_config(crate::cases(60))]

        #[test]
        fn what_is_dropped_is_further_than_the_reach(
            inside in prop::collection::vec(any::<bool>(), 40), at in prop::collection::vec(0..40_usize, 0..3), reach in 0.0..0.6_f64,
        ) {
            let shape = Shape::new(8, 5);
            let mut labels = vec![Seed::Unlabelled; 40];
            at.iter().for_each(|&pixel| labels[pixel] = Seed::Foreground);
            let dropped = unreached(&Mask::new(shape, inside.clone()), &Seeds::new(shape, labels), reach, &|| Ok(())).unwrap();
            let limit = 10.0 * reach * 8.0_f64.hypot(5.0);
            let lengths = slow_lengths(shape, &inside, &at);
            for pixel in 0..40 {
                let far = !at.is_empty() && inside[pixel] && (lengths[pixel] == usize::MAX || lengths[pixel] as f64 > limit);
                prop_assert_eq!(dropped[pixel], far, "pixel {}", pixel);
            }
        }
    }

    #[test]
    fn an_island_across_a_wide_gap_is_dropped() {
        let shape = Shape::new(20, 3);
        let mask = Mask::new(shape, (0..60).map(|pixel| !(4..9).contains(&(pixel % 20))).collect());
        let mut labels = vec![Seed::Unlabelled; 60];
        labels[20] = Seed::Foreground;
        let seeds = Seeds::new(shape, labels);
        let dropped =
            |reach: f64| unreached(&mask, &seeds, reach, &|| Ok(())).unwrap().iter().filter(|&&far| far).count();
        assert_eq!((dropped(0.1), dropped(0.5)), (33, 0));
    }

    #[test]
    fn log_odds_fall_with_the_background_between() {
        let shape = Shape::new(30, 1);
        let mut labels = vec![Seed::Unlabelled; 30];
        labels[0] = Seed::Foreground;
        let seeds = Seeds::new(shape, labels);
        let before: Vec<f64> = (0..30).map(|x| if (5..20).contains(&x) { -1.0 } else { 1.0 }).collect();
        let mut after = before.clone();
        discount(&mut after, &seeds, 0.1, &|| Ok(())).unwrap();
        let diagonal = 30.0_f64.hypot(1.0);
        for x in 0..30 {
            // Half a step in, whole steps through fifteen pixels, half a step out.
            let through = if x < 5 { 0.0 } else { (x as f64 - 4.5).min(15.0) };
            let expected = before[x] - SLOPE * (through / diagonal - 0.05).max(0.0);
            assert!((after[x] - expected).abs() < 1e-9, "{x}: {} and {expected}", after[x]);
        }
    }
}
