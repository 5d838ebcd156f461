//! The options of a segmentation, in the groups in which the help shows them, and how they become an [`Overlay`].
//!
//! Defaults are the library's: the help reads them there. An option that `--paper` also sets is optional here, so that what
//! is typed wins over `--paper`, and `--paper` over the default.

use std::time::Duration;

use clap::Args;
use lfield::assemble::{HopScale, Phi, Theta};

use lfield::session::{self, Bias, Clicks, Detail, Frame, Matte, Method, Output, Overlay, Reach, Temperature};
use lfield::solver::{Factors, MapChoice, SolverKind};
use lfield::superpixel::Layer;
use lfield::unary::Geodesic;
use lfield::unary::prior::Setting;

use super::parse::{self, Strokes};

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

    #[arg(long, value_name = "T|auto", allow_hyphen_values = true, help = format!(
        "How fast neighbours stop caring as their colours (0-255) differ; `auto` reads it off the photo \
         [default: {}; {} with --paper]",
        model().theta,
        session::Options::default().paper().model.theta
    ))]
    theta: Option<Theta>,

    /// The concave function of a superpixel's foreground share: `quadratic` is z(1-z), `robust:Q` stops growing at Q
    #[arg(long, value_name = "quadratic|robust:Q", default_value_t = Phi::Quadratic)]
    phi: Phi,

    /// Weight of one superpixel: its size, or 1 as printed in the paper [default: size; paper with --paper]
    #[arg(long, value_name = "SCALE", value_enum)]
    hop_scale: Option<HopScale>,

    /// Strokes are facts (hard) or only examples of colour (soft) [default: hard; soft with --paper]. With evaluate --robot
    /// also a number: the most strokes it may add [default: 20]
    #[arg(long, alias = "seeds", value_name = "hard|soft", value_parser = parse::strokes, action = clap::ArgAction::Append)]
    strokes: Vec<Strokes>,

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

    /// What every foreground pixel costs on top of the energy, in nats: above 0 the mask is smaller, below 0 larger, and exactly
    /// the optimum of F + L|A|; `auto` puts the outline where the photo has edges along it
    /// [default: auto; 0 with --paper, --unary, --prior or another --method]
    #[arg(long, value_name = "L|auto", allow_hyphen_values = true, conflicts_with = "area")]
    bias: Option<Bias>,

    /// The bias whose mask is nearest to this share of the photo
    #[arg(long, value_name = "SHARE", value_parser = parse::whole_share)]
    area: Option<f64>,

    #[arg(long, value_name = "N", help = format!(
        "Rounds in which colours are learned again from pixels with a probability beyond 0.95 [default: {}]",
        session::Options::default().refit
    ))]
    refit: Option<usize>,

    #[arg(long, value_name = "R|off", allow_hyphen_values = true, help = format!(
        "Drop parts of the mask that no object stroke reaches without crossing more background than this share of the diagonal; \
         `off` keeps them [default: {}; off with --paper, --unary, --prior or --area]",
        Reach::DEFAULT
    ))]
    reach: Option<Reach>,

    /// Divides the whole energy: above 1 softens all probabilities, below 1 sharpens them; the mask stays. `fit` chooses it
    /// on pieces of the strokes that are held out in turn
    #[arg(long, value_name = "T|fit", allow_hyphen_values = true, default_value_t = Temperature::Fixed(model().temperature))]
    temperature: Temperature,

    /// The model as printed in the paper: soft seeds, no outlier share, no stroke distance, no context, no reach, no bias, --hop-scale paper, --theta 0.001, --layer 7,6.5,1
    /// --layer 10,10,1
    #[arg(long)]
    paper: bool,

    #[arg(long, value_name = "HS,HR,MIN", help = format!(
        "A mean-shift layer: radius in pixels, radius in colour, smallest region; repeat for more [default: {}; smallest region 1 with --paper]",
        layers().join(" and ")
    ))]
    layer: Vec<Layer>,
}

