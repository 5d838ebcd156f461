//! The temperature and the clip under which the photo's colours are likeliest.
//!
//! (T, ε) = argmax Σ_v log( q_v p_fg(rgb_v) + (1−q_v) p_bg(rgb_v) ),   q_v = clamp(1/(1+e^(−L_v/T)), ε, 1−ε)
//!
//! Where a sure network is wrong, the pixel's colour is unlikely under the class it names: such pixels raise T or ε. Where it is right, every
//! doubt costs likelihood. Both come from a fixed list, and the sum runs over a sample of the pixels, evenly spread and always the same.

use super::{OUTLIER, Options, Setting};
use crate::grid::{Picture, Unary};
use crate::kernel::logistic::probability;
use crate::unary::{Mixture, Mixtures, gmm};

pub(super) const TEMPERATURES: [f64; 12] = [0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0, 6.0, 8.0];
pub(super) const CLIPS: [f64; 7] = [0.001, 0.003, 0.01, 0.03, 0.06, 0.1, 0.2];

/// Pixels that are asked, about.
const SAMPLES: usize = 20_000;

/// T and ε; what is fixed stays.
pub(super) fn fit(picture: &Picture, network: &Unary, colours: &Mixtures, options: &Options) -> (f64, f64) {
    let step = network.as_slice().len().div_ceil(SAMPLES);
    let pixels = picture.rgb().iter().zip(network.as_slice()).step_by(step);
    let sample: Vec<Sample> = pixels.map(|(&rgb, &m)| Sample::new(rgb, -m, colours)).collect();
    let list = |setting: Setting, auto: &[f64]| match setting {
        Setting::Auto => auto.to_vec(),
        Setting::Fixed(value) => vec![value],
    };
    let (temperatures, clips) = (list(options.temperature, &TEMPERATURES), list(options.clip, &CLIPS));
    let mut best = (f64::NEG_INFINITY, 1.0, 0.0);
    for &temperature in &temperatures {
        let claimed: Vec<f64> = sample.iter().map(|sample| probability(sample.logit / temperature)).collect();
        for &clip in &clips {
            let likelihood: f64 = sample.iter().zip(&claimed).map(|(sample, q)| sample.log_likelihood(*q, clip)).sum();
            if likelihood > best.0 {
                best = (likelihood, temperature, clip);
            }
        }
    }
    (best.1, best.2)
}

/// A pixel: what the network says, and the densities of its colour.
struct Sample {
    logit: f64,
    foreground: f64,
    background: f64,
}

impl Sample {
    fn new(rgb: [u8; 3], logit: f64, colours: &Mixtures) -> Self {
        let colour = gmm::unit(rgb);
        let density = |class: &Mixture| class.log_density_with_outliers(colour, OUTLIER).exp();
        Self { logit, foreground: density(&colours.foreground), background: density(&colours.background) }
    }

    fn log_likelihood(&self, claimed: f64, clip: f64) -> f64 {
        let q = claimed.clamp(clip, 1.0 - clip);
        (q * self.foreground + (1.0 - q) * self.background).ln()
    }
}
