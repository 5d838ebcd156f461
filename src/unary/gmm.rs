//! Fits the colour mixture of one class to its stroke pixels.
//!
//! linfa-clustering runs k-means and the EM. Three things are done around it. The stroke is thinned to [`SAMPLES`] pixels, because ten times the
//! pixels raise the likelihood by less than half a percent. k-means starts once, from the stroke's colours cut in two again and again
//! ([`split`]), instead of ten times from centres drawn at random: less work, and a small stroke more changes the
//! mixture little, so that a session need not solve from far away. There are never more components than distinct colours, and one fewer after
//! every refusal, because an empty cluster is an error there. And when even one component is refused (its density underflows on a stroke of one
//! colour with a stray pixel) the Gaussian of the sample is written down directly, which is what that fit would have been.
//!
//! linfa cannot be stopped inside a fit. So a fit runs on a thread of its own, and is left to itself there when the checkpoint fails.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::{GaussianMixtureModel, GmmInitMethod, KMeans, KMeansInit};
use ndarray::Array2;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng, impls};

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
pub(super) fn fit(sample: &[[u8; 3]], components: usize, checkpoint: Checkpoint<'_>) -> Result<Option<Mixture>> {
    let distinct = sample.iter().collect::<BTreeSet<_>>().len();
    let sample: Vec<Colour> = sample.iter().map(|&colour| unit(colour)).collect();
    let fit = move || {
        (1..=components.min(distinct))
            .rev()
            .find_map(|components| expectation_maximisation(&sample, components))
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

/// At most `count` of the pixels and their colours, in order. A pixel is drawn by its own lot, whatever else is under the stroke: a stroke more
/// replaces only its share of the sample.
pub(super) fn thin(mut pixels: Vec<(usize, [u8; 3])>, count: usize, seed: u64) -> Vec<(usize, [u8; 3])> {
    if pixels.len() > count {
        let hash = |value: u64| SplitMix64::seed_from_u64(value).next_u64();
        let drawing = hash(seed);
        let lot = |&(pixel, _): &(usize, _)| (hash(drawing ^ pixel as u64), pixel);
        pixels.select_nth_unstable_by_key(count, lot);
        pixels.truncate(count);
        pixels.sort_unstable();
    }
    pixels
}

fn expectation_maximisation(sample: &[Colour], components: usize) -> Option<Mixture> {
    let records = Array2::from_shape_fn((sample.len(), 3), |(row, channel)| sample[row][channel]);
    let data = DatasetBase::from(records);
    let centres = split(sample, components);
    let centres = Array2::from_shape_fn((components, 3), |(k, channel)| centres[k][channel]);
    let clusters = KMeans::params(components)
        .init_method(KMeansInit::Precomputed(centres))
        .n_runs(1)
        .fit(&data)
        .ok()?
        .predict(&data.records);
    let fitted = GaussianMixtureModel::params_with_rng(components, Assignment::new(clusters.to_vec(), components))
        .init_method(GmmInitMethod::Random)
        .reg_covariance(RIDGE)
        .max_n_iterations(MAX_ITERATIONS)
        .fit(&data)
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

/// Where k-means starts: again and again the cluster that is widest in one direction is cut in two across it, at its mean.
fn split(sample: &[Colour], count: usize) -> Vec<Colour> {
    let mut clusters = vec![Cluster::of(sample.to_vec())];
    while clusters.len() < count {
        let widest =
            (0..clusters.len()).max_by(|&a, &b| clusters[a].spread.total_cmp(&clusters[b].spread).then(b.cmp(&a)));
        let cluster = clusters.swap_remove(widest.expect("one cluster at least"));
        let [mut above, mut below] = [Vec::new(), Vec::new()];
        for &colour in &cluster.colours {
            if cluster.along(colour) > 0.0 { above.push(colour) } else { below.push(colour) }
        }
        clusters.extend([Cluster::of(above), Cluster::of(below)]);
    }
    clusters.iter().map(|cluster| cluster.mean).collect()
}

/// Some colours, the axis along which they spread most, and by how much in all: Σ (their way along it)².
struct Cluster {
    colours: Vec<Colour>,
    mean: Colour,
    axis: Colour,
    spread: f64,
}

impl Cluster {
    fn of(colours: Vec<Colour>) -> Self {
        let n = colours.len().max(1) as f64;
        let mean: Colour = std::array::from_fn(|i| colours.iter().map(|c| c[i]).sum::<f64>() / n);
        let scatter: Covariance = std::array::from_fn(|i| {
            std::array::from_fn(|j| colours.iter().map(|c| (c[i] - mean[i]) * (c[j] - mean[j])).sum())
        });
        let apply = |v: Colour| -> Colour { std::array::from_fn(|i| (0..3).map(|j| scatter[i][j] * v[j]).sum()) };
        let length = |v: Colour| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        // Power iteration from the channel that spreads most.
        let first = (0..3).max_by(|&a, &b| scatter[a][a].total_cmp(&scatter[b][b])).expect("three channels");
        let mut axis: Colour = std::array::from_fn(|i| f64::from(u8::from(i == first)));
        for _ in 0..30 {
            let next = apply(axis);
            let size = length(next);
            if size == 0.0 {
                break;
            }
            axis = next.map(|v| v / size);
        }
        let spread = length(apply(axis));
        Self { colours, mean, axis, spread }
    }

    fn along(&self, colour: Colour) -> f64 {
        (0..3).map(|i| (colour[i] - self.mean[i]) * self.axis[i]).sum()
    }
}

/// Says to linfa's EM, which would start from memberships drawn at random, what they are: all or nothing.
#[derive(Clone)]
struct Assignment {
    clusters: Vec<usize>,
    components: usize,
    drawn: usize,
}

impl Assignment {
    fn new(clusters: Vec<usize>, components: usize) -> Self {
        Self { clusters, components, drawn: 0 }
    }
}

impl RngCore for Assignment {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        let (row, component) = (self.drawn / self.components, self.drawn % self.components);
        self.drawn += 1;
        if self.clusters.get(row) == Some(&component) { u64::MAX } else { 0 }
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        impls::fill_bytes_via_next(self, bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), rand_xoshiro::rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
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
    use rand_xoshiro::Xoshiro256Plus;

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
        let mixture = fit(&colours, 3, &|| Ok(())).unwrap().unwrap();
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
        assert!(fit(&[], 5, &|| Ok(())).unwrap().is_none());
        for (distinct, count) in [(1, 1), (1, 1000), (2, 2), (2, 1000), (3, 7), (4, 2500)] {
            let colours: Vec<[u8; 3]> = (0..count).map(|i| [(i % distinct * 60) as u8; 3]).collect();
            let mixture = fit(&colours, 5, &|| Ok(())).unwrap().unwrap();
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
        let mixture = fit(&colours, 1, &|| Ok(())).unwrap().unwrap();
        let mean = mixture.means()[0];
        assert!((mean[0] - (1999.0 * 128.0 + 255.0) / 2000.0 / 255.0).abs() < 1e-9, "{mean:?}");
    }

    #[test]
    fn the_thread_count_does_not_decide() {
        let mut rng = Xoshiro256Plus::seed_from_u64(1);
        let colours: Vec<[u8; 3]> = (0..500).map(|_| rng.next_u64().to_le_bytes()[..3].try_into().unwrap()).collect();
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&colours, 5, &|| Ok(())).unwrap())
        };
        assert_eq!(with_threads(1), with_threads(2));
        assert_eq!(with_threads(1), with_threads(7));
    }

    #[test]
    fn linfa_starts_from_the_clusters_it_is_given() {
        let clusters = vec![0, 1, 0, 0, 1, 0, 0, 1];
        let records = Array2::from_shape_fn((8, 3), |(row, channel)| (row * 3 + channel) as f64);
        let fitted = GaussianMixtureModel::params_with_rng(2, Assignment::new(clusters, 2))
            .init_method(GmmInitMethod::Random)
            // So wide that every pixel belongs to both as their weights say, which are therefore those of the start.
            .reg_covariance(1e12)
            .fit(&DatasetBase::from(records))
            .unwrap();
        assert!((fitted.weights()[0] - 5.0 / 8.0).abs() < 1e-9, "{}", fitted.weights());
    }

    #[test]
    fn the_widest_cluster_is_cut_at_its_mean() {
        let sample =
            [[0.0, 0.0, 0.0], [0.0, 0.2, 0.0], [1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.0, 0.2, 0.0], [1.0, 0.3, 0.0]];
        let mut centres = split(&sample, 3);
        centres.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let expected = [[0.0, 0.1, 0.0], [1.0, 0.05, 0.0], [1.0, 0.25, 0.0]];
        for (centre, expected) in centres.iter().zip(expected) {
            assert!((0..3).all(|i| (centre[i] - expected[i]).abs() < 1e-9), "{centres:?}");
        }
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
    fn thinning_keeps_its_choice_when_a_stroke_is_added() {
        let stroke = |pixels: std::ops::Range<usize>| pixels.map(|pixel| (pixel, [pixel as u8; 3])).collect::<Vec<_>>();
        let few = thin(stroke(0..10_000), 1000, 3);
        assert_eq!(few.len(), 1000);
        assert!(few.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let mut more = stroke(0..10_000);
        more.extend(stroke(20_000..20_500));
        let more = thin(more, 1000, 3);
        let kept = few.iter().filter(|pixel| more.contains(pixel)).count();
        assert!((930..1000).contains(&kept), "{kept}");
        assert_ne!(thin(stroke(0..10_000), 1000, 4), few);
        assert_eq!(thin(stroke(0..1000), 1000, 3), stroke(0..1000));
    }
}
