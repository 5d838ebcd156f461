//! From grid types to an answer: learn colours beside cutting superpixels, assemble, solve; and again after a change.
//!
//! Every stage keeps its last value with the key of what it was made from, so a change is a change of keys:
//!
//! | changed | done again |
//! | --- | --- |
//! | strokes, box, clicks, costs; components, outlier, geodesic, context, reach, refit | evidence, assemble, warm solve |
//! | α, β, γ, φ, θ, hop scale, strokes as facts or examples | assemble, warm solve; with a box or refit, evidence too |
//! | layers | superpixels, assemble, warm solve where messages still fit |
//! | temperature | assemble, certificate; the warm start is the solution |
//! | method, solver, tolerance, MAP choice | warm solve; for the MAP choice the warm start is the solution |
//! | bias | certificate; a rival, and a fitted temperature, are done again |
//! | what is written | nothing, but the sizes for `path`, and superpixels where γ = 0 |
//!
//! Only the default solver starts warm. Above 2 megapixels what the level below decides is part of every key: a change that moves its
//! outline does the band above again.

mod answer;
mod detail;
mod evidence;
mod level;
mod mark;
pub mod memory;
mod method;
mod observe;
mod options;
mod output;
mod overlay;
mod refit;
mod size;
mod stage;
mod suggest;
mod temperature;
mod warm;
mod warning;

use std::sync::Arc;
use std::time::Instant;

use rayon::join;

pub(crate) use answer::Solved;
pub use answer::{Answer, Timing};
pub use detail::{Detail, Scale};
pub use level::Level;
pub use mark::{Clicks, Frame, Marks};
pub use method::Rival;
pub use observe::{Event, Iterate, Observer};
pub use options::{Bias, MAX_LAYERS, Method, Options, Reach};
pub use output::{Matte, Output, OutputOptions};
pub use overlay::{Overlay, Temperature};
pub use suggest::Suggestion;
pub use temperature::Fit;
pub(crate) use temperature::SLIPS;
pub use warning::Warning;

use crate::assemble::{self, Contrast, Problem, SeedMode, Theta};
use crate::grid::{Partition, Picture, Seeds, Shape, Unary};
use crate::read::{Digest, EvidenceFile, Format, Input, Scene};
use crate::solver::{self, Messages, Solution, Status};
use crate::{Checkpoint, Error, Result, superpixel, unary};
use detail::{Below, Coarse};
use evidence::Evidence;
use level::Base;
use observe::Watch;
use stage::{Keyed, Stage, key};
use warm::Warm;

/// A photo, what is known about it, and everything computed so far.
///
/// ```
/// use lfield::{Options, Picture, Seed, Seeds, Session, Shape};
/// use std::ops::ControlFlow;
///
/// # fn main() -> lfield::Result<()> {
/// let shape = Shape::new(3, 2);
/// let picture = Picture::from_rgb(shape, vec![[9, 9, 9], [9, 9, 9], [250, 250, 250], [9, 9, 9], [9, 9, 9], [250, 250, 250]])?;
/// let mut session = Session::new(picture, Options::default())?;
/// let mut strokes = vec![Seed::Unlabelled; 6];
/// (strokes[0], strokes[2]) = (Seed::Foreground, Seed::Background);
/// session.set_seeds(Seeds::new(shape, strokes.clone()))?;
/// let first = session.solve(&mut |_| ControlFlow::Continue(()))?;
/// strokes[5] = Seed::Background;
/// session.set_seeds(Seeds::new(shape, strokes))?;
/// let second = session.solve(&mut |_| ControlFlow::Continue(()))?;   // starts from the messages of the first
/// assert!(first.mask().as_slice()[3] && !second.mask().as_slice()[5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    picture: Arc<Picture>,
    options: Options,
    /// As drawn.
    strokes: Option<Arc<Seeds>>,
    /// With box and clicks on top.
    seeds: Option<Keyed<Seeds>>,
    costs: Option<Keyed<Unary>>,
    /// Whether the costs are a network's probabilities, which may be wrong about how sure they are.
    is_prior: bool,
    given: Option<Superpixels>,
    origin: Option<Arc<Origin>>,
    superpixels: Stage<Superpixels>,
    evidence: Stage<Evidence>,
    fit: Stage<Fit>,
    problem: Stage<Problem>,
    /// Without the bias; its messages are in `warm`.
    base: Stage<Solution>,
    solved: Stage<Solved>,
    warm: Warm,
    /// The level below, where there is one.
    coarse: Option<Coarse>,
    /// Whether this is the level below of another session.
    is_below: bool,
}

