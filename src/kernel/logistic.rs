//! log(1 + eᵗ) and its derivative 1/(1 + e⁻ᵗ), at any size of t.

/// log(1 + eᵗ), which neither overflows nor loses what is small.
pub fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// 1/(1 + e⁻ᵗ): the probability with log-odds t.
pub fn probability(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

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
