//! Connected regions of pixels, diagonals counting.

use super::Shape;

/// The connected regions of the pixels that are `inside`, in the order of their first pixels.
pub(crate) fn components(shape: Shape, inside: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
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
