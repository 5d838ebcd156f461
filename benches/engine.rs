//! The inference engine, measured: `cargo bench --bench engine -- [kernels|sweep|solvers|scaling …]`.
//!
//! Every model is the same on every machine: the bundled beetle scene (427×640), its strokes, its mixtures and its superpixels;
//! larger ones are the same scene enlarged. Times are the best of a few runs on the threads given by `RAYON_NUM_THREADS`; compare
//! them with each other, not with another machine's.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use lfield::assemble::{self, Problem};
use lfield::factor::{Cardinality, Factor, Scratch};
use lfield::grid::{Partition, Picture, Seed, Seeds, Shape, Unary};
use lfield::kernel::total_variation;
use lfield::read::{Format, Limits, Strokes};
use lfield::solver::{self, SolverKind};
use lfield::{superpixel, unary};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let scene = Scene::bundled();
    for name in ["kernels", "sweep", "solvers", "scaling"] {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        println!("\n## {name}, {} threads\n", rayon::current_num_threads());
        match name {
            "kernels" => kernels(&scene),
            "sweep" => sweep(&scene),
            "solvers" => solvers(&scene),
            _ => scaling(&scene),
        }
    }
}

/// A photo with strokes, log-odds and superpixels.
struct Scene {
    picture: Picture,
    seeds: Seeds,
    unary: Unary,
    partitions: Vec<Partition>,
}

impl Scene {
    fn bundled() -> Self {
        let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/beetle.png");
        let limits = Limits::default();
        let picture = Picture::read(&image, &limits).expect("the bundled photo").value;
        let strokes = Strokes::read(&image.with_extension("scribbles.png"), &picture, Format::Auto, &limits);
        let seeds = strokes.expect("its strokes").seeds;
        let evidence = unary::log_odds(&picture, &seeds, &unary::Options::default(), &|| Ok(())).expect("its mixtures");
        let layers = [superpixel::Layer::FINE, superpixel::Layer::COARSE];
        let partitions = superpixel::layers(&picture, &layers, &|| Ok(())).expect("its superpixels");
        Self { picture, seeds, unary: evidence.unary, partitions }
    }

    /// The scene enlarged to `width` columns, every pixel repeated: the same regions, larger.
    fn enlarged(&self, width: usize) -> Self {
        let old = self.picture.shape();
        let shape = Shape::new(width, old.height * width / old.width);
        let source: Vec<usize> = (0..shape.n_pixels())
            .map(|p| {
                let (row, column) = (p / shape.width, p % shape.width);
                (row * old.height / shape.height) * old.width + column * old.width / shape.width
            })
            .collect();
        let labels: Vec<Seed> = source.iter().map(|&p| self.seeds.labels()[p]).collect();
        let costs = source.iter().map(|&p| self.unary.as_slice()[p]).collect();
        let enlarge = |partition: &Partition| {
            let labels: Vec<u32> = source.iter().map(|&p| partition.labels()[p]).collect();
            Partition::from_labels(shape, &labels)
        };
        Self {
            picture: Picture::new(shape, source.iter().map(|&p| self.picture.rgb()[p]).collect()),
            seeds: Seeds::new(shape, labels),
            unary: Unary::new(shape, costs).expect("finite costs"),
            partitions: self.partitions.iter().map(enlarge).collect(),
        }
    }

    fn problem(&self, beta: f64, gamma: f64) -> Problem {
        let options = assemble::Options { beta, gamma, ..assemble::Options::default() };
        let seeds = Some(&self.seeds);
        assemble::model(&self.picture, &self.unary, &self.partitions, seeds, &options, &|| Ok(())).expect("a model")
    }
}

/// Best seconds of `runs`.
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let clock = Instant::now();
        work();
        clock.elapsed().as_secs_f64()
    };
    (0..runs).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Nanoseconds per pixel of the projections, one thread, on the first inputs a sweep gives them.
