//! Whole numbers for real capacities.

/// The unit in which capacities are counted: a power of two, so that sums of few binary digits stay exact and equal cuts equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its square root, and one over that: the unit itself can lie outside the range of an `f64`.
    root: [f64; 2],
    inverse: [f64; 2],
}

/// The largest number of units to be counted is 2 to this, well inside an `i64`.
const EXPONENT: i32 = 60;

impl Unit {
    /// The smallest unit of which `largest` still has fewer than 2⁶⁰. Choose as `largest` what can come together in one node:
    /// its cost and all its edges.
    pub fn for_largest(largest: f64) -> Self {
        let largest = largest.clamp(f64::MIN_POSITIVE, f64::MAX);
        // 2^exponent > largest, read from the bits: exact where a logarithm could be off by one.
        let exponent = ((largest.to_bits() >> 52) & 0x7ff) as i32 - 1022 - EXPONENT;
        let halves = [exponent / 2, exponent - exponent / 2];
        Self { root: halves.map(|half| 2.0_f64.powi(half)), inverse: halves.map(|half| 2.0_f64.powi(-half)) }
    }

    /// The nearest whole number of units.
    #[inline]
    pub fn nearest(self, value: f64) -> i64 {
        (value * self.inverse[0] * self.inverse[1]).round() as i64
    }

    /// The whole number of units that fit in `value`, which must not be negative.
    #[inline]
    pub fn within(self, value: f64) -> i64 {
        (value * self.inverse[0] * self.inverse[1]) as i64
    }

    /// A whole number of units that is more than `value`, which must not be negative; `None` when there are not so many.
    pub fn more_than(self, value: f64) -> Option<i64> {
        let units = value * self.inverse[0] * self.inverse[1];
        (units < 2_f64.powi(EXPONENT - 2)).then(|| units as i64 + 1)
    }

    /// So many units.
    #[inline]
    pub fn value(self, units: i64) -> f64 {
        units as f64 * self.root[0] * self.root[1]
    }
}
