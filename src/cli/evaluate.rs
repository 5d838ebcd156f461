//! `lfield evaluate DIR`: methods scored on photos with known truth.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueHint};
use lfield::dataset::evaluate::{
    Case, Contender, Criterion, Evaluation, Event, Grid, Observe, Options, Outcome, Place, Robot, Row, evaluate, follow,
};
use lfield::metric::WIDTHS;
use lfield::read::{Format, Limits};
use lfield::rival::Schedule;
use lfield::store::files::{probe, refuse_overwriting};

use super::hint::explain;
use super::options::ModelArgs;
use super::parse::{self, GridPart};
use super::progress::{Countdown, clock};
use super::voice::{Voice, plural};
use super::{DONE, FAILED, Global, NOTHING, interrupt, pipe};

/// Score methods on photos with strokes and known truth: tables, curves and a gallery
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct Evaluate {
    /// A folder with images/, scribbles/ and masks/, or a CSV file with the columns image, scribbles and truth
    #[arg(value_name = "DIR|CSV", value_hint = ValueHint::AnyPath)]
    source: PathBuf,

    /// The folder for the results; made when missing. Its folder `cache` lets an interrupted run go on
    #[arg(short, long, value_name = "DIR", value_parser = parse::folder(), value_hint = ValueHint::DirPath, default_value = "lfield-out", help_heading = "Output")]
    output: PathBuf,

    /// The photo that the gallery shows, by name without extension [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    gallery: Option<String>,

    /// Folder of the strokes [default: DIR/scribbles]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Input")]
    scribbles: Option<PathBuf>,

    /// Folder of the right masks: 255 foreground, 0 background, 128 not scored [default: DIR/masks]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Input")]
    truth: Option<PathBuf>,

    /// How the strokes are encoded
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Auto, help_heading = "Input")]
    scribble_format: Format,

    /// Only the first N photos, for a quick look
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Input")]
    limit: Option<u32>,

    /// Refuse larger photos, before they are decoded
    #[arg(long, value_name = "N", value_parser = parse::pixels, default_value_t = Limits::default().max_pixels, help_heading = "Input")]
    max_pixels: u64,

    /// Most memory to use, such as 800M or 16G; photos too big to run side by side run alone [default: most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, help_heading = "Input")]
    max_memory: Option<u64>,

    /// Any of unary, mf, bp, fbp (rivals), cut, hop, full (L-Field) and defaults (lfield segment as it comes)
    /// [default: all; the first six with --paper, defaults with --robot]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Experiment")]
    methods: Vec<Contender>,

    /// Settings to choose from: `paper` for the paper's lists, or lists such as beta=1,10,100; repeat for more
    /// [default: the one setting below; the paper's lists with --paper]
    #[arg(long, value_name = "paper|NAME=LIST", num_args = 0..=1, default_missing_value = "paper", value_parser = parse::grid, help_heading = "Experiment")]
    grid: Vec<GridPart>,

    /// The figure by which settings are chosen, leaving out the photo they are for: auc, auct, iou, f1, boundary_f, error,
    /// brier, ece
    #[arg(long, value_name = "FIGURE", value_parser = Criterion::named, default_value = "auc", help_heading = "Experiment")]
    choose_by: Criterion,

    /// Trimap bands: pixels to either side of the true boundary
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = WIDTHS, help_heading = "Experiment")]
    trimap_widths: Vec<u32>,

    /// Weight of an edge in fbp: 1 is plain belief propagation
    #[arg(long, value_name = "W", value_parser = parse::positive, default_value_t = rival().weight, help_heading = "Experiment")]
    fbp_weight: f64,

    /// Order of the messages of bp and fbp in their 30 iterations
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Schedule::Lines, help_heading = "Experiment")]
    bp_schedule: Schedule,

    /// L-Field stops at this certified gap per pixel
    #[arg(long, value_name = "GAP", value_parser = parse::positive, default_value_t = 1e-4, help_heading = "Experiment")]
    tolerance: f64,

    /// L-Field stops after this many sweeps (the rivals after 30 iterations)
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Experiment")]
    max_iterations: usize,

    /// A box around the true object, grown by 5 %, instead of strokes; all pixels are scored
    #[arg(long, conflicts_with = "robot", help_heading = "Input")]
    box_from_truth: bool,

    /// Strokes until the mask is good: a robot adds them one by one, in the largest wrong region or elsewhere, and is solved again in the
    /// same session. --strokes N is how many it may add
    #[arg(long, value_name = "PLACE", value_enum, num_args = 0..=1, default_missing_value = "error", help_heading = "Robot")]
    robot: Option<Place>,

    /// Radius of the robot's strokes in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = Robot::default().radius, requires = "robot", help_heading = "Robot")]
    radius: usize,

    /// The robot strokes beside the middle of a region, drawn with this seed
    #[arg(long, value_name = "SEED", requires = "robot", help_heading = "Robot")]
    jitter: Option<u64>,

    #[command(flatten)]
    model: ModelArgs,
}

