//! Warm start across strokes: `cargo bench --bench warm -- [photo …]`, on the photos of ../shared/data/coopcut.
//!
//! The strokes of a photo are cut into whole strokes (connected components of a class), and one of them is added last, or removed: the
//! one of median size among those that leave their class another, which may be half of all there is, and the smallest, a touch-up.
//! Once the strokes teach the colours, as they do unless told otherwise: then the costs of all pixels change with them. And once costs are
//! given, as after a network, so that the strokes are facts about their pixels and nothing else.
//!
//! Printed is the second solve of the session that has seen the change, against the only solve of a fresh one: how far the first
//! answer is from the second, the gap at the start, sweeps, seconds of the solver, and seconds from the change to the answer. Both
//! sessions have the superpixels.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lfield::grid::components;
use lfield::read::{Input, Scene};
use lfield::{Answer, Event, Limits, Options, Partition, Seed, Seeds, Session, Unary, unary};

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
    println!("Each cold → warm; Δx and ΔA: log-odds and mask of the warm answer against the cold one.\n");
    println!("| photo | stroke | costs | gap at start | sweeps | solver s | whole s | mean Δx | ΔA px |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut tallies: Vec<Tally> = Vec::new();
    for image in images {
        let name = image.file_stem().expect("a name").to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let scribbles = Some(folder.join("scribbles").join(&name).with_extension("png"));
        let scene = Input { image, scribbles, ..Input::default() }.read(&Limits::default(), &|| Ok(()));
        let scene = scene.expect("a photo with strokes");
        let all = &scene.strokes.as_ref().expect("strokes").seeds;
        let removable = removable(all);
        if removable.is_empty() {
            println!("| {name} | one stroke of each class: none can be left out |");
            continue;
        }
        let partitions = cut(&scene, all);
        let given = unary::log_odds(&scene.picture, all, &unary::Options::default(), &|| Ok(())).expect("costs").unary;
        for (size, stroke) in [("median", &removable[removable.len() / 2]), ("smallest", &removable[0])] {
            let fewer = without(all, stroke);
            let share = format!("{} of {}", stroke.len(), all.count(all.labels()[stroke[0]]));
            for (sign, change, before, after) in [("+", "added", &fewer, all), ("−", "removed", all, &fewer)] {
                for (costs, given) in [("learned", None), ("given", Some(&given))] {
                    let mut warm = session(&scene, &partitions, given);
                    Run::of(&mut warm, before);
                    let warm = Run::of(&mut warm, after);
                    let cold = Run::of(&mut session(&scene, &partitions, given), after);
                    let what = format!("{size} stroke {change}, costs {costs}");
                    Tally::of(&mut tallies, what).add(&cold, &warm);
                    println!("| {name} | {sign}{share} px | {costs} | {} |", cold.beside(&warm));
                }
            }
        }
    }
    tallies.iter().for_each(Tally::print);
}

/// How often a warm start halves the sweeps, and the seconds of all solves.
#[derive(Default)]
struct Tally {
    what: String,
    n: usize,
    n_halved: usize,
    cold: f64,
    warm: f64,
}

impl Tally {
    /// The tally of this kind of change.
    fn of(tallies: &mut Vec<Self>, what: String) -> &mut Self {
        let at = tallies.iter().position(|tally| tally.what == what).unwrap_or(tallies.len());
        if at == tallies.len() {
            tallies.push(Self { what, ..Self::default() });
        }
        &mut tallies[at]
    }

    fn add(&mut self, cold: &Run, warm: &Run) {
        self.n += 1;
        self.n_halved += usize::from(2 * warm.answer.iterations() <= cold.answer.iterations());
        self.cold += cold.whole;
        self.warm += warm.whole;
    }

    fn print(&self) {
        let Self { what, n, n_halved, cold, warm } = self;
        println!("\n{what}: at most half the sweeps on {n_halved} of {n}; {cold:.2} s cold, {warm:.2} s warm");
    }
}

/// One solve.
struct Run {
    answer: Answer,
    /// Gap per pixel at the start.
    gap: f64,
    /// Seconds from the strokes to the answer.
    whole: f64,
}

impl Run {
    fn of(session: &mut Session, seeds: &Seeds) -> Self {
        let (mut gap, clock) = (None, Instant::now());
        session.set_seeds(seeds.clone()).expect("strokes of this photo");
        let answer = session.solve(&mut |event| {
            if let Event::Sweep(progress) = event {
                gap.get_or_insert(progress.gap_per_pixel);
            }
            ControlFlow::Continue(())
        });
        Self { answer: answer.expect("an answer"), gap: gap.expect("a sweep"), whole: clock.elapsed().as_secs_f64() }
    }

    fn beside(&self, warm: &Self) -> String {
        let solver = |run: &Self| run.answer.report().solve.seconds;
        let (x, y) = (self.answer.log_odds(), warm.answer.log_odds());
        let apart = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).sum::<f64>() / x.len() as f64;
        let masks = self.answer.mask().as_slice().iter().zip(warm.answer.mask().as_slice());
        format!(
            "{:.1e} → {:.1e} | {} → {} | {:.2} → {:.2} | {:.2} → {:.2} | {apart:.3} | {}",
            self.gap,
            warm.gap,
            self.answer.iterations(),
            warm.answer.iterations(),
            solver(self),
            solver(warm),
            self.whole,
            warm.whole,
            masks.filter(|(a, b)| a != b).count()
        )
    }
}

/// A session that knows the superpixels and no strokes.
fn session(scene: &Scene, partitions: &[Partition], costs: Option<&Unary>) -> Session {
    let mut session = Session::new(scene.picture.clone(), Options::default()).expect("the default options");
    session.set_partitions(partitions.to_vec()).expect("partitions of this photo");
    if let Some(costs) = costs {
        session.set_unary(costs.clone()).expect("costs of this photo");
    }
    session
}

/// The superpixels of a photo.
fn cut(scene: &Scene, seeds: &Seeds) -> Vec<Partition> {
    Run::of(&mut session(scene, &[], None), seeds).answer.partitions().to_vec()
}

/// The strokes whose class keeps another, by size.
fn removable(seeds: &Seeds) -> Vec<Vec<usize>> {
    let strokes = |class| components(seeds.shape(), |pixel| seeds.labels()[pixel] == class);
    let classes = [Seed::Foreground, Seed::Background].map(strokes);
    let mut removable: Vec<_> = classes.into_iter().filter(|strokes| strokes.len() > 1).flatten().collect();
    removable.sort_by_key(|stroke| (stroke.len(), stroke[0]));
    removable
}

fn without(seeds: &Seeds, stroke: &[usize]) -> Seeds {
    let mut labels = seeds.labels().to_vec();
    stroke.iter().for_each(|&pixel| labels[pixel] = Seed::Unlabelled);
    Seeds::new(seeds.shape(), labels)
}
