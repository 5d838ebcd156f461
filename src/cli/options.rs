//! The options of a segmentation, in the groups in which the help shows them, and how they become [`session::Options`].
//!
//! Defaults are the library's: the help reads them there. An option that `--paper` also sets is optional here, so that what
//! is typed wins over `--paper`, and `--paper` over the default.

use std::time::Duration;

use clap::{Args, ValueEnum};
use lfield::assemble::{HopScale, Phi, SeedMode, Theta};
use lfield::encode::{Matte, Output};
use lfield::read::Format;
use lfield::session::{self, Method};
use lfield::solver::{Factors, MapChoice, SolverKind};
use lfield::superpixel::Layer;
use lfield::unary::Geodesic;

use super::parse::{self, Emit, Temperature};

/// The model.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// Weight of what each pixel's colour and place say
    #[arg(long, value_name = "A", allow_hyphen_values = true, value_parser = parse::weight, default_value_t = model().alpha)]
    alpha: f64,

    /// Weight of the cut: how much neighbours want to agree. Larger means smoother outlines
    #[arg(long, value_name = "B", allow_hyphen_values = true, value_parser = parse::weight, default_value_t = model().beta)]
    beta: f64,

    /// Weight of the superpixels: how much each wants to be all in or all out. 0 skips them
    #[arg(long, value_name = "G", allow_hyphen_values = true, value_parser = parse::weight, default_value_t = model().gamma)]
    gamma: f64,

    #[arg(long, value_name = "T|auto", allow_hyphen_values = true, value_parser = parse::theta, help = format!(
        "How fast neighbours stop caring as their colours (0-255) differ; `auto` reads it off the photo \
         [default: {}; {} with --paper]",
        model().theta,
        session::Options::default().paper().model.theta
    ))]
    theta: Option<Theta>,

    /// The concave function of a superpixel's foreground share: `quadratic` is z(1-z), `robust:Q` stops growing at Q
    #[arg(long, value_name = "quadratic|robust:Q", value_parser = parse::phi, default_value = "quadratic")]
    phi: Phi,

    /// Weight of one superpixel: its size, or 1 as printed in the paper [default: size; paper with --paper]
    #[arg(long, value_name = "SCALE", value_enum)]
    hop_scale: Option<HopScaleName>,

    /// Strokes are facts (hard) or only examples of colour (soft) [default: hard; soft with --paper]
    #[arg(long, value_name = "KIND", value_enum)]
    seeds: Option<SeedsName>,

    /// Gaussians per colour mixture; fewer where a stroke has fewer colours
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=64), default_value_t = components())]
    components: u16,

    #[arg(long, value_name = "SHARE", value_parser = parse::share, help = format!(
        "Share of a uniform colour in both mixtures, which bounds the log-odds; 0 turns it off [default: {}; 0 with --paper]",
        unary().outlier
    ))]
    outlier: Option<f64>,

    #[arg(long, value_name = "K|auto", allow_hyphen_values = true, help = format!(
        "Weight of how near the strokes are; 0 turns it off, `auto` reads it off the strokes \
         [default: {}; 0 with --paper, --unary or --prior]",
        unary().geodesic
    ))]
    geodesic: Option<Geodesic>,

    #[arg(long, value_name = "C", allow_hyphen_values = true, value_parser = parse::weight, help = format!(
        "Weight of what neighbours of a like colour say, by strokes and colours alone, each of two times; 0 turns it off \
         [default: {}; 0 with --paper; not used with --unary or --prior]",
        unary().context
    ))]
    context: Option<f64>,

    /// Divides the whole energy: above 1 softens all probabilities, below 1 sharpens them; the mask stays. `fit` chooses it
    /// on pieces of the strokes that are held out in turn
    #[arg(long, value_name = "T|fit", allow_hyphen_values = true, value_parser = parse::temperature, default_value_t = Temperature::Fixed(model().temperature))]
    temperature: Temperature,

    /// The model as printed in the paper: soft seeds, no outlier share, no stroke distance, no context, --hop-scale paper, --theta 0.001
    #[arg(long)]
    paper: bool,

    #[arg(long, value_name = "HS,HR,MIN", help = format!(
        "A mean-shift layer: radius in pixels, radius in colour, smallest region; repeat for more [default: {}]",
        layers().join(" and ")
    ))]
    layer: Vec<Layer>,
}

