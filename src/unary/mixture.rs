//! A mixture of Gaussians over RGB colours, and its log density.
//!
//! log p(x) = log Σ_k π_k N(x; μ_k, Σ_k), with the largest term taken out of the sum before exponentiating: a pixel far from
//! every component gets a very negative number, never −∞. Each component keeps π_k/√det(2πΣ_k) and the inverse of its
//! Cholesky factor, so one evaluation is nine multiplications and one exponential per component.
//!
//! With an outlier share ε the density becomes (1−ε)·p(x) + ε, the second part uniform on the unit cube of colours. It
//! says "one pixel in 1/ε looks like nothing in the stroke", and bounds how much a single colour can claim.

use serde::Serialize;

/// Colours are in 0..1 inside this module and in everything it reports.
pub(super) type Colour = [f64; 3];

/// A symmetric positive definite 3×3 matrix, or what should be one.
pub(super) type Covariance = [[f64; 3]; 3];

/// Nats below which a density is nothing beside another in `f64`: e⁻⁴⁰ < 2⁻⁵⁷.
const NOTHING: f64 = 40.0;

/// The colours of one class: a mixture of full-covariance Gaussians, RGB in 0..1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixture {
    components: usize,
    weights: Vec<f64>,
    means: Vec<Colour>,
    log_likelihood: f64,
    #[serde(skip)]
    gaussians: Vec<Gaussian>,
}

impl Mixture {
    /// Builds the mixture and scores it on the colours it was fitted to; `None` when a parameter is not finite or a
    /// covariance not positive definite. Components without weight are left out.
    pub(super) fn new(parts: &[(f64, Colour, Covariance)], fitted: &[Colour]) -> Option<Self> {
        let parts: Vec<_> = parts.iter().filter(|(weight, ..)| *weight != 0.0).collect();
        let gaussians = parts.iter().map(|part| Gaussian::new(part)).collect::<Option<Vec<_>>>()?;
        if gaussians.is_empty() || fitted.is_empty() {
            return None;
        }
        let mut mixture = Self {
            components: parts.len(),
            weights: parts.iter().map(|part| part.0).collect(),
            means: parts.iter().map(|part| part.1).collect(),
            log_likelihood: 0.0,
            gaussians,
        };
        let total: f64 = fitted.iter().map(|&colour| mixture.log_density(colour)).sum();
        mixture.log_likelihood = total / fitted.len() as f64;
        mixture.log_likelihood.is_finite().then_some(mixture)
    }

    /// Number of components, at most the number asked for.
    pub fn components(&self) -> usize {
        self.components
    }

    /// The share of each component; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The mean colour of each component, RGB in 0..1.
    pub fn means(&self) -> &[[f64; 3]] {
        &self.means
    }

    /// Mean log density in nats over the stroke pixels the mixture was fitted to.
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// log p(x) in nats, finite for every colour in the unit cube.
    pub fn log_density(&self, colour: [f64; 3]) -> f64 {
        let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
        for gaussian in &self.gaussians {
            let term = gaussian.log_density(colour);
            if term <= largest {
                sum += (term - largest).exp();
            } else {
                sum = sum * (largest - term).exp() + 1.0;
                largest = term;
            }
        }
        largest + sum.ln()
    }

    /// log((1−ε)·p(x) + ε) for the outlier share ε in 0..1.
    pub fn log_density_with_outliers(&self, colour: [f64; 3], outlier: f64) -> f64 {
        if outlier == 0.0 {
            return self.log_density(colour);
        }
        // Terms that are nothing beside ε are left out, so no maximum needs to be taken out.
        let least = outlier.ln() - NOTHING;
        let terms = self.gaussians.iter().map(|gaussian| gaussian.log_density(colour));
        let density: f64 = terms.filter(|&term| term > least).map(f64::exp).sum();
        ((1.0 - outlier) * density + outlier).ln()
    }
}

/// π·N(x; μ, Σ) in the form that is quick to evaluate.
#[derive(Clone, Debug, PartialEq)]
struct Gaussian {
    /// log π − ½ log det(2πΣ)
    log_scale: f64,
    mean: Colour,
    /// L⁻¹ with Σ = LLᵀ, the lower triangle row by row, times √½: its image has ½(x−μ)ᵀΣ⁻¹(x−μ) as squared length.
    whiten: [f64; 6],
}

impl Gaussian {
    fn new(&(weight, mean, covariance): &(f64, Colour, Covariance)) -> Option<Self> {
        let root = |squared: f64| (squared > 0.0).then(|| squared.sqrt());
        let [[c00, ..], [c10, c11, _], [c20, c21, c22]] = covariance;
        let l00 = root(c00)?;
        let (l10, l20) = (c10 / l00, c20 / l00);
        let l11 = root(c11 - l10 * l10)?;
        let l21 = (c21 - l20 * l10) / l11;
        let l22 = root(c22 - l20 * l20 - l21 * l21)?;

        let (i00, i11, i22) = (1.0 / l00, 1.0 / l11, 1.0 / l22);
        let i10 = -l10 * i00 * i11;
        let i21 = -l21 * i11 * i22;
        let i20 = -(l20 * i00 + l21 * i10) * i22;

        let log_root_det = (l00 * l11 * l22).ln() + 1.5 * std::f64::consts::TAU.ln();
        let gaussian = Self {
            log_scale: weight.ln() - log_root_det,
            mean,
            whiten: [i00, i10, i11, i20, i21, i22].map(|value| value * std::f64::consts::FRAC_1_SQRT_2),
        };
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        (finite(&[gaussian.log_scale]) && finite(&mean) && finite(&gaussian.whiten)).then_some(gaussian)
    }