fn kernels(scene: &Scene) {
    println!("| kernel | ns per pixel |\n|---|---|");
    for beta in [1.0, 10.0, 100.0] {
        let problem = scene.problem(beta, 0.0);
        let rows = &problem.model.layers()[0];
        let z: Vec<f64> = problem.model.unary().iter().map(|m| -m).collect();
        let mut x = vec![0.0; z.len()];
        let mut scratch = total_variation::Scratch::default();
        let mut funnel = total_variation::taut_string::Scratch::default();
        let chains: Vec<_> = rows
            .factors()
            .iter()
            .zip(rows.starts().windows(2))
            .filter_map(|(factor, range)| Some((factor.as_chain()?.weights(), range[0]..range[1])))
            .collect();
        let programme = best(5, || {
            for (w, range) in &chains {
                total_variation::solve(&z[range.clone()], w, &mut x[range.clone()], &mut scratch);
            }
            black_box(&x);
        });
        let twin = best(5, || {
            for (w, range) in &chains {
                total_variation::taut_string::solve(&z[range.clone()], w, &mut x[range.clone()], &mut funnel);
            }
            black_box(&x);
        });
        // From the jumps of a problem that differs by one part in a hundred, as the sweep before does.
        let near: Vec<f64> = z.iter().enumerate().map(|(i, z)| z + 0.01 * (i as f64).sin()).collect();
        let mut jumps = vec![0; z.len()];
        let again = best(5, || {
            for z in [&near, &z] {
                for (w, range) in &chains {
                    let (z, x, jumps) = (&z[range.clone()], &mut x[range.clone()], &mut jumps[range.clone()]);
                    total_variation::again::solve(z, w, x, jumps, &mut scratch);
                }
            }
            black_box(&x);
        }) / 2.0;
        let per_pixel = 1e9 / z.len() as f64;
        println!("| chain, again after a small change, β={beta} | {:.1} |", again * per_pixel);
        println!("| chain, dynamic programme, β={beta} | {:.1} |", programme * per_pixel);
        println!("| chain, taut string, β={beta} | {:.1} |", twin * per_pixel);
    }
    for n in [50, 500, 5000, 100_000] {
        let factor = Cardinality::quadratic(n, 0, n, n as f64).expect("a superpixel");
        let z: Vec<f64> = (0..n).map(|i| ((i * 7919) % 10_007) as f64 / 1000.0).collect();
        let mut point = z.clone();
        let mut scratch = Scratch::default();
        let repeats = 200_000 / n;
        let seconds = best(5, || {
            for _ in 0..repeats {
                point.copy_from_slice(&z);
                factor.project(&mut point, &mut scratch);
            }
            black_box(&point);
        });
        println!("| superpixel of {n} | {:.1} |", seconds * 1e9 / (repeats * n) as f64);
    }
}

/// Nanoseconds per free pixel of one sweep.
fn sweep(scene: &Scene) {
    println!("| model | ns per pixel and sweep |\n|---|---|");
    for (beta, gamma) in [(10.0, 0.0), (0.0, 2.0), (20.0, 2.0)] {
        println!("| β={beta} γ={gamma} | {:.1} |", sweep_cost(&scene.problem(beta, gamma)));
    }
}

/// What 30 sweeps take longer than 10, looks at the certificate included.
fn sweep_cost(problem: &Problem) -> f64 {
    let run = |sweeps: usize| {
        let options = solver::Options { tolerance: f64::MIN_POSITIVE, max_iterations: sweeps, ..Default::default() };
        best(3, || {
            black_box(solver::solve(&problem.model, &options, &mut |_| ControlFlow::Continue(())).expect("a solve"));
        })
    };
    (run(30) - run(10)) / 20.0 * 1e9 / problem.free().len() as f64
}

/// Steps and seconds of every solver to four gaps, within 20 seconds each.
fn solvers(scene: &Scene) {
    const GAPS: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-8];
    println!("| β | γ | solver | 1e-4 | 1e-5 | 1e-6 | 1e-8 |\n|---|---|---|---|---|---|---|");
    for (beta, gamma) in [(1.0, 0.0), (10.0, 0.0), (100.0, 0.0), (1.0, 2.0), (10.0, 2.0), (100.0, 2.0)] {
        let problem = scene.problem(beta, gamma);
        for solver in [
            SolverKind::Accelerated,
            SolverKind::Messages,
            SolverKind::DouglasRachford,
            SolverKind::Ep,
            SolverKind::FrankWolfe,
            SolverKind::DivideConquer,
        ] {
            let options = solver::Options {
                solver,
                tolerance: GAPS[3],
                time_limit: Some(Duration::from_secs(20)),
                ..Default::default()
            };
            let mut cells = GAPS.map(|_| "–".to_string());
            let outcome = solver::solve(&problem.model, &options, &mut |progress| {
                for (cell, gap) in cells.iter_mut().zip(GAPS) {
                    if cell == "–" && progress.gap_per_pixel <= gap {
                        *cell = format!("{} / {:.2} s", progress.iteration, progress.seconds);
                    }
                }
                ControlFlow::Continue(())
            });
            let result = outcome.map_or_else(|reason| reason.to_string(), |_| cells.join(" | "));
            println!("| {beta} | {gamma} | {solver:?} | {result} |");
        }
    }
}

/// How cost and sweeps grow with the photo, up to 12 megapixels, in the default model.
fn scaling(scene: &Scene) {
    println!(
        "| megapixels | ns per pixel and sweep | sweeps to 1e-5 | seconds | µs per pixel |\n|---|---|---|---|---|"
    );
    let model = assemble::Options::default();
    for width in [640, 1280, 2560, 4243] {
        let problem = scene.enlarged(width).problem(model.beta, model.gamma);
        let options = solver::Options::default();
        let solution = solver::solve(&problem.model, &options, &mut |_| ControlFlow::Continue(())).expect("a solve");
        let pixels = problem.shape().n_pixels() as f64;
        println!(
            "| {:.2} | {:.1} | {} | {:.2} | {:.2} |",
            pixels / 1e6,
            sweep_cost(&problem),
            solution.iterations,
            solution.seconds,
            solution.seconds * 1e6 / pixels,
        );
    }
}