/// A box and clicks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct MarkArgs {
    /// A box with the whole object in it: outside is background. Strokes are then optional
    #[arg(long = "box", value_name = "X,Y,W,H")]
    frame: Option<Frame>,

    /// Clicks on the object, with strokes or instead of them: discs of 1 % of the shorter side
    #[arg(long, value_name = "X,Y[;...]")]
    fg: Option<Clicks>,

    /// Clicks on the background
    #[arg(long, value_name = "X,Y[;...]")]
    bg: Option<Clicks>,
}

impl MarkArgs {
    /// What was said.
    pub(super) fn overlay(&self) -> Overlay {
        Overlay { frame: self.frame, fg: self.fg.clone(), bg: self.bg.clone(), ..Overlay::default() }
    }
}

/// A network's probabilities.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct PriorArgs {
    /// No probability of --prior counts as nearer to 0 or 1; 0 turns it off, `auto` reads it off the photo's colours
    /// [default: auto; 0 with --paper]
    #[arg(long, value_name = "E|auto", allow_hyphen_values = true, value_parser = parse::prior_clip)]
    prior_clip: Option<Setting>,

    /// Divides the logits of --prior: above 1 trusts it less, below 1 more; 1 leaves them, `auto` reads it off the photo's colours and edges
    /// [default: auto; 1 with --paper]
    #[arg(long, value_name = "T|auto", allow_hyphen_values = true, value_parser = parse::prior_temperature)]
    prior_temperature: Option<Setting>,

    /// Weight of the colours of what --prior is sure of, beside it; 0 turns it off [default: auto; 0 with --paper]
    #[arg(long, value_name = "W|auto", allow_hyphen_values = true, value_parser = parse::prior_colour)]
    prior_colour: Option<Setting>,
}

impl PriorArgs {
    /// What was said.
    pub(super) fn overlay(&self) -> Overlay {
        let Self { prior_clip, prior_temperature, prior_colour } = *self;
        Overlay { prior_clip, prior_temperature, prior_colour, ..Overlay::default() }
    }

    /// Whether nothing was said.
    pub(super) fn is_empty(&self) -> bool {
        [self.prior_clip, self.prior_temperature, self.prior_colour].iter().all(Option::is_none)
    }
}

/// The solver.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(super) struct SolverArgs {
    /// Large photos: `auto` segments those above 2 megapixels at about 1 first, then at their own size where that leaves doubt; a number
    /// of megapixels takes the place of that 1; `full` solves for every pixel [default: auto; full with --paper]
    #[arg(long, value_name = "auto|full|MP", allow_hyphen_values = true)]
    detail: Option<Detail>,

    /// How marginals are computed: L-Field with its certificates, or one of its rivals
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = Method::Lfield)]
    method: Method,

    /// Weight of an edge in --method fbp: 1 is plain belief propagation, 0.5 is convex on a grid
    #[arg(long, value_name = "W", value_parser = parse::positive, default_value_t = rival().weight)]
    fbp_weight: f64,

    /// Share of the old message in the new one, for bp and fbp that do not settle
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value_t = rival().damping)]
    damping: f64,

    /// The algorithm
    #[arg(long, value_enum, value_name = "SOLVER", default_value_t = SolverKind::Accelerated)]
    solver: SolverKind,

    /// What passes messages, for messages, douglas-rachford and ep
    #[arg(long, value_enum, value_name = "FACTORS", default_value_t = Factors::Layers)]
    factors: Factors,

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
struct OutputArgs {
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Output::named, help = format!(
        "What to write: all, or any of {}; npy is the four arrays [default: {}]",
        names(&Output::ALL, ", "), names(&Output::DEFAULT, ",")
    ))]
    emit: Vec<Vec<Output>>,

    /// Where several masks are equally good, the smallest or the largest
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = MapChoice::Minimal)]
    map: MapChoice,

    /// Alpha of the cut-out: the mask (hard) or the probability along the border (soft)
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Matte::Hard)]
    matte: Matte,

    /// How many pixels a soft matte reaches to either side of the border, as far as pixels are undecided [default: 2 % of the shorter side]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(0..=1000))]
    matte_width: Option<u16>,

    /// In the trimap, probabilities between this and 1 minus this are undecided
    #[arg(long, value_name = "P", value_parser = parse::band, default_value_t = output().trimap_band)]
    trimap_band: f64,
}

