//! The temperature fit: the scale of the probabilities, chosen on strokes the model has not seen.
//!
//! The strokes are dealt into four folds of whole pieces ([`Seeds::folds`](crate::grid::Seeds::folds)). Each fold in turn is taken
//! away, everything is learned and solved again from the rest, and the log-odds s of the pixels taken away are kept. The solution
//! for F/T being s/T, one solve per fold serves every T, and the T reported minimises
//!
//! ½ (mean over foreground of ℓ(−s/T) + mean over background of ℓ(s/T)),   ℓ(x) = 0.99·log(1+e^−x) + 0.01·log(1+eˣ).
//!
//! The hundredth: strokes are drawn where things are clear, so that often all of them are right, which would ask for T = 0. Taking
//! one label in a hundred for a slip, no stroke earns a claim beyond 99 %. The sum is convex in 1/T: bisection finds its minimum.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::observe::Watch;
use super::stage::key;
use super::{Observer, Options, Reach, Session, Superpixels};
use crate::grid::Seed;
use crate::kernel::logistic::{probability, softplus};
use crate::{Checkpoint, Error, Result};

const FOLDS: u8 = 4;

/// The share of labels taken for slips.
pub(crate) const SLIPS: f64 = 0.01;

/// T is looked for in here.
const RANGE: (f64, f64) = (0.01, 1000.0);

/// Gap per pixel good enough for a scale: about 0.04 in an s.
const TOLERANCE: f64 = 1e-3;

/// The temperature, and how it was found.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// T.
    pub temperature: f64,
    /// Folds that were held out.
    pub folds: usize,
    /// Pieces the strokes were cut into.
    pub pieces: usize,
    /// Pixels judged while held out.
    pub pixels: usize,
    /// The loss that T minimises, in nats.
    pub log_loss: f64,
    /// The same at T = 1.
    pub log_loss_at_one: f64,
}

impl Session {
    /// Chooses T on held-out strokes; needs strokes of both classes and a method with a certificate.
    pub fn fit_temperature(&mut self, observer: Observer<'_>) -> Result<Fit> {
        let watch = Watch::new(observer);
        let checkpoint: Checkpoint<'_> = &|| watch.checkpoint();
        let superpixels = self.cut(checkpoint)?;
        self.keep_superpixels(&superpixels, None);
        self.fitted(&superpixels, checkpoint)
    }

    /// The same with superpixels at hand.
    pub(super) fn fitted(&mut self, superpixels: &Superpixels, checkpoint: Checkpoint<'_>) -> Result<Fit> {
        let mut options = self.options.clone();
        options.model.temperature = 1.0;
        options.fit_temperature = false;
        // Held-out strokes are judged as the model sees them.
        options.reach = Reach::Off;
        options.output.emit.clear();
        options.solver.tolerance = options.solver.tolerance.max(TOLERANCE);
        let fit_key = key(&(
            self.evidence_key(None),
            &superpixels.names,
            &options.model,
            &options.solver,
            options.method,
            options.bias,
        ));
        if let Some(fit) = self.fit.get(fit_key) {
            return Ok(*fit);
        }
        let fit = self.hold_out(superpixels, &options, checkpoint)?;
        self.fit.put(fit_key, Arc::new(fit));
        Ok(fit)
    }

    fn hold_out(&self, superpixels: &Superpixels, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Fit> {
        let impossible = |why: &str, remedy: &str| {
            Error::parameter(
                "the temperature",
                format!("fit, but {why}"),
                format!("a number, or accompanied by {remedy}"),
            )
        };
        if !options.method.is_certified() {
            return Err(impossible("the beliefs of a rival cannot be scaled", "the method lfield or unary"));
        }
        let Some(seeds) = self.seeds() else { return Err(impossible("there are no strokes to hold out", "strokes")) };
        let folds = seeds.folds(FOLDS);
        let mut held = HeldOut::default();
        let mut n_folds = 0;
        for fold in 0..FOLDS {
            let rest = seeds.without(&folds, fold);
            if rest.count(Seed::Foreground) == 0 || rest.count(Seed::Background) == 0 || rest == *seeds {
                continue;
            }
            let bare = Self::bare(Arc::clone(&self.picture), options.clone());
            let mut session =
                Self { costs: self.costs.clone(), is_prior: self.is_prior, given: Some(superpixels.clone()), ..bare };
            session.set_seeds(rest)?;
            let answer = session.into_answer(&mut |_| match checkpoint() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            })?;
            let s = &answer.solved.s;
            for (pixel, _) in folds.fold.iter().enumerate().filter(|(_, of)| **of == Some(fold)) {
                match seeds.labels()[pixel] {
                    Seed::Foreground => held.foreground.push(-s[pixel]),
                    Seed::Background => held.background.push(s[pixel]),
                    Seed::Unlabelled => unreachable!("folds hold stroke pixels"),
                }
            }
            n_folds += 1;
        }
        if held.foreground.is_empty() || held.background.is_empty() {
            return Err(impossible(
                "no stroke can be held out without leaving its class empty",
                "more strokes of both classes",
            ));
        }
        let temperature = held.best_temperature();
        Ok(Fit {
            temperature,
            folds: n_folds,
            pieces: folds.pieces,
            pixels: held.foreground.len() + held.background.len(),
            log_loss: held.loss(1.0 / temperature),
            log_loss_at_one: held.loss(1.0),
        })
    }
}

