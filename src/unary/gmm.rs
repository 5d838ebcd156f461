//! Fits the colour mixture of one class to its stroke pixels.
//!
//! linfa-clustering runs the EM. Three things are done around it. The stroke is thinned to [`SAMPLES`] pixels, because linfa
//! starts from ten rounds of k-means that cost far more than EM itself, and ten times the pixels raise the likelihood by less
//! than half a percent. There are never more components than distinct colours, and one fewer after every refusal, because an
//! empty cluster is an error there. And when even one component is refused (its density underflows on a stroke of one
//! colour with a stray pixel) the Gaussian of the sample is written down directly, which is what that fit would have been.
//!
//! linfa cannot be stopped inside a fit, which takes a tenth of a second. So a fit runs on a thread of its own, and is left to
//! itself there when the checkpoint fails.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_clustering::GaussianMixtureModel;
use ndarray::Array2;
use rand_xoshiro::Xoshiro256Plus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::mixture::{Colour, Covariance, Mixture};
use crate::{Checkpoint, Result};

/// Stroke pixels used for one fit.
pub(super) const SAMPLES: usize = 2000;

/// Added to the diagonal of every covariance: a standard deviation of about one 8-bit level, below which a photo's colours
/// are rounded anyway.
const RIDGE: f64 = 1e-5;

const MAX_ITERATIONS: u64 = 300;

/// Time between two checkpoints while a fit runs.
const CHECK_EVERY: Duration = Duration::from_millis(5);

/// The mixture of at most `components` Gaussians, or `None` without a single colour to fit.
pub(super) fn fit(
    colours: &[[u8; 3]],
    components: usize,
    samples: usize,
    seed: u64,
    checkpoint: Checkpoint<'_>,
) -> Result<Option<Mixture>> {
    let mut rng = Xoshiro256Plus::seed_from_u64(seed);
    let sample = thin(colours, samples, &mut rng);
    let distinct = sample.iter().collect::<BTreeSet<_>>().len();
    let sample: Vec<Colour> = sample.iter().map(|&colour| unit(colour)).collect();
    let fit = move || {
        (1..=components.min(distinct))
            .rev()
            .find_map(|components| expectation_maximisation(&sample, components, rng.clone()))
            .or_else(|| single_gaussian(&sample))
    };
    abandonable(fit, checkpoint)
}

/// The result of `work`, or the checkpoint's error a few milliseconds after it fails, while `work` runs on unheard.
///
/// `work` gets a pool of one thread: it may wait for no thread of the caller's pool, all of which may be waiting here.
fn abandonable<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static, checkpoint: Checkpoint<'_>) -> Result<T> {
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
        checkpoint()?;
        return Ok(work());
    };
    let (sender, receiver) = channel();
    // Nobody listens any more to what was abandoned.
    pool.spawn(move || drop(sender.send(catch_unwind(AssertUnwindSafe(work)))));
    loop {
        checkpoint()?;
        match receiver.recv_timeout(CHECK_EVERY) {
            Ok(result) => return Ok(result.unwrap_or_else(|panic| resume_unwind(panic))),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the work sends its result or its panic"),
        }
    }
}

/// An 8-bit colour in the unit cube.
pub(super) fn unit(colour: [u8; 3]) -> Colour {
    colour.map(|channel| f64::from(channel) / 255.0)
}

/// At most `count` of the items, one drawn from each of `count` equal stretches: spread like the stroke itself.
pub(super) fn thin<T: Copy>(items: &[T], count: usize, rng: &mut impl RngCore) -> Vec<T> {
    if items.len() <= count {
        return items.to_vec();
    }
    (0..count)
        .map(|stretch| {
            let (start, end) = (stretch * items.len() / count, (stretch + 1) * items.len() / count);
            items[start + (rng.next_u64() % (end - start) as u64) as usize]
        })
        .collect()
}

fn expectation_maximisation(sample: &[Colour], components: usize, rng: Xoshiro256Plus) -> Option<Mixture> {
    let records = Array2::from_shape_fn((sample.len(), 3), |(row, channel)| sample[row][channel]);
    let fitted = GaussianMixtureModel::params_with_rng(components, rng)
        .reg_covariance(RIDGE)
        .max_n_iterations(MAX_ITERATIONS)
        .fit(&DatasetBase::from(records))
        .ok()?;
    let parts: Vec<_> = (0..components)
        .map(|k| {
            let mean = std::array::from_fn(|i| fitted.means()[[k, i]]);
            let covariance = std::array::from_fn(|i| std::array::from_fn(|j| fitted.covariances()[[k, i, j]]));
            (fitted.weights()[k], mean, covariance)
        })
        .collect();
    Mixture::new(&parts, sample)
}

