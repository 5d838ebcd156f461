//! The paper's experiment on any folder of photos with strokes and truth: every method, every setting, scored.
//!
//! [`evaluate`] runs the methods on all photos, chooses the setting of each method by leave-one-out, and returns an [`Evaluation`];
//! [`Evaluation::write`] makes tables and pictures of it. Photos are worked on side by side within the memory allowed. Nothing in the figures depends on the clock, on the number of
//! threads, or on whether a run was interrupted and taken up again.

mod case;
mod chart;
mod choose;
mod figure;
mod grid;
mod journal;
mod photo;
mod results;
mod robot;
mod table;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use case::Case;
pub use choose::Criterion;
pub use grid::{Contender, Contrast, Grid, Setting, Word};
pub use results::{Confidence, Relation, SCHEMA, Sureness};
pub use robot::{Course, Outcome, Place, Robot, Trial, follow};

use crate::dataset::pool::{self, Budget, Candidate, Work};
use crate::metric::{Calibration, Curve, Judge, Judgement, Summary, WIDTHS};
use crate::read::{Digest, Format};
use crate::session::Bias;
use crate::store::files::{Rendered, Staged};
use crate::{Error, Result, session, store};
use grid::{Task, plan};
use journal::Journal;
use photo::Photo;

/// What is evaluated, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The methods, in the order of the table.
    pub methods: Vec<Contender>,
    /// The settings to choose from.
    pub grid: Grid,
    /// Evidence, layers, model, solver and rivals; the weights are those of the grid.
    pub base: session::Options,
    /// Whether the printed model was asked for, for the table.
    pub paper: bool,
    /// How strokes are encoded.
    pub format: Format,
    /// Widths of the trimap bands, ascending.
    pub widths: Vec<u32>,
    /// The figure by which settings are chosen.
    pub criterion: Criterion,
    /// Whether a box around the truth takes the place of the strokes.
    pub box_from_truth: bool,
    /// Threads in all.
    pub threads: usize,
    /// Most bytes of memory for all photos at work; most of what is free, when none are named.
    pub max_memory: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        let base = session::Options::default();
        Self {
            methods: Contender::ALL.to_vec(),
            grid: Grid::single(&base.model),
            base,
            paper: false,
            format: Format::Auto,
            widths: WIDTHS.to_vec(),
            criterion: Criterion::AUC,
            box_from_truth: false,
            threads: 1,
            max_memory: None,
        }
    }
}

impl Options {
    /// The printed model, the printed lists, the printed methods.
    pub fn paper() -> Self {
        let base = session::Options::default().paper();
        Self { methods: Contender::PAPER.to_vec(), grid: Grid::paper(), base, paper: true, ..Self::default() }
    }

    /// The settings of a method: the grid's, or the one that `lfield segment` uses.
    fn settings(&self, method: Contender) -> Vec<Setting> {
        match method {
            Contender::Defaults => Grid::single(&self.own().model).settings(method),
            _ => self.grid.settings(method),
        }
    }

    /// The options that a method is run with, but for the weights.
    fn of(&self, method: Contender) -> session::Options {
        if method == Contender::Defaults { self.own() } else { self.base.clone() }
    }

    /// The options to solve with: those of the method with these weights, at temperature 1 where the solution can be scaled.
    fn with(&self, method: Contender, weights: &Setting) -> session::Options {
        let mut options = session::Options { method: method.method(), fit_temperature: false, ..self.of(method) };
        options.model.alpha = weights.alpha;
        options.model.beta = weights.beta;
        options.model.gamma = weights.gamma;
        options.model.theta = weights.theta.into();
        if method.is_homogeneous() {
            options.model.temperature = 1.0;
        }
        // The others are compared with rivals, which have no levels.
        if method != Contender::Defaults && options.bias == Bias::Auto {
            options.bias = Bias::Fixed(0.0);
        }
        options.output.emit.clear();
        options
    }

    /// The options of `lfield segment` when nothing is typed, but for limits and seed.
    fn own(&self) -> session::Options {
        let mut own = session::Options { limits: self.base.limits, ..session::Options::default() };
        own.unary.seed = self.base.unary.seed;
        own
    }

