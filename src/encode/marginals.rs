//! `STEM.marginals.png`: the marginals as 16-bit grey, round(65535·p).
//!
//! Promise: thresholding the written marginals at one half gives the written mask, with > and with ≥, whichever a reader uses.
//! [`Marginals::beside`] keeps p off ½; and as 65535·½ lies half-way between 32767 and 32768, [`marginals`] keeps a pixel on the
//! side of that midpoint on which its p is.

use super::samples::encode16;
use crate::grid::Marginals;

/// The marginals as a 16-bit grey PNG.
pub fn marginals(marginals: &Marginals) -> Vec<u8> {
    encode16(marginals.shape(), marginals.as_slice().iter().map(|&p| level(p)))
}

/// round(65535·p), but never across the midpoint: at least 32768 exactly when p > ½.
fn level(p: f64) -> u16 {
    let rounded = (65535.0 * p).round() as u16;
    if p > 0.5 { rounded.max(32768) } else { rounded.min(32767) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sixteen_bits_keep_the_side_of_one_half(bits in -40_i32..40, p in 0.0_f64..=1.0) {
            let near_half = f64::from_bits((0.5_f64.to_bits() as i64 + i64::from(bits)) as u64);
            for p in [p, near_half] {
                prop_assert_eq!(level(p) >= 32768, p > 0.5);
                prop_assert_eq!(f64::from(level(p)) / 65535.0 > 0.5, p > 0.5);
                prop_assert!((f64::from(level(p)) - 65535.0 * p).abs() <= 0.5 + 1e-9);
            }
        }
    }
}
