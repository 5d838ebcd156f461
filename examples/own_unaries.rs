//! Marginals for bring-your-own unaries: another program's probabilities, smoothed by a cut, with proof.
//!
//!     cargo run --release --example own_unaries [WIDTH HEIGHT < PROBABILITIES]
//!
//! Reads P(foreground) of every pixel, row after row, as text; without arguments it makes a noisy disc. Prints the marginals as
//! a picture of letters, and what is certain about them.

use std::io::Read;
use std::ops::ControlFlow;

use lfield::factor::{Chain, Factor};
use lfield::model::{Layer, Model};
use lfield::solver::{self, Options};

/// What it costs two neighbours to differ, in nats.
const EDGE: f64 = 0.6;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (width, height, p) = match arguments.as_slice() {
        [] => noisy_disc(40, 20),
        [width, height] => read(width.parse()?, height.parse()?)?,
        _ => anyhow::bail!("usage: own_unaries [WIDTH HEIGHT < PROBABILITIES]"),
    };

    // The modular cost is the log-odds of the background; a floor keeps a stray 0 or 1 finite.
    let unary: Vec<f64> = p.iter().map(|p| p.clamp(1e-6, 1.0 - 1e-6)).map(|p| ((1.0 - p) / p).ln()).collect();
    let line = |scope: Vec<u32>| -> lfield::Result<(Vec<u32>, Box<dyn Factor>)> {
        let chain = Chain::new(vec![EDGE; scope.len() - 1])?;
        Ok((scope, Box::new(chain)))
    };
    let pixel = |x: usize, y: usize| (y * width + x) as u32;
    let rows = (0..height).map(|y| line((0..width).map(|x| pixel(x, y)).collect())).collect::<Result<_, _>>()?;
    let columns = (0..width).map(|x| line((0..height).map(|y| pixel(x, y)).collect())).collect::<Result<_, _>>()?;
    let n = width * height;
    let model = Model::new(unary, vec![Layer::new(n, rows), Layer::new(n, columns)])?;

    let solution = solver::solve(&model, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
    let shades: Vec<char> = " .:-=+*#%@".chars().collect();
    for row in solution.s.chunks(width) {
        let marginals = row.iter().map(|s| 1.0 / (1.0 + s.exp()));
        println!("{}", marginals.map(|p| shades[((p * 10.0) as usize).min(9)]).collect::<String>());
    }
    let proof = &solution.certificate;
    let certain = proof.certified.iter().filter(|&&certain| certain).count();
    println!("{} sweeps; no s is further than {:.1e} from the optimum", solution.iterations, proof.error_bound);
    println!(
        "{:.2} ≤ log Z ≤ {:.2}; the side of ½ is proved for {certain} of {n} pixels",
        proof.log_z_lower, proof.log_z_upper
    );
    println!("mask optimal: {}", if proof.map_proved_optimal { "proved" } else { "not proved" });
    Ok(())
}

fn read(width: usize, height: usize) -> anyhow::Result<(usize, usize, Vec<f64>)> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let p: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    anyhow::ensure!(
        width > 0 && height > 0 && p.len() == width * height,
        "{} probabilities for {width}×{height} pixels: give one for each",
        p.len()
    );
    anyhow::ensure!(p.iter().all(|p| (0.0..=1.0).contains(p)), "a probability is outside 0…1: rescale the input");
    Ok((width, height, p))
}

/// A disc seen through noise that is the same in every run.
fn noisy_disc(width: usize, height: usize) -> (usize, usize, Vec<f64>) {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 24) as f64
    };
    let p = (0..width * height).map(|v| {
        // A letter is twice as high as it is wide.
        let (x, y) = ((v % width) as f64 - 19.5, 2.0 * ((v / width) as f64 - 9.5));
        let inside = if x.hypot(y) < 13.0 { 0.65 } else { 0.35 };
        (inside + 0.6 * (noise() - 0.5)).clamp(0.02, 0.98)
    });
    (width, height, p.collect())
}