impl ModelArgs {
    /// Whether the printed model was asked for.
    pub(super) fn paper(&self) -> bool {
        self.paper
    }

    /// The most strokes a robot may add, if that was said.
    pub(super) fn most_strokes(&self) -> Option<usize> {
        self.strokes.iter().rev().find_map(Strokes::most)
    }

    /// What was said, with the seed and the limit that other groups hold.
    pub(super) fn overlay(&self, max_pixels: u64, seed: u64) -> Overlay {
        Overlay {
            paper: Some(self.paper),
            alpha: Some(self.alpha),
            beta: Some(self.beta),
            gamma: Some(self.gamma),
            theta: self.theta,
            phi: Some(self.phi),
            hop_scale: self.hop_scale,
            strokes: self.strokes.iter().rev().find_map(Strokes::mode),
            components: Some(usize::from(self.components)),
            outlier: self.outlier,
            geodesic: self.geodesic,
            context: self.context,
            bias: self.bias,
            area: self.area,
            reach: self.reach,
            refit: self.refit,
            temperature: Some(self.temperature),
            layer: Some(self.layer.clone()),
            max_pixels: Some(max_pixels),
            seed: Some(seed),
            ..Overlay::default()
        }
    }
}

/// Everything that `segment` and `batch` have in common.
#[derive(Clone, Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,

    #[command(flatten)]
    pub(super) solver: SolverArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl RunArgs {
    /// Whether outputs were chosen.
    pub(super) fn has_emit(&self) -> bool {
        !self.output.emit.is_empty()
    }

    /// What was said. `has_costs` says that a file takes the place of the mixtures.
    pub(super) fn overlay(&self, max_pixels: u64, seed: u64, has_costs: bool) -> Result<Overlay, clap::Error> {
        let Self { model, solver, output } = self;
        if has_costs && model.geodesic == Some(Geodesic::Auto) {
            return Err(super::usage(
                "--geodesic auto reads the colours of the strokes, which --unary and --prior replace: give a number",
            ));
        }
        if model.most_strokes().is_some() {
            return Err(super::usage("--strokes is hard or soft here; a number is for the robot of evaluate"));
        }
        let is_certified = solver.method.is_certified();
        if !is_certified && solver.strict {
            return Err(super::usage("--strict asks for a certificate, which only --method lfield and unary can give"));
        }
        if !is_certified && model.temperature == Temperature::Fit {
            return Err(super::usage(
                "--temperature fit scales a finished solution, which only --method lfield and unary allow: give a number",
            ));
        }
        if !is_certified && model.area.is_some() {
            return Err(super::usage(
                "--area chooses among the optimal masks of all sizes, which only --method lfield and unary have: give a --bias",
            ));
        }
        refuse_many_layers(model.layer.len())?;
        Ok(Overlay {
            detail: solver.detail,
            method: Some(solver.method),
            fbp_weight: Some(solver.fbp_weight),
            damping: Some(solver.damping),
            solver: Some(solver.solver),
            factors: Some(solver.factors),
            tolerance: Some(solver.tolerance),
            max_iterations: solver.max_iterations,
            time_limit: solver.time_limit,
            emit: Some(output.emit.iter().flatten().copied().collect()),
            map: Some(output.map),
            matte: Some(output.matte),
            matte_width: output.matte_width.map(usize::from),
            trimap_band: Some(output.trimap_band),
            has_costs,
            ..model.overlay(max_pixels, seed)
        })
    }
}

/// More layers than anyone needs are a mistake in a script.
pub(super) fn refuse_many_layers(n_layers: usize) -> Result<(), clap::Error> {
    match n_layers {
        ..=session::MAX_LAYERS => Ok(()),
        n => Err(super::usage(&format!("{n} layers of superpixels: give at most {}", session::MAX_LAYERS))),
    }
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
