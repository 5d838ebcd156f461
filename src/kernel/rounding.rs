//! What rounding can do to a sum, so that a claim can carry it.
//!
//! An operation on `f64` is off by at most half of [`EPSILON`] times its result. Sums of numbers that are not negative inherit such a
//! relative error, n of them n times. Where numbers cancel, [`Sum`] carries what each addition lost (Knuth's two-sum) and says how
//! far its value can be from the true one.

/// Twice the relative error of one operation.
pub const EPSILON: f64 = f64::EPSILON;

/// At least the sum of `terms` numbers that are not negative, each right to a few operations, given what adding them up gave.
#[inline]
pub fn at_least(sum: f64, terms: usize) -> f64 {
    // The last part stands for products too small to be represented.
    sum * (1.0 + (terms + 8) as f64 * EPSILON) + terms as f64 * f64::MIN_POSITIVE
}

/// A compensated sum with a bound of its error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    high: f64,
    low: f64,
    size: f64,
    terms: usize,
}

impl Sum {
    /// Adds an exact number.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let total = self.high + term;
        let added = total - self.high;
        self.low += (self.high - (total - added)) + (term - added);
        self.high = total;
        self.size += term.abs();
        self.terms += 1;
    }

    /// The sum.
    #[inline]
    pub fn value(&self) -> f64 {
        self.high + self.low
    }

    /// The sum of the sizes of what was added.
    #[inline]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// How far the value can be from the sum; infinite after an overflow.
    #[inline]
    pub fn error(&self) -> f64 {
        let relative = self.terms as f64 * EPSILON;
        let error = EPSILON * self.value().abs() + relative * relative * self.size;
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

impl Extend<f64> for Sum {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, terms: T) {
        terms.into_iter().for_each(|term| self.add(term));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_error_covers_what_was_lost(terms in prop::collection::vec((-1_000_000_000..1_000_000_000_i64, 0..40_u32), 0..200)) {
            // Whole numbers of a tiny unit, up to 2⁷⁰: exact in 128 bits, far from exact in 53.
            let mut sum = Sum::default();
            sum.extend(terms.iter().map(|&(digits, shift)| digits as f64 * 2_f64.powi(shift as i32)));
            let exact: i128 = terms.iter().map(|&(digits, shift)| i128::from(digits) << shift).sum();
            // Split the value so that the difference is exact as well.
            let off = (exact - sum.value() as i128) as f64;
            prop_assert!(off.abs() <= sum.error(), "{off} beyond {}", sum.error());
        }
    }

    #[test]
    fn an_overflow_knows_nothing() {
        let mut sum = Sum::default();
        sum.extend([f64::MAX, f64::MAX, -f64::MAX]);
        assert_eq!(sum.error(), f64::INFINITY);
    }
}