/// The solver.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(super) struct SolverArgs {
    /// How marginals are computed: L-Field with its certificates, or one of its rivals
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodName::Lfield)]
    method: MethodName,

    /// Weight of an edge in --method fbp: 1 is plain belief propagation, 0.5 is convex on a grid
    #[arg(long, value_name = "W", value_parser = parse::positive, default_value_t = rival().weight)]
    fbp_weight: f64,

    /// Share of the old message in the new one, for bp and fbp that do not settle
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value_t = rival().damping)]
    damping: f64,

    /// The algorithm
    #[arg(long, value_enum, value_name = "SOLVER", default_value_t = SolverName::Accelerated)]
    solver: SolverName,

    /// What passes messages, for messages, douglas-rachford and ep
    #[arg(long, value_enum, value_name = "FACTORS", default_value_t = FactorsName::Layers)]
    factors: FactorsName,

    /// Stop at this certified gap per pixel; 1e-5 is about 0.001 in a probability. For rivals: when no probability moves further
    #[arg(long, value_name = "GAP", allow_hyphen_values = true, value_parser = parse::positive, default_value_t = solver().tolerance)]
    tolerance: f64,

    #[arg(long, value_name = "N", help = format!(
        "Stop after this many sweeps [default: {}; {} for mean-field, bp and fbp]",
        solver().max_iterations, rival().max_iterations
    ))]
    max_iterations: Option<usize>,

    /// Stop solving after this many seconds, with the best result so far
    #[arg(long, value_name = "SECONDS", value_parser = parse::seconds)]
    time_limit: Option<Duration>,

    /// Exit with code 4 when the solver stops before the tolerance is reached
    #[arg(long)]
    strict: bool,
}

impl SolverArgs {
    /// Whether not converging is a failure.
    pub(super) fn strict(&self) -> bool {
        self.strict
    }
}

/// What is written.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse::emit, help = format!(
        "What to write: all, or any of {}; npy is both arrays [default: {}]",
        names(&Output::ALL, ", "), names(&Output::DEFAULT, ",")
    ))]
    emit: Vec<Emit>,

    /// Where several masks are equally good, the smallest or the largest
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = MapName::Minimal)]
    map: MapName,

    /// Alpha of the cut-out: the mask (hard) or the probability (soft)
    #[arg(long, value_enum, value_name = "KIND", default_value_t = MatteName::Hard)]
    matte: MatteName,

    /// In the trimap, probabilities between this and 1 minus this are undecided
    #[arg(long, value_name = "P", value_parser = parse::band, default_value_t = output().trimap_band)]
    trimap_band: f64,
}

/// Everything together. `from_file` says that a file takes the place of the mixtures.
pub(super) fn options(
    model: &ModelArgs,
    solver: &SolverArgs,
    output: &OutputArgs,
    max_pixels: u64,
    seed: u64,
    from_file: bool,
) -> Result<session::Options, clap::Error> {
    if from_file && model.geodesic == Some(Geodesic::Auto) {
        return Err(super::usage(
            "--geodesic auto reads the colours of the strokes, which --unary and --prior replace: give a number",
        ));
    }
    let method = match solver.method {
        MethodName::Lfield => Method::Lfield,
        MethodName::Unary => Method::Unary,
        MethodName::MeanField => Method::MeanField,
        MethodName::Bp => Method::Bp,
        MethodName::Fbp => Method::Fbp,
    };
    if !method.is_certified() && solver.strict {
        return Err(super::usage("--strict asks for a certificate, which only --method lfield and unary can give"));
    }
    if !method.is_certified() && model.temperature == Temperature::Fit {
        return Err(super::usage(
            "--temperature fit scales a finished solution, which only --method lfield and unary allow: give a number",
        ));
    }
    refuse_many_layers(model.layer.len())?;
    let mut options = model_options(model, max_pixels, seed, from_file);
    options.method = method;
    options.rival.weight = solver.fbp_weight;
    options.rival.damping = solver.damping;
    options.rival.tolerance = solver.tolerance;
    options.rival.max_iterations = solver.max_iterations.unwrap_or(options.rival.max_iterations);
    options.rival.time_limit = solver.time_limit;
    options.strict = solver.strict;
    options.solver.solver = match solver.solver {
        SolverName::Accelerated => SolverKind::Accelerated,
        SolverName::Messages => SolverKind::Messages,
        SolverName::DouglasRachford => SolverKind::DouglasRachford,
        SolverName::Ep => SolverKind::Ep,
        SolverName::FrankWolfe => SolverKind::FrankWolfe,
        SolverName::MinNorm => SolverKind::MinNorm,
        SolverName::DivideConquer => SolverKind::DivideConquer,
    };
    options.solver.factors = match solver.factors {
        FactorsName::Layers => Factors::Layers,
        FactorsName::Edges => Factors::Edges,
    };
    options.solver.tolerance = solver.tolerance;
    options.solver.max_iterations = solver.max_iterations.unwrap_or(options.solver.max_iterations);
    options.solver.time_limit = solver.time_limit;
    options.solver.map = match output.map {
        MapName::Minimal => MapChoice::Minimal,
        MapName::Maximal => MapChoice::Maximal,
    };
    let wanted = |name: &Output| output.emit.iter().any(|Emit(outputs)| outputs.contains(name));
    if !output.emit.is_empty() {
        options.output.emit = Output::ALL.into_iter().filter(wanted).collect();
    }
    options.output.matte = match output.matte {
        MatteName::Hard => Matte::Hard,
        MatteName::Soft => Matte::Soft,
    };
    options.output.trimap_band = output.trimap_band;
    Ok(options)
}

