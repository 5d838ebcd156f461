//! Pixels that their own cost decides: "impossible" written as a very large number.
//!
//! No edge or superpixel changes the cost of a pixel by more than the reach R, so |s*_v| is within R of |m_v|. If no free pixel has |m|
//! in an interval (a, b] with b − a > 2R, those above it have larger |s*| than those below it, and the sets D⁻ = {m ≥ b} and D⁺ = {m ≤ −b}
//! are what lies outside and inside of level sets of s*. There the minimum-norm problem falls apart exactly: s* on the other
//! pixels is that of F conditioned on D⁺ inside and D⁻ outside, as if by strokes (Fujishige 1980).
//!
//! Beyond [`DECIDED`] the probability is 0 or 1 to more digits than there are numbers, so nothing is lost by not solving for s* there,
//! and the digits of the others are no longer drowned.

/// Costs up to this size, in nats, are always solved for.
pub const DECIDED: f64 = 1e4;

/// The free pixels, ascending, whose |cost| is decided when nothing moves a cost by more than `reach`.
pub(super) fn decided(m: &[f64], is_free: impl Fn(usize) -> bool, reach: f64) -> Vec<u32> {
    let free = || (0..m.len()).filter(|&pixel| is_free(pixel));
    // With a margin for the rounding of what follows.
    let least = (DECIDED + reach) * (1.0 + 1e-9);
    let mut large: Vec<f64> = free().map(|pixel| m[pixel].abs()).filter(|&size| size >= least).collect();
    if large.is_empty() {
        return Vec::new();
    }
    large.sort_unstable_by(f64::total_cmp);
    let below = free().map(|pixel| m[pixel].abs()).filter(|&size| size < least).fold(0.0, f64::max);
    let gaps = std::iter::once(below).chain(large.iter().copied()).zip(large.iter().copied());
    let separate = |&(a, b): &(f64, f64)| b * (1.0 - 1e-9) - a > 2.0 * reach;
    match gaps.into_iter().find(separate) {
        Some((_, border)) => free().filter(|&pixel| m[pixel].abs() >= border).map(|pixel| pixel as u32).collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_costs_that_stand_apart_are_decided() {
        let all = |_: usize| true;
        assert_eq!(decided(&[3.0, 1e8, -2.0, -1e8, 1e30], all, 20.0), [1, 3, 4]);
        assert!(decided(&[3.0, 1e4, -2.0], all, 20.0).is_empty());
        // Nothing lies below these, so they stand apart together.
        assert_eq!(decided(&[2e6, 2e6 + 30.0, -2e6 - 60.0], all, 20.0), [0, 1, 2]);
        // A staircase whose steps are within reach leaves everything open but what stands above it.
        let stairs: Vec<f64> = (0..70_000).map(|i| 30.0 * f64::from(i)).chain([3e6]).collect();
        assert_eq!(decided(&stairs, all, 20.0), [70_000]);
        assert!(decided(&[1e8, 2.0], |pixel| pixel == 1, 20.0).is_empty());
        assert_eq!(decided(&[f64::MAX, f64::NEG_INFINITY, 0.0], all, 20.0), [0, 1]);
        assert!(decided(&[1e8, 0.0], all, f64::INFINITY).is_empty());
    }
}
