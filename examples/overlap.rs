//! Compares a mask with the truth: prints how well they overlap, exits 1 below a threshold.
//!
//!     cargo run --release --example overlap -- lfield-out/beetle.mask.png data/beetle.truth.png 0.85
//!
//! The figure is intersection over union, |A ∩ B| / |A ∪ B|, with a pixel in the set when its grey value is above 127.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mask, truth, least) = match arguments.as_slice() {
        [mask, truth] => (mask, truth, 0.0),
        [mask, truth, least] => (mask, truth, least.parse()?),
        _ => anyhow::bail!("usage: overlap MASK TRUTH [LEAST]"),
    };
    let mask = image::open(mask)?.into_luma8();
    let truth = image::open(truth)?.into_luma8();
    anyhow::ensure!(
        mask.dimensions() == truth.dimensions(),
        "the mask is {:?}, the truth {:?}: they must have the same size",
        mask.dimensions(),
        truth.dimensions()
    );
    let (mut both, mut either) = (0u64, 0u64);
    for (a, b) in mask.as_raw().iter().zip(truth.as_raw()) {
        both += u64::from(*a > 127 && *b > 127);
        either += u64::from(*a > 127 || *b > 127);
    }
    // Two empty masks agree.
    let iou = if either == 0 { 1.0 } else { both as f64 / either as f64 };
    println!("{iou:.4}");
    Ok(if iou >= least { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
