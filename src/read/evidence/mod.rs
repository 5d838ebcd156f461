//! What another program already knows: costs, probabilities and superpixels from files, instead of colours and mean shift.
//!
//! A probability p of foreground becomes the cost m = log(1 − p) − log p. A file cannot say p more finely than its own step
//! (1/255 in an 8-bit image, 2⁻²⁴ just below 1 in a 32-bit float), so p within half a step of 0 or 1, where m would
//! be infinite or beyond what the file can tell, counts as half a step away. That is reported, never silent.
//!
//! An array (2, height, width) holds two classes, background before object: probabilities where every pair lies in 0..1 and adds up to 1, and
//! otherwise what a softmax would be given, of which m is the first minus the second.

mod npy;
mod npz;
mod samples;

use std::path::Path;

use samples::{Palette, Samples};

use crate::grid::{Marginals, Partition, Shape, Unary};
use crate::read::{Limits, Loaded, Source};
use crate::{Error, Result};

/// Reads the costs m, in nats, of a photo of shape `photo` from an `.npy` file; negative favours foreground.
pub fn unary(path: &Path, photo: Shape, limits: &Limits) -> Result<Loaded<Unary>> {
    let mut source = Source::open(path)?;
    if !npy::is_npy(source.head()) {
        return Err(Error::unsuitable(
            path,
            "is not an .npy array",
            "write the costs with numpy.save, or give probabilities as an image",
        ));
    }
    let Loaded { value: samples, warnings, digest } = npy::read(&mut source, photo, limits, npy::Planes::One)?;
    let values = samples.into_real();
    check(path, photo, &values, f64::is_finite, "a finite number: replace it before saving")?;
    Ok(Loaded { value: Unary::new(photo, values)?, warnings, digest })
}

/// Reads the probability of foreground of a photo of shape `photo`, from an `.npy` or `.npz` file, a grey image (0 to 255 or 65535
/// stand for 0 to 1) or a floating-point TIFF, as the cost log(1 − p) − log p. Of two classes the second is the foreground.
pub fn prior(path: &Path, photo: Shape, limits: &Limits) -> Result<Loaded<Unary>> {
    let Loaded { value: samples, mut warnings, digest } = samples::read_prior(path, photo, limits)?;
    let (step, is_pair) = (samples.step(), samples.len() > photo.n_pixels());
    let mut probabilities = samples.into_fraction();
    if is_pair {
        let object = probabilities.split_off(photo.n_pixels());
        match two_classes(path, photo, &probabilities, &object)? {
            Some(costs) => return Ok(Loaded { value: costs, warnings, digest }),
            None => probabilities = object,
        }
    }
    let is_negative = probabilities.iter().any(|&value| value < 0.0);
    let expected = match is_negative {
        true => "a probability between 0 and 1: of logits save 1/(1+exp(-x)), or give -x as costs",
        false => "a probability between 0 and 1: divide by the largest value, or give costs",
    };
    check(path, photo, &probabilities, is_probability, expected)?;
    let (value, n_bounded) = costs(&Marginals::new(photo, probabilities)?, step)?;
    if n_bounded > 0 {
        let bound = step / 2.0;
        warnings.push(format!(
            "{}: {n_bounded} probabilities are within half a step of 0 or 1 and count as {bound:.2e} away from it, a cost of ±{:.2}",
            path.display(),
            cost(bound)
        ));
    }
    Ok(Loaded { value, warnings, digest })
}

fn is_probability(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

/// How far the probabilities of two classes may be from adding up to 1: half floats of a few operations.
const SUM: f64 = 5e-3;

/// The costs of logits of background and object; nothing where they are probabilities.
fn two_classes(path: &Path, photo: Shape, background: &[f64], object: &[f64]) -> Result<Option<Unary>> {
    for class in [background, object] {
        check(path, photo, class, f64::is_finite, "a finite number: replace it before saving")?;
    }
    let pairs = || background.iter().zip(object);
    if !pairs().all(|(&b, &f)| is_probability(b) && is_probability(f)) {
        return Unary::new(photo, pairs().map(|(b, f)| b - f).collect()).map(Some);
    }
    match pairs().all(|(b, f)| (b + f - 1.0).abs() <= SUM) {
        true => Ok(None),
        false => Err(Error::unsuitable(
            path,
            "holds two classes whose values lie between 0 and 1 and do not add up to 1, so they are neither probabilities nor logits",
            "save the softmax of the two, or the object's probability alone, (height, width)",
        )),
    }
}

/// The costs of probabilities of foreground whose type steps by `step` just below 1, and how many of them count as half a step away
/// from 0 or 1 because they are nearer.
pub fn costs(prior: &Marginals, step: f64) -> Result<(Unary, usize)> {
    let bound = step / 2.0;
    let mut n_bounded = 0_usize;
    let costs = prior.as_slice().iter().map(|&p| {
        n_bounded += usize::from(p < bound || 1.0 - p < bound);
        if p < bound {
            cost(bound)
        } else if 1.0 - p < bound {
            -cost(bound)
        } else {
            cost(p)
        }
    });
    let costs = costs.collect();
    Ok((Unary::new(prior.shape(), costs)?, n_bounded))
}

/// Reads superpixels of a photo of shape `photo` from an integer `.npy` file or a grey or indexed image: equal values are one region, connected or not.
pub fn superpixels(path: &Path, photo: Shape, limits: &Limits) -> Result<Loaded<Partition>> {
    let Loaded { value: samples, warnings, digest } = samples::read(path, photo, limits, Palette::Indices)?;
    match samples {
        Samples::Whole { values, .. } => Ok(Loaded { value: Partition::from_labels(photo, &values), warnings, digest }),
        Samples::Real { .. } => Err(Error::unsuitable(
            path,
            "holds floating-point numbers, not labels",
            "save integers, for example labels.astype(numpy.int32)",
        )),
    }
}

/// m = log(1 − p) − log p.
fn cost(p: f64) -> f64 {
    (-p).ln_1p() - p.ln()
}

fn check(path: &Path, shape: Shape, values: &[f64], good: impl Fn(f64) -> bool, expected: &str) -> Result<()> {
    match values.iter().position(|&value| !good(value)) {
        None => Ok(()),
        Some(pixel) => Err(Error::Value {
            path: path.to_path_buf(),
            row: pixel / shape.width,
            column: pixel % shape.width,
            value: values[pixel].to_string(),
            expected: expected.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests;
