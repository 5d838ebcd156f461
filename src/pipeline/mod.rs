//! The stages in order: read, weigh the colours beside cutting superpixels, assemble, solve; then render and write.
//!
//! [`segment`] tells the story; [`Segmentation::write`] ends it. Each stage takes what the one before made, and keeps its options
//! in its own module; [`Options`] nests them.

mod fingerprint;
pub mod memory;
mod rival;
mod scene;
mod temperature;
#[cfg(test)]
mod tests;
mod watch;
mod write;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use rayon::join;
use rayon::prelude::*;

pub use rival::Rival;
use scene::Evidence;
pub use scene::Scene;
pub use temperature::Fit;
pub(crate) use temperature::fit as fit_temperature;
pub use watch::Observer;
use watch::Watch;
pub use write::{Written, output_names};

use crate::annotation::Format;
use crate::assemble;
use crate::baseline;
use crate::field::{Marginals, Mask, Partition};
use crate::input::Limits;
use crate::render::report::Timing;
use crate::render::{Matte, Output, marginals_beside};
use crate::solver::{self, Progress, Solution};
use crate::superpixel::{self, Layer};
use crate::unary::{self, Mixtures};
use crate::{Checkpoint, Result};

/// The files a run starts from.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The photo.
    pub image: PathBuf,
    /// The strokes; looked for beside the photo when not named.
    pub scribbles: Option<PathBuf>,
    /// How the strokes are encoded.
    pub format: Format,
    /// What is known about each pixel without colour mixtures, if anything is.
    pub evidence: Option<EvidenceFile>,
    /// Label maps that replace mean shift, one per layer.
    pub superpixels: Vec<PathBuf>,
}

/// A file that replaces the colour mixtures.
#[derive(Clone, Debug)]
pub enum EvidenceFile {
    /// Costs m in nats.
    Unary(PathBuf),
    /// Probabilities of foreground.
    Prior(PathBuf),
}

/// The most superpixel layers of a model: each costs memory and time in every sweep.
pub const MAX_LAYERS: usize = 8;

/// The options of every stage.
#[derive(Clone, Debug)]
pub struct Options {
    /// What reading may cost.
    pub limits: Limits,
    /// Strokes to log-odds. With an [`EvidenceFile`] only a fixed stroke-distance weight counts.
    pub unary: unary::Options,
    /// The mean-shift layers.
    pub layers: Vec<Layer>,
    /// How marginals are computed.
    pub method: Method,
    /// The weights of the terms.
    pub model: assemble::Options,
    /// Whether the temperature is chosen on held-out strokes; `model.temperature` then does not count.
    pub fit_temperature: bool,
    /// When to stop, and how to get there.
    pub solver: solver::Options,
    /// The same for the rivals.
    pub rival: baseline::Options,
    /// Whether the user takes not converging for a failure; recorded in the report, acted on by the program.
    pub strict: bool,
    /// Whether the model is the printed one; set by [`Options::paper`], recorded in the report.
    pub paper: bool,
    /// What is written.
    pub output: OutputOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            unary: unary::Options::default(),
            layers: vec![Layer::FINE, Layer::COARSE],
            method: Method::Lfield,
            model: assemble::Options::default(),
            fit_temperature: false,
            solver: solver::Options::default(),
            rival: baseline::Options::default(),
            strict: false,
            paper: false,
            output: OutputOptions::default(),
        }
    }
}

impl Options {
    /// The printed model and nothing else: soft seeds, no outlier share, no stroke distance, no context, superpixels of weight 1;
    /// and a θ of the paper's list.
    pub fn paper(mut self) -> Self {
        self.paper = true;
        self.unary.outlier = 0.0;
        self.unary.geodesic = unary::Geodesic::Fixed(0.0);
        self.unary.context = 0.0;
        self.model.seeds = assemble::SeedMode::Soft;
        self.model.hop_scale = assemble::HopScale::Paper;
        self.model.theta = assemble::Theta::Fixed(0.001);
        self
    }

    /// The weights in force: without the couplings that the method does not look at.
    fn model_in_force(&self) -> assemble::Options {
        let model = self.model.clone();
        match self.method {
            Method::Lfield | Method::MeanField => model,
            Method::Bp | Method::Fbp => assemble::Options { gamma: 0.0, ..model },
            Method::Unary => assemble::Options { beta: 0.0, gamma: 0.0, ..model },
        }
    }