/// Layers of superpixels, each with a name for what it was made from.
#[derive(Clone, Debug, Default)]
struct Superpixels {
    partitions: Arc<Vec<Partition>>,
    names: Vec<Digest>,
}

/// Where a session read from files has its contents from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The files.
    pub input: Input,
    /// The stroke file, the format it was read as, and why that one.
    pub strokes: Option<(std::path::PathBuf, Format, Option<String>)>,
    /// The content hash of every file, by role.
    pub contents: Vec<(&'static str, Digest)>,
    /// What the readers want the user to know.
    pub warnings: Vec<String>,
    /// Seconds of reading.
    pub seconds: f64,
    started: Instant,
}

impl Session {
    /// A session on a photo about which nothing is known yet. Fails on options that make no sense.
    pub fn new(picture: Picture, options: Options) -> Result<Self> {
        let mut session = Self::bare(Arc::new(picture), Options::default());
        session.set_options(options)?;
        Ok(session)
    }

    fn bare(picture: Arc<Picture>, options: Options) -> Self {
        Self {
            picture,
            options,
            strokes: None,
            seeds: None,
            costs: None,
            is_prior: false,
            given: None,
            origin: None,
            superpixels: Stage::default(),
            evidence: Stage::default(),
            fit: Stage::default(),
            problem: Stage::default(),
            base: Stage::default(),
            solved: Stage::default(),
            warm: Warm::default(),
            coarse: None,
            is_below: false,
        }
    }

    /// A session on the files of one photo.
    pub fn read(input: &Input, options: Options, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let started = Instant::now();
        let Scene { picture, strokes, costs, partitions, warnings, contents } =
            input.read(&options.limits, checkpoint)?;
        let mut session = Self::new(picture, options)?;
        let file = strokes.as_ref().map(|strokes| (strokes.path.clone(), strokes.format, strokes.reason.clone()));
        if let Some(strokes) = strokes {
            session.set_seeds(strokes.seeds)?;
        }
        if let Some(costs) = costs {
            match input.evidence {
                Some(EvidenceFile::Prior(_)) => session.set_prior(costs)?,
                _ => session.set_unary(costs)?,
            }
        }
        if !partitions.is_empty() {
            session.set_partitions(partitions)?;
        }
        let (input, seconds) = (input.clone(), started.elapsed().as_secs_f64());
        session.origin = Some(Arc::new(Origin { input, strokes: file, contents, warnings, seconds, started }));
        Ok(session)
    }