const EXAMPLES: &str = "\
Examples:
  lfield evaluate photos                          every method as it comes
  lfield evaluate photos --methods defaults       lfield segment alone
  lfield evaluate photos --paper -o paper         the paper's experiment: printed model, printed grid
  lfield evaluate photos --grid beta=3,10,30 --grid gamma=0,1,2 --methods full,defaults
  lfield evaluate list.csv --limit 3              a quick look at the first three photos of a list
  lfield evaluate photos --robot                  how many strokes a good mask takes

Writes results.json, results.csv (a row for each photo, method and setting), table.md, roc.svg, trimap.svg,
calibration.svg, gallery.png and gallery.md; with --robot robot.csv, table.md and robot.svg. Interrupted, the same command goes on where it was, with the same results.
Scored are pixels without stroke that the truth decides; figures over all pixels stand beside them.";

impl Evaluate {
    pub(super) fn run(&self, global: &Global, voice: &Voice) -> Result<u8> {
        pipe::refuse("lfield evaluate", &[("the folder", Some(&*self.source)), ("-o", Some(&*self.output))])?;
        interrupt::listen_and_say(*voice, "interrupted; the same command goes on from here");
        let began = Instant::now();
        let options = self.options(global)?;
        let mut cases = Case::all(&self.source, self.scribbles.as_deref(), self.truth.as_deref())?;
        if let Some(limit) = self.limit {
            cases.truncate(limit as usize);
        }
        if cases.is_empty() {
            voice.say(format_args!("no photos in {}; nothing to do", self.source.display()));
            return Ok(NOTHING);
        }
        if let Some(name) = self.gallery.as_ref().filter(|name| cases.iter().all(|case| case.name != **name)) {
            return Err(super::usage(&format!("--gallery {name}: no photo has that name")).into());
        }
        let inputs: Vec<&Path> =
            cases.iter().flat_map(|case| [&*case.image, &case.scribbles, &case.truth]).chain([&*self.source]).collect();
        let files = if self.robot.is_some() { &Outcome::FILES[..] } else { &Evaluation::FILES };
        refuse_overwriting(&self.output, &files.iter().map(Into::into).collect::<Vec<_>>(), &inputs)?;
        probe(&self.output)?;

        let cache = self.output.join("cache");
        if let Some(robot) = self.robot() {
            let found = Self::watched(cases.len(), *voice, |observe| follow(&cases, &options, robot, &cache, observe))?;
            interrupt::writing()?;
            found.write(&self.output)?;
            self.tell_robot(*voice, &found, began.elapsed());
            return Ok(if found.failures.is_empty() { DONE } else { FAILED });
        }
        let evaluation = Self::watched(cases.len(), *voice, |observe| evaluate(&cases, &options, &cache, observe))?;
        interrupt::writing()?;
        evaluation.write(&self.output, &options, self.gallery.as_deref())?;
        self.tell(*voice, &evaluation, began.elapsed());
        Ok(if evaluation.failures.is_empty() { DONE } else { FAILED })
    }