    fn needs_superpixels(&self) -> bool {
        self.model_in_force().gamma > 0.0 || self.output.emit.contains(&Output::Superpixels)
    }
}

/// How marginals are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// L-Field variational inference on the whole model.
    Lfield,
    /// Every pixel alone: no cut, no superpixels.
    Unary,
    /// Mean field on the whole model.
    MeanField,
    /// Belief propagation on the cut, without superpixels.
    Bp,
    /// Fractional belief propagation on the cut, without superpixels.
    Fbp,
}

impl Method {
    /// The name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lfield => "lfield",
            Self::Unary => "unary",
            Self::MeanField => "mean-field",
            Self::Bp => "bp",
            Self::Fbp => "fbp",
        }
    }

    /// Whether its answer carries a certificate.
    pub fn is_certified(self) -> bool {
        matches!(self, Self::Lfield | Self::Unary)
    }

    /// Whether it passes messages over single edges and has no rule for superpixels.
    pub fn is_cut_only(self) -> bool {
        matches!(self, Self::Bp | Self::Fbp)
    }
}

/// What is written.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// The outputs wanted.
    pub emit: Vec<Output>,
    /// Alpha of the cut-out.
    pub matte: Matte,
    /// Probabilities in \[band, 1 − band\] are undecided in the trimap; in 0..½.
    pub trimap_band: f64,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self { emit: Output::DEFAULT.to_vec(), matte: Matte::Hard, trimap_band: 0.05 }
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Reading is done; weighing colours and cutting superpixels begins.
    Read(&'a Scene),
    /// The model stands and has this many free pixels; solving begins.
    Assembled(usize),
    /// Some sweeps are done.
    Sweep(&'a Progress),
    /// Still at work on the same; comes every few milliseconds, from any thread.
    Working,
    /// The solve has ended.
    Solved,
}

/// Everything a run has found.
#[derive(Clone, Debug)]
pub struct Segmentation {
    /// What was read.
    pub scene: Scene,
    /// The colour models, when there are any.
    pub mixtures: Option<Mixtures>,
    /// κ in force, when there are strokes to measure from.
    pub geodesic: f64,
    /// The superpixel layers.
    pub partitions: Vec<Partition>,
    /// The weights in force.
    pub model: assemble::Options,
    /// θ in force, also when it was chosen automatically.
    pub theta: f64,
    /// Pixels that no hard stroke decides.
    pub n_free: usize,
    /// Layers of factors in the model.
    pub n_layers: usize,
    /// s for every pixel.
    pub s: Vec<f64>,
    /// μ = 1/(1+eˢ).
    pub marginals: Marginals,
    /// The MAP set.
    pub mask: Mask,
    /// For every pixel, whether its side of one half is proved.
    pub certified: Vec<bool>,
    /// How the solve went, on the free pixels.
    pub solution: Solution,
    /// What a rival adds, if one took the solver's place.
    pub rival: Option<Rival>,
    /// How the temperature was chosen, if on held-out strokes.
    pub fit: Option<Fit>,
    /// Seconds per stage; `write` and `total` are filled in by [`Segmentation::write`].
    pub timing: Timing,
    started: Instant,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Segments one photo. `observe` hears how far it is; when it breaks, the answer is [`Error::Interrupted`].
pub fn segment(input: &Input, options: &Options, observe: Observer<'_>) -> Result<Segmentation> {
    let watch = Watch::new(observe);
    segment_until(input, options, &|event| watch.tell(event), &|| watch.check())
}

/// Segments one photo as long as neither `tell` nor the checkpoint fails.
fn segment_until(
    input: &Input,
    options: &Options,
    tell: &(dyn Fn(Event<'_>) -> Result<()> + Sync),
    checkpoint: Checkpoint<'_>,
) -> Result<Segmentation> {
    let mut clock = Clock::start();
    let mut timing = Timing::default();
    let scene = Scene::read(input, options, checkpoint)?;
    timing.load = clock.lap();
    tell(Event::Read(&scene))?;
    let (partitions, evidence) = join(
        || timed(|| cut_superpixels(&scene, options, checkpoint)),
        || timed(|| scene.weigh(scene.seeds(), &options.unary, checkpoint)),
    );
    let (partitions, evidence) = (partitions.store(&mut timing.superpixels)?, evidence.store(&mut timing.unary)?);
    clock.lap();
    let mut model = options.model_in_force();
    let fit = match options.fit_temperature {
        true => {
            let fit = timed(|| temperature::fit(&scene, &partitions, options, checkpoint));
            Some(fit.store(&mut timing.temperature)?)
        }
        false => None,
    };
    model.temperature = fit.map_or(model.temperature, |fit| fit.temperature);
    clock.lap();
    let Evidence { unary, mixtures, geodesic } = evidence;
    let problem = assemble::model(&scene.picture, &unary, &partitions, scene.seeds(), &model, checkpoint)?;
    drop(unary);
    timing.assemble = clock.lap();
    tell(Event::Assembled(problem.free().len()))?;
    let (solution, rival) = match rival::solve(&problem.model, options, checkpoint)? {
        Some((solution, rival)) => (solution, Some(rival)),
        None => {
            let mut interrupted = Ok(());
            let mut observe = |progress: &Progress| {
                interrupted = tell(Event::Sweep(progress));
                if interrupted.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let solution = solver::solve_until(&problem.model, &options.solver, None, &mut observe, checkpoint)?;
            interrupted?;
            (solution, None)
        }
    };
    tell(Event::Solved)?;
    let (s, mask) = (problem.expand(&solution.s), problem.expand_set(&solution.set));
    let marginals = marginals_beside(&mask, &s)?;
    let certified = certified(&problem, &solution);
    timing.solve = clock.lap();
    Ok(Segmentation {
        warnings: warnings(&scene, &solution, rival, &mask, options),
        scene,
        mixtures,
        geodesic,
        partitions,
        model,
        theta: problem.theta,
        n_free: problem.free().len(),
        n_layers: problem.model.layers().len(),
        s,
        marginals,
        mask,
        certified,
        solution,
        rival,
        fit,
        timing,
        started: clock.started,
    })
}

/// For every pixel, whether its side of one half is proved; strokes are beyond doubt.
fn certified(problem: &assemble::Problem, solution: &Solution) -> Vec<bool> {
    let mut certified = vec![true; problem.shape().n_pixels()];
    for (&pixel, &proved) in problem.free().iter().zip(&solution.certificate.certified) {
        certified[pixel as usize] = proved;
    }
    certified
}

fn warnings(scene: &Scene, solution: &Solution, rival: Option<Rival>, mask: &Mask, options: &Options) -> Vec<String> {
    let mut warnings = scene.warnings.clone();
    if let Some(rival) = rival {
        warnings.extend(rival::warnings(rival, solution, options));
    } else if solution.status != solver::Status::Converged {
        warnings.push(format!(
            "the solver stopped at a gap of {:.1e} per pixel, above the tolerance of {:.1e}: allow more --max-iterations or a \
             longer --time-limit, or accept a larger --tolerance",
            solution.certificate.gap_per_pixel, options.solver.tolerance
        ));
    }
    match mask.area() {
        0 => warnings.push("the mask is empty: mark more of the object, or lower --beta and --gamma".to_string()),
        area if area == scene.picture.shape().n_pixels() => {
            warnings.push(
                "the mask covers the whole photo: mark more of the background, or lower --beta and --gamma".to_string(),
            );
        }
        _ => {}
    }
    warnings
}

fn cut_superpixels(scene: &Scene, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Vec<Partition>> {
    if !options.needs_superpixels() {
        return Ok(Vec::new());
    }
    match &scene.partitions[..] {
        [] => {
            let cut = |layer| superpixel::mean_shift(&scene.picture, layer, checkpoint);
            options.layers.par_iter().map(cut).collect()
        }
        given => Ok(given.to_vec()),
    }
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

/// What a stage that runs beside another made, and how long it took by itself.
struct Timed<T> {
    result: T,
    seconds: f64,
}

impl<T> Timed<T> {
    fn store(self, seconds: &mut f64) -> T {
        *seconds = self.seconds;
        self.result
    }
}

fn timed<T>(stage: impl FnOnce() -> T) -> Timed<T> {
    let mut clock = Clock::start();
    let result = stage();
    Timed { result, seconds: clock.lap() }
}