    /// The photo.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// The strokes, with box and clicks on top.
    pub fn seeds(&self) -> Option<&Seeds> {
        self.seeds.as_ref().map(|seeds| &*seeds.value)
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The strokes, all of them, in place of those before. Fails when they are of another size than the photo.
    pub fn set_seeds(&mut self, seeds: Seeds) -> Result<()> {
        self.require_shape("the stroke image", seeds.shape())?;
        let marked = self.marked(Some(&seeds), &self.options.marks)?;
        self.strokes = Some(Arc::new(seeds));
        self.seeds = marked;
        Ok(())
    }

    /// Strokes with box and clicks on top, if there are any of these.
    fn marked(&self, strokes: Option<&Seeds>, marks: &Marks) -> Result<Option<Keyed<Seeds>>> {
        let seeds = match strokes {
            None if marks.is_empty() => return Ok(None),
            Some(strokes) if marks.is_empty() => strokes.clone(),
            strokes => marks.on(self.picture.shape(), strokes)?,
        };
        let bytes: Vec<u8> = seeds.labels().iter().map(|&seed| seed as u8).collect();
        Ok(Some(Keyed { key: Digest::of(&bytes), value: Arc::new(seeds) }))
    }

    /// Costs in place of colour mixtures; strokes are then optional and act as seeds only.
    pub fn set_unary(&mut self, unary: Unary) -> Result<()> {
        self.require_shape("the array of costs", unary.shape())?;
        let bytes: Vec<u8> = unary.as_slice().iter().flat_map(|m| m.to_le_bytes()).collect();
        self.costs = Some(Keyed { key: Digest::of(&bytes), value: Arc::new(unary) });
        self.is_prior = false;
        Ok(())
    }

    /// A network's probabilities of foreground as costs log(1 − p) − log p, in place of those before; `Options::prior` says how far to trust them.
    pub fn set_prior(&mut self, costs: Unary) -> Result<()> {
        self.set_unary(costs)?;
        self.is_prior = true;
        Ok(())
    }

    /// Superpixel layers in place of mean shift; none bring mean shift back.
    pub fn set_partitions(&mut self, partitions: Vec<Partition>) -> Result<()> {
        for partition in &partitions {
            self.require_shape("the label map", partition.shape())?;
        }
        options::check_layers(partitions.len())?;
        let name = |partition: &Partition| {
            let bytes: Vec<u8> = partition.labels().iter().flat_map(|label| label.to_le_bytes()).collect();
            Digest::of(&bytes)
        };
        let names = partitions.iter().map(name).collect::<Vec<_>>();
        self.given = (!names.is_empty()).then(|| Superpixels { partitions: Arc::new(partitions), names });
        Ok(())
    }

    /// Other options. Fails on options that make no sense, and keeps the old ones.
    pub fn set_options(&mut self, options: Options) -> Result<()> {
        options.check()?;
        if options.marks != self.options.marks {
            self.seeds = self.marked(self.strokes.as_deref(), &options.marks)?;
        }
        self.options = options;
        Ok(())
    }

    /// Does what needs no strokes, the superpixels, so that the first solve is as quick as the next.
    pub fn prepare(&mut self, observer: Observer<'_>) -> Result<()> {
        self.prepare_below(&Watch::new(observer))
    }

    /// Forgets the messages of the last solve: the next one starts cold.
    pub fn start_cold(&mut self) {
        self.warm = Warm::default();
        self.base = Stage::default();
        self.solved = Stage::default();
        self.coarse = None;
    }

    fn require_shape(&self, what: &str, found: Shape) -> Result<()> {
        match self.picture.shape() {
            photo if photo == found => Ok(()),
            photo => Err(Error::SizeMismatch { what: what.into(), found, photo }),
        }
    }

    /// Solves, as far as anything has changed since the last time. A second solve starts from the messages of the one before; its
    /// answer agrees with that of a fresh session within the certificates.
    pub fn solve(&mut self, observer: Observer<'_>) -> Result<Answer> {
        self.run(&Watch::new(observer), true)
    }

    /// The answer of a session that is not needed any more: its memory is released on the way.
    pub fn into_answer(mut self, observer: Observer<'_>) -> Result<Answer> {
        self.run(&Watch::new(observer), false)
    }

    fn run(&mut self, watch: &Watch<'_>, keep: bool) -> Result<Answer> {
        let mut clock = Clock::start();
        let below = self.solve_below(watch, keep)?;
        let below = below.as_ref();
        let mut timing = below.map_or(Timing::default(), |below| below.answer.timing);
        timing.load = self.origin.as_ref().map_or(0.0, |origin| origin.seconds);
        watch.tell(Event::Begun(self.picture.shape()))?;
        let checkpoint: Checkpoint<'_> = &|| watch.checkpoint();
        let (superpixels, evidence) = join(
            || timed(&mut timing.superpixels, || self.cut_given(below, checkpoint)),
            || timed(&mut timing.unary, || self.weigh_given(below, checkpoint)),
        );
        let (superpixels, evidence) = (superpixels?, evidence?);
        clock.lap();
        let decided = below.and_then(Below::decided);
        let evidence_key = self.evidence_key(decided);
        self.keep_superpixels(&superpixels, decided);
        self.evidence.put(evidence_key, Arc::clone(&evidence));

        let mut model = self.options.model_in_force();
        let fit = match below {
            Some(below) => below.answer.fit,
            None if self.options.fit_temperature => {
                Some(timed(&mut timing.temperature, || self.fitted(&superpixels, checkpoint))?)
            }
            None => None,
        };
        model.temperature = fit.map_or(model.temperature, |fit| fit.temperature);
        model.temperature *= evidence.prior.map_or(1.0, |prior| prior.trust);
        clock.lap();
        let names = layer_names(&model, &superpixels.names);
        let problem_key = key(&(evidence_key, &names, self.facts_key(&model), &model));
        let problem = match self.problem.get(problem_key) {
            Some(problem) => problem,
            None => {
                // The old one makes room for the new.
                self.problem = Stage::default();
                let partitions = &superpixels.partitions;
                let facts = below.and_then(Below::facts).or(self.facts(&model));
                let model = assemble::Options { seeds: SeedMode::Hard, ..model.clone() };
                Arc::new(assemble::model(&self.picture, &evidence.unary, partitions, facts, &model, checkpoint)?)
            }
        };
        let (mixtures, geodesic, prior) = (evidence.mixtures.clone(), evidence.geodesic, evidence.prior);
        drop(evidence);
        if keep {
            self.problem.put(problem_key, Arc::clone(&problem));
        } else {
            self.evidence = Stage::default();
        }
        timing.assemble += clock.lap();
        watch.tell(Event::Assembled(problem.free().len()))?;

        let Options { method, solver, rival, bias, .. } = &self.options;
        let base_key = key(&(problem_key, method, solver, rival));
        let reach = self.options.reach.share(mixtures.is_some(), *bias);
        let solved_key = key(&(base_key, bias, reach, self.options.output.emit.contains(&Output::Path)));
        let solved = match self.solved.get(solved_key) {
            Some(solved) => solved,
            None => {
                let (temperature, is_learned) = (model.temperature, mixtures.is_some());
                let task = Task { problem: &problem, names: &names, temperature, key: base_key, below, is_learned };
                let mut solved = self.solve_problem(&task, watch, keep)?;
                if let Some(below) = below {
                    below.complete(&mut solved, self.facts(&model))?;
                }
                if let (Some(reach), Some(seeds)) = (reach, self.seeds()) {
                    let unreached = unary::unreached(&solved.mask, seeds, reach, checkpoint)?;
                    solved.drop_unreached(&unreached)?;
                }
                let solved = Arc::new(solved);
                if keep {
                    self.solved.put(solved_key, Arc::clone(&solved));
                }
                solved
            }
        };
        watch.tell(Event::Solved)?;
        timing.solve += clock.lap();
        let started = self.origin.as_ref().map_or(clock.started, |origin| origin.started);
        timing.total = started.elapsed().as_secs_f64();
        let scales = detail::scales(below, self.picture.shape(), &solved);
        Ok(Answer {
            warnings: warning::warnings(self.origin.as_deref(), &solved, &scales, &self.options),
            scales,
            picture: Arc::clone(&self.picture),
            seeds: self.seeds.as_ref().map(|seeds| Arc::clone(&seeds.value)),
            origin: self.origin.clone(),
            options: self.options.clone(),
            mixtures,
            geodesic,
            prior,
            reach: reach.filter(|_| self.seeds.is_some()),
            partitions: Arc::clone(&superpixels.partitions),
            has_given_partitions: self.given.is_some(),
            model,
            fit,
            solved,
            timing,
            started,
        })
    }

    fn solve_problem(&mut self, task: &Task<'_>, watch: &Watch<'_>, keep: bool) -> Result<Solved> {
        let checkpoint: Checkpoint<'_> = &|| watch.checkpoint();
        let Task { problem, temperature, .. } = *task;
        if let Some((solution, rival, bias)) = method::solve(problem, temperature, &self.options, checkpoint)? {
            return Solved::new(problem, solution, Some(rival), bias, Vec::new());
        }
        let (solution, messages) = self.base(task, watch, keep)?;
        let base = Base { problem, messages: &messages, options: &self.options.solver, temperature, checkpoint };
        let wants_path = self.options.output.emit.contains(&Output::Path);
        let path = if wants_path { base.path(&solution)? } else { Vec::new() };
        let seeds = self.seeds().filter(|_| task.is_learned && self.options.method == Method::Lfield);
        let fitting = seeds.map(|seeds| {
            let contrast = Contrast::new(&self.picture, Theta::Fixed(problem.theta));
            let s = problem.expand(&solution.s);
            size::bias(&contrast, seeds, |pixel| -temperature * s[pixel])
        });
        // What the level below has decided, it has decided under its bias.
        let fitting = task.below.and_then(Below::fitting).or(fitting);
        let bias = match task.below.and_then(Below::bias).unwrap_or(self.options.bias) {
            Bias::Auto => Bias::Fixed(base.bounded(fitting.unwrap_or(0.0))),
            bias => bias,
        };
        let (solution, bias) = base.biased(solution, bias)?;
        Ok(Solved { fitting, ..Solved::new(problem, solution, None, bias, path)? })
    }

    /// The solution without a bias, and its messages.
    fn base(&mut self, task: &Task<'_>, watch: &Watch<'_>, keep: bool) -> Result<(Solution, Messages)> {
        let checkpoint: Checkpoint<'_> = &|| watch.checkpoint();
        let Task { problem, names, temperature, key, below, .. } = *task;
        let start = self.warm.start(problem, names, temperature);
        if let (Some(solution), Some(messages)) = (self.base.get(key), &start) {
            return Ok(((*solution).clone(), messages.clone()));
        }
        let (model, options) = (&problem.model, &self.options.solver);
        let is_below = self.is_below;
        let mut observe = |progress: &solver::Progress, s: Option<&[f64]>| {
            let told = watch.tell(Event::Sweep(progress)).and_then(|()| match s {
                Some(s) if !is_below => watch.tell(Event::Point(Iterate { problem, s })),
                _ => Ok(()),
            });
            if told.is_ok() { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
        };
        let coarse = self.coarse.as_ref().filter(|_| below.is_some());
        let start = start.or_else(|| coarse?.start(problem, temperature));
        if !keep {
            self.coarse = None;
        }
        let mut solution = solver::solve_until(model, options, start.as_ref(), &mut observe, checkpoint)?;
        if solution.status == Status::Interrupted {
            return Err(Error::Interrupted);
        }
        let messages = solution.messages.take().expect("every solver hands out its messages");
        if keep {
            self.warm.keep(problem, names, temperature, &messages);
            self.base.put(key, Arc::new(solution.clone()));
        }
        Ok((solution, messages))
    }

    /// The superpixels in force, and none where nothing needs them.
    fn cut(&self, checkpoint: Checkpoint<'_>) -> Result<Arc<Superpixels>> {
        if !self.options.needs_superpixels() {
            return Ok(Arc::default());
        }
        if let Some(known) = self.superpixels.get(self.superpixels_key(None)) {
            return Ok(known);
        }
        let superpixels = match &self.given {
            Some(given) => given.clone(),
            None => {
                let layers = &self.options.layers;
                let partitions = Arc::new(superpixel::layers(&self.picture, layers, checkpoint)?);
                // A layer may start from the one before it.
                let names = (1..=layers.len()).map(|count| key(&&layers[..count])).collect();
                Superpixels { partitions, names }
            }
        };
        Ok(Arc::new(superpixels))
    }

    /// Those that nothing needed do not take the place of others. `decided` tells apart what is made for some pixels only.
    fn keep_superpixels(&mut self, superpixels: &Arc<Superpixels>, decided: Option<Digest>) {
        if self.options.needs_superpixels() {
            self.superpixels.put(self.superpixels_key(decided), Arc::clone(superpixels));
        }
    }

    fn superpixels_key(&self, decided: Option<Digest>) -> Digest {
        let given = self.given.as_ref().map(|given| &given.names);
        key(&(given, &self.options.layers, decided))
    }

    fn evidence_key(&self, decided: Option<Digest>) -> Digest {
        let (seeds, costs) = (self.seeds.as_ref().map(|seeds| seeds.key), self.costs.as_ref().map(|costs| costs.key));
        let Options { refit, marks, model, solver, detail, .. } = &self.options;
        let unary = self.unary_options();
        // Learning in rounds solves on the way, the cut alone at temperature 1.
        let model = assemble::Options { gamma: 0.0, temperature: 1.0, ..model.clone() };
        let rounds = (*refit > 0 || marks.frame.is_some()).then_some((refit, marks.frame, model, solver, detail));
        let prior = self.is_prior.then_some(self.options.prior);
        key(&(seeds, costs, unary, prior, rounds, decided))
    }

    /// How strokes become log-odds, with the reach in force.
    fn unary_options(&self) -> unary::Options {
        let reach = self.options.reach.share(true, Bias::Fixed(0.0));
        unary::Options { reach, ..self.options.unary.clone() }
    }

    /// The strokes that are facts.
    fn facts(&self, model: &assemble::Options) -> Option<&Seeds> {
        self.seeds().filter(|_| model.seeds == SeedMode::Hard)
    }

    /// The key of the strokes that are facts.
    fn facts_key(&self, model: &assemble::Options) -> Option<Digest> {
        self.seeds.as_ref().filter(|_| model.seeds == SeedMode::Hard).map(|seeds| seeds.key)
    }
}

/// A problem to be solved.
#[derive(Clone, Copy)]
struct Task<'a> {
    problem: &'a Problem,
    /// Of its layers.
    names: &'a [Digest],
    temperature: f64,
    /// What its solution without a bias is kept under.
    key: Digest,
    /// The level below, where there is one.
    below: Option<&'a Below>,
    /// Whether its costs are learned from strokes.
    is_learned: bool,
}

/// The names of a model's layers in their order: rows and columns of the cut, then the superpixels.
fn layer_names(model: &assemble::Options, superpixels: &[Digest]) -> Vec<Digest> {
    let mut names = Vec::new();
    if model.beta > 0.0 {
        names.extend([key(&"rows"), key(&"columns")]);
    }
    if model.gamma > 0.0 {
        names.extend(superpixels);
    }
    names
}

/// Tells how long each stage took.
struct Clock {
    started: Instant,
    last: Instant,
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Self { started: now, last: now }
    }

    /// Seconds since the last lap.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        seconds
    }
}

/// What a stage makes; how long it takes by itself is added.
fn timed<T>(seconds: &mut f64, stage: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let made = stage();
    *seconds += began.elapsed().as_secs_f64();
    made
}

#[cfg(test)]
mod tests;