fn single_gaussian(sample: &[Colour]) -> Option<Mixture> {
    let mean_of = |value: &dyn Fn(&Colour) -> f64| sample.iter().map(value).sum::<f64>() / sample.len() as f64;
    let mean: Colour = std::array::from_fn(|i| mean_of(&|x| x[i]));
    let covariance: Covariance = std::array::from_fn(|i| {
        std::array::from_fn(|j| mean_of(&|x| (x[i] - mean[i]) * (x[j] - mean[j])) + if i == j { RIDGE } else { 0.0 })
    });
    Mixture::new(&[(1.0, mean, covariance)], sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// Sums of twelve uniforms: close enough to a normal deviate to have its mean and variance.
    fn normal(rng: &mut impl RngCore) -> f64 {
        (0..12).map(|_| rng.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
    }

    #[test]
    fn a_known_mixture_is_recovered() {
        let truth = [(0.2, [40.0, 60.0, 200.0]), (0.3, [200.0, 80.0, 60.0]), (0.5, [120.0, 180.0, 90.0])];
        let mut rng = Xoshiro256Plus::seed_from_u64(3);
        let mut colours = Vec::new();
        for (weight, mean) in truth {
            for _ in 0..(weight * 10_000.0) as usize {
                colours.push(mean.map(|centre: f64| (centre + 8.0 * normal(&mut rng)).round() as u8));
            }
        }
        let mixture = fit(&colours, 3, SAMPLES, 0, &|| Ok(())).unwrap().unwrap();
        assert_eq!(mixture.components(), 3);
        for (weight, mean) in truth {
            let distance = |k: usize| (0..3).map(|i| (mixture.means()[k][i] * 255.0 - mean[i]).powi(2)).sum::<f64>();
            let nearest = (0..3).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap();
            assert!(distance(nearest).sqrt() < 2.0, "mean off by {}", distance(nearest).sqrt());
            assert!((mixture.weights()[nearest] - weight).abs() < 0.01);
        }
        // The entropy of the truth: the components hardly overlap, so Σ π (ln π − ½ ln det(2πeΣ)).
        let spread = 8.0_f64 / 255.0;
        let gaussian = -1.5 * (std::f64::consts::TAU * std::f64::consts::E * spread * spread).ln();
        let expected = gaussian + truth.iter().map(|(weight, _)| weight * weight.ln()).sum::<f64>();
        assert!((mixture.log_likelihood() - expected).abs() < 0.1, "{} {expected}", mixture.log_likelihood());
    }

    #[test]
    fn degenerate_strokes_get_as_many_components_as_they_have_colours() {
        assert!(fit(&[], 5, SAMPLES, 0, &|| Ok(())).unwrap().is_none());
        for (distinct, count) in [(1, 1), (1, 1000), (2, 2), (2, 1000), (3, 7), (4, 2500)] {
            let colours: Vec<[u8; 3]> = (0..count).map(|i| [(i % distinct * 60) as u8; 3]).collect();
            let mixture = fit(&colours, 5, SAMPLES, 0, &|| Ok(())).unwrap().unwrap();
            assert!((1..=distinct).contains(&mixture.components()), "{distinct} colours, {count} pixels");
            assert!((mixture.weights().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for level in 0..=255 {
                assert!(mixture.log_density(unit([level, 255 - level, 0])).is_finite());
            }
        }
    }

    #[test]
    fn one_stray_pixel_in_a_flat_stroke_is_survived() {
        let mut colours = vec![[128, 128, 128]; 1999];
        colours.push([255, 0, 255]);
        let mixture = fit(&colours, 1, SAMPLES, 0, &|| Ok(())).unwrap().unwrap();
        let mean = mixture.means()[0];
        assert!((mean[0] - (1999.0 * 128.0 + 255.0) / 2000.0 / 255.0).abs() < 1e-9, "{mean:?}");
    }

    #[test]
    fn the_seed_decides_and_the_thread_count_does_not() {
        let mut rng = Xoshiro256Plus::seed_from_u64(1);
        let colours: Vec<[u8; 3]> = (0..5000).map(|_| rng.next_u64().to_le_bytes()[..3].try_into().unwrap()).collect();
        let with_threads = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&colours, 5, 500, seed, &|| Ok(())).unwrap())
        };
        assert_eq!(with_threads(1, 7), with_threads(2, 7));
        assert_eq!(with_threads(1, 7), with_threads(7, 7));
        assert_ne!(with_threads(1, 7), with_threads(1, 8));
    }

    #[test]
    fn a_fit_is_abandoned_while_it_runs_and_its_panic_is_passed_on() {
        let (release, wait) = channel::<()>();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let third = || match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 | 1 => Ok(()),
            _ => Err(Error::Interrupted),
        };
        // It would never end by itself.
        let stopped = abandonable(move || wait.recv(), &third);
        assert!(matches!(stopped, Err(Error::Interrupted)));
        drop(release);
        assert_eq!(abandonable(|| 7, &|| Ok(())).unwrap(), 7);
        let panic = catch_unwind(|| abandonable(|| -> u8 { panic!("on purpose") }, &|| Ok(()))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }

    #[test]
    fn thinning_takes_one_item_from_each_stretch() {
        let items: Vec<usize> = (0..103).collect();
        let mut rng = Xoshiro256Plus::seed_from_u64(0);
        let thinned = thin(&items, 10, &mut rng);
        assert_eq!(thinned.len(), 10);
        for (stretch, &item) in thinned.iter().enumerate() {
            assert!((stretch * 103 / 10..(stretch + 1) * 103 / 10).contains(&item));
        }
        assert_eq!(thin(&items, 103, &mut rng), items);
    }
}
