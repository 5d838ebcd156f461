//! Warm start across strokes: `cargo bench --bench warm -- [photo …]`, on the photos of ../shared/data/coopcut.
//!
//! The strokes of a photo are cut into whole strokes (connected components of a class), and one of them is added last, or removed.
//! Printed are sweeps and seconds of the second solve, from nothing and from the messages of the first, which ended at the default
//! tolerance or well below it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use lfield::annotation::{Format, Seed, Seeds, Strokes};
use lfield::assemble::{self, PixelMessages, Problem};
use lfield::field::Partition;
use lfield::input::Limits;
use lfield::picture::Picture;
use lfield::solver::{self, Messages, Solution};
use lfield::superpixel::{self, Layer};
use lfield::unary::{self, Evidence};

/// Gap per pixel at which the first solve ends; the second one always ends at the first of these.
const TOLERANCES: [f64; 2] = [1e-5, 1e-7];

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/coopcut");
    let Ok(entries) = std::fs::read_dir(folder.join("images")) else {
        println!("warm: SKIPPED, the photos of ../shared/data/coopcut are not here");
        return;
    };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let mut images: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    images.sort();
    println!("## warm, {} threads\n", rayon::current_num_threads());
    println!(
        "Δm: change of a pixel's log-odds, mean and share above 0.1. Gap: per pixel, at the start. Each cold → warm.\n"
    );
    println!(
        "| photo | stroke | first solve to | Δm | changed | gap | sweeps | seconds |\n|---|---|---|---|---|---|---|---|"
    );
    let (mut n, mut halved) = (0, [[0; 2]; 2]);
    for image in images {
        let name = image.file_stem().expect("a name").to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let scene = Scene::read(&image, &folder.join("scribbles").join(&name).with_extension("png"));
        let Some((fewer, size)) = without_one_stroke(&scene.seeds) else {
            println!("| {name} | no stroke can be left out |");
            continue;
        };
        n += 1;
        for (change, (before, after)) in [(&fewer, &scene.seeds), (&scene.seeds, &fewer)].into_iter().enumerate() {
            let label = format!("{name} | {}{size} px", ["+", "−"][change]);
            let won = scene.compare(&label, before, after);
            won.iter().zip(&mut halved[change]).for_each(|(won, halved)| *halved += usize::from(*won));
        }
    }
    for (change, halved) in ["added", "removed"].into_iter().zip(halved) {
        for (tolerance, count) in TOLERANCES.into_iter().zip(halved) {
            println!("\n{change}, first solve to {tolerance:.0e}: at most half the sweeps on {count} of {n}");
        }
    }
}

/// A photo with its strokes and superpixels.
struct Scene {
    picture: Picture,
    seeds: Seeds,
    partitions: Vec<Partition>,
}

impl Scene {
    fn read(image: &Path, strokes: &Path) -> Self {
        let limits = Limits::default();
        let picture = Picture::read(image, &limits).expect("a photo").value;
        let seeds = Strokes::read(strokes, &picture, Format::Auto, &limits).expect("its strokes").seeds;
        let cut = |layer| superpixel::mean_shift(&picture, &layer, &|| Ok(())).expect("superpixels");
        let partitions = [Layer::FINE, Layer::COARSE].map(cut).into();
        Self { picture, seeds, partitions }
    }

    /// Prints what a warm start brings after the strokes have changed; whether it halves the sweeps, by how well the first solve ended.
    fn compare(&self, label: &str, before: &Seeds, after: &Seeds) -> [bool; 2] {
        let weigh =
            |seeds| unary::log_odds(&self.picture, seeds, &unary::Options::default(), &|| Ok(())).expect("evidence");
        let (first, evidence) = (weigh(before), weigh(after));
        let changes = evidence.unary.as_slice().iter().zip(first.unary.as_slice()).map(|(a, b)| (a - b).abs());
        let changes: Vec<f64> = changes.collect();
        let n = changes.len() as f64;
        let (mean, share) = (changes.iter().sum::<f64>() / n, changes.iter().filter(|c| **c > 0.1).count() as f64 / n);
        let (earlier, problem) = (self.problem(&first, before), self.problem(&evidence, after));
        let cold = solve(&problem, None, TOLERANCES[0]);
        TOLERANCES.map(|tolerance| {
            let mut kept = PixelMessages::new(self.picture.shape());
            let messages = solve(&earlier, None, tolerance).messages.expect("messages");
            earlier.keep(&messages, &mut kept);
            let warm = solve(&problem, Some(&problem.start(&kept)), TOLERANCES[0]);
            let [[g0, n0, s0], [g1, n1, s1]] = [&cold, &warm].map(|solution| {
                [solution.trace[0].gap_per_pixel, solution.iterations as f64, solution.seconds]
            });
            println!(
                "| {label} | {tolerance:.0e} | {mean:.2} | {:.0} % | {g0:.1e} → {g1:.1e} | {n0} → {n1} | {s0:.2} → {s1:.2} |",
                100.0 * share
            );
            2.0 * n1 <= n0
        })
    }

    fn problem(&self, evidence: &Evidence, seeds: &Seeds) -> Problem {
        let options = assemble::Options::default();
        assemble::model(&self.picture, &evidence.unary, &self.partitions, Some(seeds), &options, &|| Ok(()))
            .expect("a model")
    }
}

fn solve(problem: &Problem, start: Option<&Messages>, tolerance: f64) -> Solution {
    let options = solver::Options { tolerance, ..solver::Options::default() };
    let mut observe = |_: &solver::Progress| ControlFlow::Continue(());
    solver::solve_until(&problem.model, &options, start, &mut observe, &|| Ok(())).expect("a solve")
}

/// The strokes without the one of median size among those whose class keeps another, and its size.
fn without_one_stroke(seeds: &Seeds) -> Option<(Seeds, usize)> {
    let classes = [Seed::Foreground, Seed::Background].map(|class| strokes(seeds, class));
    let mut removable: Vec<&Vec<usize>> = classes.iter().filter(|strokes| strokes.len() > 1).flatten().collect();
    removable.sort_by_key(|stroke| (stroke.len(), stroke[0]));
    let stroke = *removable.get(removable.len() / 2)?;
    let mut labels = seeds.labels().to_vec();
    stroke.iter().for_each(|&pixel| labels[pixel] = Seed::Unlabelled);
    Some((Seeds::new(seeds.shape(), labels), stroke.len()))
}

/// The pixels of each 8-connected component of a class.
fn strokes(seeds: &Seeds, class: Seed) -> Vec<Vec<usize>> {
    let (width, height) = (seeds.shape().width, seeds.shape().height);
    let mut left: Vec<bool> = seeds.labels().iter().map(|&seed| seed == class).collect();
    let mut strokes = Vec::new();
    for first in 0..left.len() {
        if !std::mem::replace(&mut left[first], false) {
            continue;
        }
        let mut stroke = vec![first];
        let mut next = 0;
        while let Some(&pixel) = stroke.get(next) {
            next += 1;
            let (x, y) = (pixel % width, pixel / width);
            let rows = y.saturating_sub(1)..(y + 2).min(height);
            let around = rows.flat_map(|y| y * width + x.saturating_sub(1)..y * width + (x + 2).min(width));
            stroke.extend(around.filter(|&near| std::mem::replace(&mut left[near], false)));
        }
        strokes.push(stroke);
    }
    strokes
}