    /// Runs the methods under a bar; where there is no terminal, a line per photo says how far it is.
    fn watched<T>(
        n_photos: usize,
        voice: Voice,
        run: impl FnOnce(Observe<'_>) -> lfield::Result<T>,
    ) -> lfield::Result<T> {
        let bar = Countdown::new(voice, "solving");
        let done = AtomicUsize::new(0);
        run(&|event| {
            match event {
                Event::Planned { solves, .. } => bar.expect(solves),
                Event::Known(solves) => bar.spare(solves),
                Event::Solved(solves) => bar.advance(solves),
                Event::Working => {}
                Event::Photo(name, failure) => {
                    let count = done.fetch_add(1, Ordering::SeqCst) + 1;
                    // Asked beforehand: while something is said, the bar answers no questions.
                    let left = bar.left().filter(|_| count < n_photos);
                    let left = left.map_or_else(String::new, |left| format!("; about {} left", clock(left)));
                    bar.aside(|| match failure {
                        Some(error) => voice.warn(format_args!("{name} failed: {}", explain(error))),
                        None => voice.say(format_args!("{count} of {n_photos}: {name}{left}")),
                    });
                }
            }
            ControlFlow::Continue(())
        })
    }

    fn robot(&self) -> Option<Robot> {
        let strokes = self.model.most_strokes().unwrap_or(Robot::default().strokes);
        self.robot.map(|place| Robot { place, radius: self.radius, strokes, jitter: self.jitter })
    }

    fn options(&self, global: &Global) -> lfield::Result<Options> {
        let mut base = self.model.overlay(self.max_pixels, global.seed).options()?;
        base.solver.tolerance = self.tolerance;
        base.solver.max_iterations = self.max_iterations;
        base.rival.weight = self.fbp_weight;
        base.rival.schedule = self.bp_schedule;
        let mut grid = if self.model.paper() { Grid::paper() } else { Grid::single(&base.model) };
        for part in &self.grid {
            match part.clone() {
                GridPart::Paper => grid = Grid::paper(),
                GridPart::Alpha(list) => grid.alpha = list,
                GridPart::Beta(list) => grid.beta = list,
                GridPart::Gamma(list) => grid.gamma = list,
                GridPart::Theta(list) => grid.theta = list,
            }
        }
        let methods = match &self.methods[..] {
            [] if self.robot.is_some() => vec![Contender::Defaults],
            [] if self.model.paper() => Contender::PAPER.to_vec(),
            [] => Contender::ALL.to_vec(),
            named => Contender::ALL.into_iter().filter(|method| named.contains(method)).collect(),
        };
        Ok(Options {
            methods,
            grid,
            base,
            paper: self.model.paper(),
            format: self.scribble_format,
            widths: self.trimap_widths.clone(),
            criterion: self.choose_by,
            box_from_truth: self.box_from_truth,
            threads: rayon::current_num_threads(),
            max_memory: self.max_memory,
        })
    }

    fn tell_robot(&self, voice: Voice, found: &Outcome, took: Duration) {
        let most = found.robot.strokes;
        voice.say_of(&voice.bold(&format!("{:<28}{:>8}{:>8}{:>8}", "strokes to", ".85", ".90", "band")), "");
        for course in &found.courses {
            let [good, better] = [0.85, 0.90].map(|level| course.strokes_to(level, most));
            voice.say(format_args!("{:<28}{good:>8.2}{better:>8.2}{:>8.2}", course.method.label(), course.band(most)));
        }
        let (photos, took) = (plural(found.photos.len(), "photo"), clock(took));
        voice.say(format_args!("{photos} in {took}; more in {}", self.output.join("table.md").display()));
        if !found.failures.is_empty() {
            voice.warn(format_args!("{} failed, in no mean", plural(found.failures.len(), "photo")));
        }
    }

    fn tell(&self, voice: Voice, evaluation: &Evaluation, took: Duration) {
        let photos = evaluation.photos.len();
        voice.say_of(&voice.bold(&format!("{:<28}{:>8}{:>9}{:>9}{:>9}", "", "AUC", "±", "AUCT", "IoU")), "");
        for Row { method, summary, .. } in &evaluation.rows {
            let (mean, sd) = (summary.unlabelled.mean, summary.unlabelled.sd);
            let [auc, spread, auct, iou] = [mean.auc, sd.auc, mean.auct, mean.iou]
                .map(|value| value.map_or_else(|| "–".to_string(), |value| format!("{value:.4}")));
            voice.say(format_args!("{:<28}{auc:>8}{spread:>9}{auct:>9}{iou:>9}", method.label()));
        }
        let (photos, took) = (plural(photos, "photo"), clock(took));
        voice.say(format_args!("{photos} in {took}; more in {}", self.output.join("table.md").display()));
        let degenerate = evaluation.rows.first().map_or(0, |row| row.summary.degenerate);
        if degenerate > 0 {
            let photos = plural(degenerate, "photo");
            voice.warn(format_args!("{photos} with a truth of one class only, in no mean"));
        }
        if !evaluation.failures.is_empty() {
            voice.warn(format_args!("{} failed, in no mean", plural(evaluation.failures.len(), "photo")));
        }
    }
}

fn rival() -> lfield::rival::Options {
    lfield::rival::Options::default()
}
