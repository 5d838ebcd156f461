//! Whole numbers for real capacities.

/// The unit in which capacities are counted: a power of two, so that sums of few binary digits stay exact and equal cuts equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    exponent: i32,
}

/// The largest number of units to be counted, well inside an `i64`.
const EXPONENT: i32 = 60;

impl Unit {
    /// The smallest unit of which `largest` still has fewer than 2⁶⁰. Choose as `largest` what can come together in one node:
    /// its cost and all its edges.
    pub fn for_largest(largest: f64) -> Self {
        let largest = largest.clamp(f64::MIN_POSITIVE, f64::MAX);
        // 2^exponent > largest, read from the bits: exact where a logarithm could be off by one.
        let exponent = ((largest.to_bits() >> 52) & 0x7ff) as i32 - 1022;
        Self { exponent: exponent - EXPONENT }
    }

    /// The nearest whole number of units.
    pub fn nearest(self, value: f64) -> i64 {
        self.scale(value, -self.exponent).round() as i64
    }

    /// The whole number of units that fit in `value`.
    pub fn within(self, value: f64) -> i64 {
        self.scale(value, -self.exponent).floor() as i64
    }

    /// So many units.
    pub fn value(self, units: i64) -> f64 {
        self.scale(units as f64, self.exponent)
    }

    /// value · 2^exponent, in two factors that are both in range.
    fn scale(self, value: f64, exponent: i32) -> f64 {
        let half = exponent / 2;
        value * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half)
    }
}
