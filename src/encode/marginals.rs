//! `STEM.marginals.png`: the marginals as 16-bit grey, round(65535·p).
//!
//! Promise: thresholding the written marginals at one half gives the written mask, with > and with ≥, whichever a reader uses.
//! Two roundings could break it. A tiny s ≠ 0 gives p = ½ in floating point; [`marginals_beside`] then takes the neighbouring
//! number on the mask's side. And 65535·½ lies half-way between 32767 and 32768; [`marginals`] keeps a pixel on the side of
//! that midpoint on which its p is. Neither moves any other value.

use rayon::prelude::*;

use super::samples::encode16;
use crate::grid::{Marginals, Mask};
use crate::{Error, Result};

/// μ = 1/(1+eˢ), on the mask's side of one half where rounding has left it on neither.
///
/// Refuses an s that contradicts the mask outright: that is an error in the solver, not a matter of rounding.
pub fn marginals_beside(mask: &Mask, s: &[f64]) -> Result<Marginals> {
    assert_eq!(s.len(), mask.as_slice().len(), "one log-odds per pixel");
    let beside_half = |(&s, &inside): (&f64, &bool)| {
        let p = 1.0 / (1.0 + s.exp());
        match inside {
            _ if p != 0.5 => p,
            true => 0.5_f64.next_up(),
            false => 0.5_f64.next_down(),
        }
    };
    let values: Vec<f64> = s.par_iter().zip(mask.as_slice()).map(beside_half).collect();
    if let Some(pixel) = values.iter().zip(mask.as_slice()).position(|(&p, &inside)| (p > 0.5) != inside) {
        return Err(Error::Parameter {
            name: format!("s at pixel {pixel}"),
            value: s[pixel].to_string(),
            expected: "on the same side of zero as the mask".to_string(),
        });
    }
    Marginals::new(mask.shape(), values)
}

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
    use crate::grid::Shape;

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

    #[test]
    fn a_log_odds_too_small_to_show_still_lands_on_its_side() {
        let mask = Mask::new(Shape::new(4, 1), vec![true, false, true, false]);
        let marginals = marginals_beside(&mask, &[-1e-300, 0.0, 0.0, 1e-17]).unwrap();
        let sides: Vec<bool> = marginals.as_slice().iter().map(|&p| p > 0.5).collect();
        assert_eq!(sides, mask.as_slice());
        let sides: Vec<bool> = marginals.as_slice().iter().map(|&p| p >= 0.5).collect();
        assert_eq!(sides, mask.as_slice());
    }

    #[test]
    fn log_odds_that_contradict_the_mask_are_refused() {
        let mask = Mask::new(Shape::new(1, 1), vec![true]);
        assert!(marginals_beside(&mask, &[0.25]).is_err());
    }
}
