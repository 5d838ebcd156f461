//! Connected regions of pixels, diagonals counting, and the point deepest inside one.

use super::{Shape, squared_distances};

/// The connected regions of the pixels that are `inside`, in the order of their first pixels.
pub fn components(shape: Shape, inside: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let Shape { width, height } = shape;
    let mut seen = vec![false; shape.n_pixels()];
    let mut regions = Vec::new();
    for first in 0..seen.len() {
        if seen[first] || !inside(first) {
            continue;
        }
        seen[first] = true;
        let mut region = vec![first];
        let mut next = 0;
        while let Some(&pixel) = region.get(next) {
            next += 1;
            let (x, y) = (pixel % width, pixel / width);
            let rows = y.saturating_sub(1)..(y + 2).min(height);
            let around = rows.flat_map(|y| y * width + x.saturating_sub(1)..y * width + (x + 2).min(width));
            for pixel in around {
                if !seen[pixel] && inside(pixel) {
                    seen[pixel] = true;
                    region.push(pixel);
                }
            }
        }
        regions.push(region);
    }
    regions
}

/// Squared Euclidean distance of every pixel of a region to what is not in it; what lies beyond the image is not.
pub(crate) fn depths(shape: Shape, region: &[usize]) -> Vec<u64> {
    let place = |pixel: usize| (pixel % shape.width, pixel / shape.width);
    let range = |values: &dyn Fn(usize) -> usize| {
        let values = || region.iter().map(|&pixel| values(pixel));
        (values().min().unwrap_or(0), values().max().unwrap_or(0))
    };
    let ((left, right), (top, bottom)) = (range(&|pixel| place(pixel).0), range(&|pixel| place(pixel).1));
    // The box around the region and a margin of one.
    let frame = Shape::new(right - left + 3, bottom - top + 3);
    let at = |pixel: usize| (place(pixel).1 - top + 1) * frame.width + place(pixel).0 - left + 1;
    let mut outside = vec![true; frame.n_pixels()];
    region.iter().for_each(|&pixel| outside[at(pixel)] = false);
    let squared = squared_distances(frame, &outside).expect("the margin is outside");
    region.iter().map(|&pixel| squared[at(pixel)]).collect()
}

/// The pixel of a region that is deepest inside, the first of equals.
///
/// # Panics
/// When the region is empty.
pub(crate) fn deepest(shape: Shape, region: &[usize]) -> usize {
    let depths = depths(shape, region);
    let places = region.iter().zip(depths);
    *places.max_by_key(|&(&pixel, depth)| (depth, std::cmp::Reverse(pixel))).expect("a region has a pixel").0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn depths_are_those_of_trying_every_pixel_outside(inside in prop::collection::vec(any::<bool>(), 7 * 6)) {
            let shape = Shape::new(7, 6);
            let regions = components(shape, |pixel| inside[pixel]);
            let mut covered: Vec<usize> = regions.concat();
            covered.sort_unstable();
            let expected: Vec<usize> = (0..42).filter(|&pixel| inside[pixel]).collect();
            prop_assert_eq!(covered, expected);
            for region in &regions {
                let far = |pixel: usize| {
                    let (x, y) = ((pixel % 7) as i64, (pixel / 7) as i64);
                    let others = (-1..=7_i64).flat_map(|u| (-1..=6_i64).map(move |v| (u, v)));
                    let outside = others.filter(|&(u, v)| {
                        !(0..7).contains(&u) || !(0..6).contains(&v) || !region.contains(&((v * 7 + u) as usize))
                    });
                    outside.map(|(u, v)| ((u - x).pow(2) + (v - y).pow(2)) as u64).min().unwrap()
                };
                let slow: Vec<u64> = region.iter().map(|&pixel| far(pixel)).collect();
                prop_assert_eq!(depths(shape, region), slow.clone());
                let point = deepest(shape, region);
                let most = *slow.iter().max().unwrap();
                let first = region.iter().zip(&slow).filter(|(_, depth)| **depth == most).map(|(pixel, _)| *pixel).min();
                prop_assert_eq!(Some(point), first);
            }
        }

        #[test]
        fn regions_touch_only_themselves(inside in prop::collection::vec(any::<bool>(), 7 * 6)) {
            let regions = components(Shape::new(7, 6), |pixel| inside[pixel]);
            let close = |p: usize, q: usize| (p % 7).abs_diff(q % 7) <= 1 && (p / 7).abs_diff(q / 7) <= 1;
            for (i, a) in regions.iter().enumerate() {
                for b in &regions[i + 1..] {
                    prop_assert!(a.iter().all(|&p| b.iter().all(|&q| !close(p, q))));
                }
            }
        }
    }
}