/// More layers than anyone needs are a mistake in a script.
pub(super) fn refuse_many_layers(n_layers: usize) -> Result<(), clap::Error> {
    match n_layers {
        ..=session::MAX_LAYERS => Ok(()),
        n => Err(super::usage(&format!("{n} layers of superpixels: give at most {}", session::MAX_LAYERS))),
    }
}

/// The part of the options that evidence and model make up.
pub(super) fn model_options(model: &ModelArgs, max_pixels: u64, seed: u64, from_file: bool) -> session::Options {
    let defaults = session::Options::default();
    let mut options = if model.paper { defaults.paper() } else { defaults };
    options.limits.max_pixels = max_pixels;
    options.unary.components = usize::from(model.components);
    options.unary.outlier = model.outlier.unwrap_or(options.unary.outlier);
    let untyped = if from_file { Geodesic::Fixed(0.0) } else { options.unary.geodesic };
    options.unary.geodesic = model.geodesic.unwrap_or(untyped);
    options.unary.context = model.context.unwrap_or(options.unary.context);
    options.unary.seed = seed;
    if !model.layer.is_empty() {
        options.layers.clone_from(&model.layer);
    }
    options.model.alpha = model.alpha;
    options.model.beta = model.beta;
    options.model.gamma = model.gamma;
    options.model.theta = model.theta.unwrap_or(options.model.theta);
    options.model.phi = model.phi;
    match model.temperature {
        Temperature::Fixed(temperature) => options.model.temperature = temperature,
        Temperature::Fit => options.fit_temperature = true,
    }
    if let Some(scale) = model.hop_scale {
        options.model.hop_scale = match scale {
            HopScaleName::Size => HopScale::Size,
            HopScaleName::Paper => HopScale::Paper,
        };
    }
    if let Some(seeds) = model.seeds {
        options.model.seeds = match seeds {
            SeedsName::Hard => SeedMode::Hard,
            SeedsName::Soft => SeedMode::Soft,
        };
    }
    options
}

/// Stroke encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// Whatever the file leaves no doubt about
    Auto,
    /// Grey: 255 foreground, 128 background, 0 unlabelled
    Labels,
    /// Grey: 255 foreground, 0 background, anything else unknown
    Trimap,
    /// OpenCV's codes 0 to 3
    Grabcut,
    /// Red foreground, blue background
    Redblue,
    /// An indexed PNG: index 1 foreground, 2 background
    Palette,
    /// Red and blue painted on a copy of the photo
    Diff,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Auto => Self::Auto,
            FormatName::Labels => Self::Labels,
            FormatName::Trimap => Self::Trimap,
            FormatName::Grabcut => Self::Grabcut,
            FormatName::Redblue => Self::Redblue,
            FormatName::Palette => Self::Palette,
            FormatName::Diff => Self::Diff,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HopScaleName {
    Size,
    Paper,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SeedsName {
    Hard,
    Soft,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodName {
    /// The whole model, certified
    Lfield,
    /// Each pixel alone
    Unary,
    /// Mean field on the whole model: a lower bound of log Z, nothing certified
    MeanField,
    /// Belief propagation on the cut, without superpixels
    Bp,
    /// Fractional belief propagation on the cut, without superpixels
    Fbp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SolverName {
    /// Alternating projections with momentum: fast on every model
    Accelerated,
    /// The paper's parallel message passing
    Messages,
    /// Douglas-Rachford splitting
    DouglasRachford,
    /// One factor at a time
    Ep,
    /// Greedy vertices, with line search and pairwise steps
    FrankWolfe,
    /// Fujishige and Wolfe's exact method, for at most 2000 free pixels
    MinNorm,
    /// Repeated minimum cuts: exact, for models that are graphs
    DivideConquer,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FactorsName {
    /// Whole rows, columns and superpixels
    Layers,
    /// The paper's own graph: single edges and superpixels
    Edges,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MapName {
    Minimal,
    Maximal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MatteName {
    Hard,
    Soft,
}

fn model() -> lfield::assemble::Options {
    lfield::assemble::Options::default()
}

fn unary() -> lfield::unary::Options {
    lfield::unary::Options::default()
}

fn solver() -> lfield::solver::Options {
    lfield::solver::Options::default()
}

fn rival() -> lfield::rival::Options {
    lfield::rival::Options::default()
}

fn output() -> session::OutputOptions {
    session::OutputOptions::default()
}

fn layers() -> Vec<String> {
    session::Options::default().layers.iter().map(ToString::to_string).collect()
}

fn components() -> u16 {
    u16::try_from(unary().components).expect("a handful")
}

fn names(outputs: &[Output], separator: &str) -> String {
    outputs.iter().map(|output| output.name()).collect::<Vec<_>>().join(separator)
}
