//! Which pixels of a level the next one must look at again.
//!
//! A pixel is open where its log-odds are small, |x| < [`DOUBT`], and where a pixel of the other side lies within [`REACH`] rows and
//! columns: a block that the outline crosses has one answer for many pixels, and the outline may move when they are told apart.

use rayon::prelude::*;

use crate::grid::Shape;

/// Log-odds below which a level has not decided: p between 0.18 and 0.82.
pub(super) const DOUBT: f64 = 1.5;

/// How far the outline may move, in pixels of the coarser level.
pub(super) const REACH: usize = 2;

/// Whether each pixel is open, from its side and its s = −x.
pub(super) fn open(shape: Shape, mask: &[bool], s: &[f64]) -> Vec<bool> {
    let Shape { width, height } = shape;
    // Both sides within reach: first along rows, then along columns.
    let sides = |inside: bool| if inside { 1_u8 } else { 2 };
    let mut across = vec![0_u8; mask.len()];
    across.par_chunks_mut(width).zip(mask.par_chunks(width)).for_each(|(out, row)| {
        for (column, out) in out.iter_mut().enumerate() {
            let near = &row[column.saturating_sub(REACH)..(column + REACH + 1).min(width)];
            *out = near.iter().fold(0, |seen, &inside| seen | sides(inside));
        }
    });
    let mut open = vec![false; mask.len()];
    open.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
        let rows = row.saturating_sub(REACH)..(row + REACH + 1).min(height);
        for (column, out) in out.iter_mut().enumerate() {
            let seen = rows.clone().fold(0, |seen, near| seen | across[near * width + column]);
            *out = seen == 3 || s[row * width + column].abs() < DOUBT;
        }
    });
    open
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn open_is_what_is_near_the_other_side_or_in_doubt(
            (width, mask, s) in (1_usize..9, 1_usize..9).prop_flat_map(|(width, height)| {
                let n = width * height;
                (Just(width), prop::collection::vec(prop::bool::weighted(0.2), n), prop::collection::vec(-4.0..4.0, n))
            })
        ) {
            let shape = Shape::new(width, mask.len() / width);
            let found = open(shape, &mask, &s);
            for p in 0..mask.len() {
                let near = |q: usize| (p % width).abs_diff(q % width) <= REACH && (p / width).abs_diff(q / width) <= REACH;
                let expected = s[p].abs() < DOUBT || (0..mask.len()).any(|q| near(q) && mask[q] != mask[p]);
                prop_assert_eq!(found[p], expected);
            }
        }
    }
}
