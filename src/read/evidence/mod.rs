//! What another program already knows: costs, probabilities and superpixels from files, instead of colours and mean shift.
//!
//! A probability p of foreground becomes the cost m = log(1 − p) − log p. A file cannot say p more finely than its own step
//! (1/255 in an 8-bit image, 2⁻²⁴ just below 1 in a 32-bit float), so p within half a step of 0 or 1, where m would
//! be infinite or beyond what the file can tell, counts as half a step away. That is reported, never silent.

mod npy;
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
    let Loaded { value: samples, warnings, digest } = npy::read(&mut source, photo, limits)?;
    let values = samples.into_real();
    check(path, photo, &values, f64::is_finite, "a finite number: replace it before saving")?;
    Ok(Loaded { value: Unary::new(photo, values)?, warnings, digest })
}

/// Reads the probability of foreground of a photo of shape `photo`, from an `.npy` file, a grey image (0 to 255 or 65535
/// stand for 0 to 1) or a floating-point TIFF, as the cost log(1 − p) − log p.
pub fn prior(path: &Path, photo: Shape, limits: &Limits) -> Result<Loaded<Unary>> {
    let Loaded { value: samples, mut warnings, digest } = samples::read(path, photo, limits, Palette::Colours)?;
    let step = samples.step();
    let probabilities = samples.into_fraction();
    let is_probability = |p: f64| (0.0..=1.0).contains(&p);
    check(
        path,
        photo,
        &probabilities,
        is_probability,
        "a probability between 0 and 1: divide by the largest value, or give costs",
    )?;
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