    fn log_density(&self, colour: Colour) -> f64 {
        let [x, y, z] = [colour[0] - self.mean[0], colour[1] - self.mean[1], colour[2] - self.mean[2]];
        let w = &self.whiten;
        let (a, b, c) = (w[0] * x, w[1] * x + w[2] * y, w[3] * x + w[4] * y + w[5] * z);
        self.log_scale - (a * a + b * b + c * c)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The formula as printed: the density of every component by cofactors, summed without care.
    fn density_reference(parts: &[(f64, Colour, Covariance)], x: Colour) -> f64 {
        parts.iter().map(|&(weight, mean, covariance)| weight * normal_reference(x, mean, covariance)).sum()
    }

    fn normal_reference(x: Colour, mean: Colour, c: Covariance) -> f64 {
        let cofactor = |i: usize, j: usize| {
            let at = |a: usize, b: usize| c[(i + a) % 3][(j + b) % 3];
            at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
        };
        let det: f64 = (0..3).map(|j| c[0][j] * cofactor(0, j)).sum();
        let mut distance = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                distance += (x[i] - mean[i]) * cofactor(j, i) / det * (x[j] - mean[j]);
            }
        }
        (-0.5 * distance).exp() / (std::f64::consts::TAU.powi(3) * det).sqrt()
    }

    fn colour() -> impl Strategy<Value = Colour> {
        [0.0..1.0, 0.0..1.0, 0.0..1.0]
    }

    /// A Aᵀ plus a ridge: any positive definite matrix of moderate condition.
    fn covariance() -> impl Strategy<Value = Covariance> {
        prop::array::uniform3([-0.3..0.3, -0.3..0.3, -0.3..0.3]).prop_map(|a: [Colour; 3]| {
            let mut c = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    c[i][j] = (0..3).map(|k| a[i][k] * a[j][k]).sum::<f64>() + if i == j { 0.02 } else { 0.0 };
                }
            }
            c
        })
    }

    proptest! {
        #[test]
        fn log_density_is_the_log_of_the_printed_sum(
            parts in prop::collection::vec((0.05..1.0, colour(), covariance()), 1..6),
            x in colour(),
            outlier in prop_oneof![Just(0.0), 1e-6..0.5],
        ) {
            let mixture = Mixture::new(&parts, &[x]).unwrap();
            let density = density_reference(&parts, x);
            prop_assert!((mixture.log_density(x) - density.ln()).abs() < 1e-9);
            prop_assert!((mixture.log_likelihood() - density.ln()).abs() < 1e-9);
            let mixed = (1.0 - outlier) * density + outlier;
            prop_assert!((mixture.log_density_with_outliers(x, outlier) - mixed.ln()).abs() < 1e-9);
        }
    }

    #[test]
    fn far_colours_stay_finite_and_the_outlier_share_bounds_them() {
        let tight = [[1e-5, 0.0, 0.0], [0.0, 1e-5, 0.0], [0.0, 0.0, 1e-5]];
        let mixture = Mixture::new(&[(0.5, [0.0; 3], tight), (0.5, [0.1; 3], tight)], &[[0.0; 3]]).unwrap();
        let far = mixture.log_density([1.0; 3]);
        assert!(far.is_finite() && far < -1e5, "{far}");
        assert!((mixture.log_density_with_outliers([1.0; 3], 1e-3) - 1e-3_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn parameters_that_make_no_density_are_refused() {
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let flat = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let x = [[0.5; 3]];
        assert!(Mixture::new(&[(1.0, [0.0; 3], flat)], &x).is_none());
        assert!(Mixture::new(&[(1.0, [f64::NAN; 3], unit)], &x).is_none());
        assert!(Mixture::new(&[(f64::NAN, [0.0; 3], unit)], &x).is_none());
        assert!(Mixture::new(&[], &x).is_none());
        assert!(Mixture::new(&[(1.0, [0.0; 3], unit)], &[]).is_none());
        assert_eq!(Mixture::new(&[(1.0, [0.0; 3], unit), (0.0, [0.0; 3], flat)], &x).unwrap().components(), 1);
    }

    #[test]
    fn the_report_gets_its_four_fields() {
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let json = serde_json::to_value(Mixture::new(&[(1.0, [0.5; 3], unit)], &[[0.5; 3]]).unwrap()).unwrap();
        let fields: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, ["components", "weights", "means", "log_likelihood"]);
    }
}