    fn check(&self) -> Result<()> {
        self.grid.check()?;
        self.base.solver.check()?;
        self.base.rival.check()?;
        if self.widths.is_empty() || self.widths.len() > 255 || !self.widths.is_sorted_by(|a, b| a < b) {
            return Err(Error::parameter(
                "the list of trimap widths",
                format!("{:?}", self.widths),
                "1 to 255 ascending numbers of pixels",
            ));
        }
        Ok(())
    }

    /// The cache key of a photo: everything that its figures depend on, apart from the settings.
    fn key(&self, case: &Case) -> Result<Digest> {
        let truth = Digest::of_file(&case.truth)?;
        store::key_of_files(
            &case.input(self.format),
            &(&self.base, self.own(), &self.widths, self.box_from_truth, truth),
        )
    }
}

/// Progress of a run, sent from several threads.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// There is this much to do.
    Planned {
        /// Photos.
        photos: usize,
        /// Solves over all photos and methods.
        solves: usize,
    },
    /// So many solves were found in the cache.
    Known(usize),
    /// So many more solves are done.
    Solved(usize),
    /// A photo is being solved; sent often, so that the callback can stop it.
    Working,
    /// A photo is done, or failed.
    Photo(&'a str, Option<&'a Error>),
}

/// The progress callback of an evaluation, called from several threads.
pub type Observe<'a> = &'a (dyn Fn(Event<'_>) -> ControlFlow<()> + Sync);

/// What an evaluation found.
#[derive(Debug)]
pub struct Evaluation {
    /// The photos that could be scored, in order.
    pub photos: Vec<Case>,
    /// The others, and why.
    pub failures: Vec<(Case, Error)>,
    /// One per method, in the order asked for.
    pub rows: Vec<Row>,
    /// The folder that holds what is done.
    cache: PathBuf,
}

/// What a method is worth.
#[derive(Clone, Debug)]
pub struct Row {
    /// The method.
    pub method: Contender,
    /// The settings it was tried with.
    pub settings: Vec<Setting>,
    /// Solver runs these took on each photo.
    pub solves: usize,
    /// The judgement of every photo (outer) with every setting (inner).
    pub judgements: Vec<Vec<Judgement>>,
    /// The setting each photo is scored with: the best on all the others.
    pub chosen: Vec<usize>,
    /// The setting that is best on all photos together.
    pub best: usize,
    /// Means over photos, each with its chosen setting.
    pub summary: Summary,
    /// The mean ROC curve; absent when no photo has one.
    pub curve: Option<Curve>,
    /// The reliability of all photos' pixels together.
    pub calibration: Calibration,
}

impl Row {
    fn new(method: Contender, settings: Vec<Setting>, judgements: Vec<Vec<Judgement>>, criterion: Criterion) -> Self {
        let figure = |judgement: &Judgement| match judgement.scores.degenerate {
            true => None,
            false => criterion.of(&judgement.scores.unlabelled.figures),
        };
        let table: Vec<Vec<_>> = judgements.iter().map(|photo| photo.iter().map(figure).collect()).collect();
        let chosen = choose::leave_one_out(&table);
        let best = choose::best(&table, |_| true);
        let solves = plan(method, &settings).iter().map(|task| task.solves.len()).sum();
        let picked: Vec<&Judgement> = judgements.iter().zip(&chosen).map(|(photo, &setting)| &photo[setting]).collect();
        let summary = Summary::of(picked.iter().map(|judgement| &judgement.scores));
        let curve = Curve::mean(picked.iter().filter_map(|judgement| judgement.curve.as_ref()));
        let mut calibration = Calibration::default();
        for judgement in picked.iter().filter(|judgement| !judgement.scores.degenerate) {
            calibration.merge(&judgement.scores.unlabelled.calibration);
        }
        Self { method, settings, solves, judgements, chosen, best, summary, curve, calibration }
    }

    /// Means over photos, all with the setting that is best on them together: what the method could reach if the choice cost nothing.
    pub fn at_best(&self) -> Summary {
        Summary::of(self.judgements.iter().filter_map(|photo| Some(&photo.get(self.best)?.scores)))
    }

    /// The judgement of a photo with the setting chosen for it.
    pub fn judgement(&self, photo: usize) -> &Judgement {
        &self.judgements[photo][self.chosen[photo]]
    }
}

impl Evaluation {
    /// The names of the files that [`Evaluation::write`] writes.
    pub const FILES: [&'static str; 8] = [
        "results.json",
        "results.csv",
        "table.md",
        "roc.svg",
        "trimap.svg",
        "calibration.svg",
        "gallery.png",
        "gallery.md",
    ];

    /// Writes tables and pictures, all at once; the gallery shows the photo called `pictured`, or the first.
    pub fn write(&self, folder: &Path, options: &Options, pictured: Option<&str>) -> Result<Vec<PathBuf>> {
        let mut files = vec![
            ("results.json", self.json(options)),
            ("results.csv", self.csv()),
            ("table.md", self.table(options).into_bytes()),
            ("roc.svg", self.roc().svg().into_bytes()),
            ("trimap.svg", self.trimap().svg().into_bytes()),
            ("calibration.svg", self.calibration().svg().into_bytes()),
        ];
        let shown = match pictured {
            Some(name) => self.photos.iter().find(|case| case.name == name),
            None => self.photos.first(),
        };
        if let Some(case) = shown {
            let [picture, caption] = figure::figure(case, options, &self.cache)?;
            files.extend([("gallery.png", picture), ("gallery.md", caption)]);
        }
        let rendered: Vec<Rendered> =
            files.into_iter().map(|(name, bytes)| Rendered { name: name.into(), bytes }).collect();
        let mut staged = Staged::new(folder)?;
        staged.add(&rendered)?;
        staged.commit()
    }
}

/// Bytes per pixel of a session between two solves: evidence, four layers of messages, the last problem and answer.
const KEPT: u64 = 120;

/// Runs every method on every photo, keeping what is done in the folder `cache`. `observe` is the progress callback, called from several
/// threads; when it breaks, the answer is [`Error::Interrupted`] and the cache holds what was finished.
pub fn evaluate(cases: &[Case], options: &Options, cache: &Path, observe: Observe<'_>) -> Result<Evaluation> {
    options.check()?;
    let plans: Vec<(Contender, Vec<Setting>, Vec<Task>)> = options
        .methods
        .iter()
        .map(|&method| {
            let settings = options.settings(method);
            let tasks = plan(method, &settings);
            (method, settings, tasks)
        })
        .collect();
    let tasks: Vec<&Task> = plans.iter().flat_map(|(_, _, tasks)| tasks).collect();
    let solves = cases.len() * tasks.iter().map(|task| task.solves.len()).sum::<usize>();
    proceed(observe(Event::Planned { photos: cases.len(), solves }))?;

    // What is known is told before anything is solved, for the sake of the time left; what fails here fails again below.
    let known_of = |case: &Case| -> Result<usize> {
        let journal = Journal::open(cache, &case.name, options.key(case)?)?;
        Ok(tasks.iter().filter(|task| known(&journal, task).is_some()).map(|task| task.solves.len()).sum())
    };
    let known = cases.iter().map(|case| known_of(case).unwrap_or(0)).sum();
    proceed(observe(Event::Known(known)))?;

    let Done { photos, answers, failures } =
        each(cases, options, observe, &|case| run(case, options, &tasks, cache, observe))?;
    let mut answers: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
    let mut rows = Vec::new();
    for (method, settings, tasks) in &plans {
        let answered: Vec<Setting> =
            tasks.iter().flat_map(|task| task.solves.iter().flat_map(|solve| solve.settings.clone())).collect();
        let place: Vec<usize> = settings
            .iter()
            .map(|setting| answered.iter().position(|answer| answer == setting).expect("a plan answers every setting"))
            .collect();
        let judgements = answers.iter_mut().map(|sheet| {
            let found: Vec<Judgement> = sheet.by_ref().take(tasks.len()).flatten().collect();
            place.iter().map(|&place| found[place].clone()).collect()
        });
        rows.push(Row::new(*method, settings.clone(), judgements.collect(), options.criterion));
    }
    Ok(Evaluation { photos, failures, rows, cache: cache.to_path_buf() })
}

/// All tasks of one photo; those in its journal are taken from there.
fn run(case: &Case, options: &Options, tasks: &[&Task], cache: &Path, observe: Observe<'_>) -> Result<Sheet> {
    let mut journal = Journal::open(cache, &case.name, options.key(case)?)?;
    let mut sheet: Vec<Option<Vec<Judgement>>> = tasks.iter().map(|task| known(&journal, task)).collect();
    if sheet.iter().any(Option::is_none) {
        let (mut photo, truth) = Photo::read(case, options, observe)?;
        // A box leaves no pixel out.
        let seeds = photo.seeds().filter(|_| !options.box_from_truth).cloned();
        let judge = Judge::new(&truth, seeds.as_ref(), &options.widths);
        for (task, answer) in tasks.iter().zip(&mut sheet).filter(|(_, answer)| answer.is_none()) {
            let judgements = photo.run(task, &judge)?;
            journal.add(task, &judgements)?;
            *answer = Some(judgements);
            proceed(observe(Event::Solved(task.solves.len())))?;
        }
    }
    Ok(sheet.into_iter().map(|answer| answer.expect("every task was done")).collect())
}

/// The judgements of one photo, task by task.
type Sheet = Vec<Vec<Judgement>>;

/// What the journal has about a task, if it is whole.
fn known(journal: &Journal<Judgement>, task: &Task) -> Option<Vec<Judgement>> {
    journal.get(task).filter(|judgements| judgements.len() == task.n_settings())
}

/// What became of the photos.
struct Done<T> {
    /// Those that were done.
    photos: Vec<Case>,
    /// What each of them gave.
    answers: Vec<T>,
    failures: Vec<(Case, Error)>,
}

/// Does something with every photo, side by side within the memory allowed.
fn each<T: Send + Sync>(
    cases: &[Case],
    options: &Options,
    observe: Observe<'_>,
    run: &(dyn Fn(&Case) -> Result<T> + Sync),
) -> Result<Done<T>> {
    let candidates: Vec<Candidate<'_>> =
        cases.iter().map(|case| Candidate { image: &case.image, options: &options.base, kept: KEPT }).collect();
    let budget = Budget { jobs: options.threads, threads: options.threads, max_memory: options.max_memory };
    let work = Photos { cases, run, observe, sheets: cases.iter().map(|_| OnceLock::new()).collect() };
    pool::run(&candidates, budget, &work);
    let mut done = Done { photos: Vec::new(), answers: Vec::new(), failures: Vec::new() };
    for (case, sheet) in cases.iter().zip(work.sheets) {
        match sheet.into_inner().unwrap_or(Err(Error::Interrupted)) {
            Ok(answer) => {
                done.photos.push(case.clone());
                done.answers.push(answer);
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => done.failures.push((case.clone(), error)),
        }
    }
    Ok(done)
}

/// The photos of an evaluation, as work for a pool.
struct Photos<'a, T> {
    cases: &'a [Case],
    run: &'a (dyn Fn(&Case) -> Result<T> + Sync),
    observe: Observe<'a>,
    sheets: Vec<OnceLock<Result<T>>>,
}

impl<T> Photos<'_, T> {
    fn end(&self, i: usize, sheet: Result<T>) -> Result<()> {
        if !matches!(sheet, Err(Error::Interrupted)) {
            proceed((self.observe)(Event::Photo(&self.cases[i].name, sheet.as_ref().err())))?;
        }
        let _ = self.sheets[i].set(sheet);
        Ok(())
    }
}

impl<T: Send + Sync> Work for Photos<'_, T> {
    fn work(&self, i: usize) -> Result<()> {
        let sheet = (self.run)(&self.cases[i])?;
        self.end(i, Ok(sheet))
    }

    fn fail(&self, i: usize, error: Error) {
        // A callback that breaks here breaks again at the next call.
        let _ = self.end(i, Err(error));
    }

    fn proceed(&self) -> ControlFlow<()> {
        (self.observe)(Event::Working)
    }
}

fn proceed(flow: ControlFlow<()>) -> Result<()> {
    if flow.is_break() { Err(Error::Interrupted) } else { Ok(()) }
}