/// The log-odds in favour of the right class, of pixels that were held out.
#[derive(Debug, Default)]
struct HeldOut {
    foreground: Vec<f64>,
    background: Vec<f64>,
}

impl HeldOut {
    /// The loss when all log-odds are multiplied by `scale`.
    fn loss(&self, scale: f64) -> f64 {
        self.balanced(|right| (1.0 - SLIPS) * softplus(-scale * right) + SLIPS * softplus(scale * right))
    }

    /// Its derivative by the scale: rising, and zero at the minimum.
    fn slope(&self, scale: f64) -> f64 {
        self.balanced(|right| right * (probability(scale * right) - (1.0 - SLIPS)))
    }

    fn balanced(&self, value: impl Fn(f64) -> f64) -> f64 {
        let mean = |values: &[f64]| values.iter().map(|&v| value(v)).sum::<f64>() / values.len() as f64;
        0.5 * (mean(&self.foreground) + mean(&self.background))
    }

    /// T to four digits, within [`RANGE`].
    fn best_temperature(&self) -> f64 {
        let (mut low, mut high) = RANGE;
        for _ in 0..60 {
            let middle = (low * high).sqrt();
            // Too hot when the claims should be stronger.
            if self.slope(1.0 / middle) < 0.0 { high = middle } else { low = middle }
        }
        let t = (low * high).sqrt();
        let digits = 10_f64.powf(3.0 - t.log10().floor());
        (t * digits).round() / digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss as the module comment has it.
    fn loss(held: &HeldOut, t: f64) -> f64 {
        let one = |values: &[f64]| {
            let l = |x: f64| 0.99 * (1.0 + (-x).exp()).ln() + 0.01 * (1.0 + x.exp()).ln();
            values.iter().map(|v| l(v / t)).sum::<f64>() / values.len() as f64
        };
        0.5 * (one(&held.foreground) + one(&held.background))
    }

    #[test]
    fn no_temperature_on_a_fine_grid_has_less_loss() {
        for (foreground, background) in [
            (vec![4.0, 9.0, -2.0, 7.0], vec![3.0, 3.0, 8.0]),
            (vec![0.4, 0.9, 0.3], vec![0.3, 0.5]),
            (vec![40.0, -30.0, 55.0], vec![20.0, 10.0, 30.0, -1.0]),
        ] {
            let held = HeldOut { foreground, background };
            let best = loss(&held, held.best_temperature());
            assert!((held.loss(1.0 / held.best_temperature()) - best).abs() < 1e-12);
            for step in -400..=500 {
                let t = 10_f64.powf(f64::from(step) / 200.0);
                assert!(best <= loss(&held, t) + 1e-6, "{} against {t}", held.best_temperature());
            }
        }
    }

    #[test]
    fn strokes_that_are_all_right_earn_a_claim_of_99_percent() {
        let held = HeldOut { foreground: vec![10.0; 5], background: vec![10.0; 9] };
        let claim = probability(10.0 / held.best_temperature());
        assert!((claim - 0.99).abs() < 1e-4, "{claim}");
    }

    #[test]
    fn strokes_that_are_all_wrong_end_at_the_hot_end_of_the_range() {
        let held = HeldOut { foreground: vec![-5.0; 5], background: vec![-5.0; 9] };
        assert_eq!(held.best_temperature(), RANGE.1);
    }
}
