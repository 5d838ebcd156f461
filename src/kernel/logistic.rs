//! log(1 + eᵗ) and its derivative 1/(1 + e⁻ᵗ), at any size of t.

/// log(1 + eᵗ), which neither overflows nor loses what is small.
pub fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// Σ log(1 + eᵗ), with one logarithm for hundreds of terms: of the product of all 1 + e^{−|t|}, which lie between 1 and 2.
pub fn softplus_sum(values: impl Iterator<Item = f64>) -> f64 {
    /// 2 to this is far from the largest number there is.
    const TERMS: usize = 512;
    let (mut sum, mut product, mut terms) = (0.0, 1.0_f64, 0);
    for t in values {
        sum += t.max(0.0);
        product *= 1.0 + (-t.abs()).exp();
        terms += 1;
        if terms == TERMS {
            sum += product.ln();
            (product, terms) = (1.0, 0);
        }
    }
    sum + product.ln()
}

/// 1/(1 + e⁻ᵗ): the probability with log-odds t.
pub fn probability(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_its_terms() {
        for n in [0, 1, 511, 512, 513, 5000] {
            let values = || (0..n).map(|i| 40.0 * (i as f64 * 0.7).sin());
            let slow: f64 = values().map(softplus).sum();
            assert!((softplus_sum(values()) - slow).abs() <= 1e-12 * slow.max(1.0), "{n}");
        }
        assert_eq!(softplus_sum([1e6, -1e6].into_iter()), 1e6);
    }

    #[test]
    fn both_are_the_formula_and_stable_at_the_ends() {
        for t in [-3.0_f64, -0.1, 0.0, 2.5] {
            assert!((softplus(t) - (1.0 + t.exp()).ln()).abs() < 1e-12);
            assert!((probability(t) - t.exp() / (1.0 + t.exp())).abs() < 1e-12);
        }
        assert_eq!((softplus(1e6), softplus(-1e6)), (1e6, 0.0));
        assert_eq!((probability(1e6), probability(-1e6)), (1.0, 0.0));
    }
}
