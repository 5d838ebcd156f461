//! `STEM.report.json`: everything known about an answer, in one JSON object with `"schema": "lfield.report/1"`.
//!
//! The field names are a promise to scripts. Numbers are finite or null (JSON has no infinity). Apart from `timing` and
//! `solve.seconds` the report is the same at any number of threads and from run to run.

mod make;

use serde::{Deserialize, Serialize};

use crate::read::Digest;
pub use crate::session::{Suggestion, Timing};

/// Version of the format.
pub const SCHEMA: &str = "lfield.report/1";

/// The whole report.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use lfield::{Picture, Seed, Seeds, Session, Shape};
/// # let shape = Shape::new(2, 1);
/// # let mut session = Session::new(Picture::from_rgb(shape, vec![[200, 40, 30], [30, 40, 210]])?, lfield::Options::default())?;
/// # session.set_seeds(Seeds::new(shape, vec![Seed::Foreground, Seed::Background]))?;
/// # let answer = session.solve(&mut |_| std::ops::ControlFlow::Continue(()))?;
/// let report = answer.report();
/// let again = lfield::Report::from_json(&report.to_json())?;
/// assert_eq!(report.to_json(), again.to_json());
/// assert_eq!(again.schema, "lfield.report/1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// What wrote it.
    pub tool: Tool,
    /// The cache key: a hash of everything that decides the result. Null for an answer that did not come from files.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub fingerprint: Option<Digest>,
    /// What was read.
    pub input: Input,
    /// Pixels under strokes.
    pub scribbles: Scribbles,
    /// Every option in force.
    pub parameters: Parameters,
    /// The colour mixtures; null when `--unary` or `--prior` took their place.
    pub mixtures: Option<Mixtures>,
    /// One entry per superpixel layer.
    pub superpixels: Vec<Layer>,
    /// Size of the model.
    pub model: Model,
    /// The sizes at which the photo was solved; the certificate is that of the last, given what those before it decided.
    pub detail: Detail,
    /// How the solve ended.
    pub solve: Solve,
    /// Bounds on the partition function.
    pub bounds: Bounds,
    /// What a rival says, where one took the solver's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Rival>,
    /// How the temperature was chosen, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// The mask, as a minimiser of the energy.
    pub map: Map,
    /// The probabilities in summary.
    pub marginals: Marginals,
    /// Where the next stroke would help most; null where nothing is in doubt.
    #[serde(default)]
    pub suggestion: Option<Suggestion>,
    /// Seconds per stage.
    pub timing: Timing,
    /// Names of the files written beside the report, itself included.
    pub outputs: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Report {
    /// Reads a report back.
    pub fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }

    /// The report as indented JSON with a final newline.
    pub fn to_json(&self) -> Vec<u8> {
        crate::encode::json(self)
    }
}

/// Name and version of the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tool {
    /// `lfield`.
    pub name: String,
    /// The package's version.
    pub version: String,
}

impl Tool {
    /// This program.
    pub fn this() -> Self {
        Self { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// The input files, as they were named.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Input {
    /// The photo, if it came from a file.
    pub image: Option<String>,
    /// The strokes, if any.
    pub scribbles: Option<String>,
    /// How the strokes were read.
    pub format: Option<String>,
    /// Width in pixels, upright.
    pub width: usize,
    /// Height in pixels, upright.
    pub height: usize,
}

/// Number of pixels under strokes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scribbles {
    /// Pixels marked foreground.
    pub foreground: usize,
    /// Pixels marked background.
    pub background: usize,
}

/// Every option that has a say in the result, as it was in force.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Whether `--paper` was given.
    pub paper: bool,
    /// `auto`, `full`, or the megapixels of the smallest level.
    pub detail: String,
    /// How the marginals were computed.
    pub method: String,
    /// Weight of the modular term.
    pub alpha: f64,
    /// Weight of the cut.
    pub beta: f64,
    /// Weight of the superpixels.
    pub gamma: f64,
    /// Contrast of the cut, as used (a number also with `auto`).
    pub theta: f64,
    /// The concave function of a superpixel.
    pub phi: String,
    /// Whether a superpixel weighs its size or 1.
    pub hop_scale: String,
    /// `hard` or `soft`.
    pub seeds: String,
    /// What every foreground pixel costs on top of the energy, as used (a number also with `--area`).
    #[serde(default)]
    pub bias: f64,
    /// The share of the photo that the mask was to cover; null when nothing was asked.
    #[serde(default)]
    pub area: Option<f64>,
    /// Share of the diagonal beyond which what no object stroke reaches is dropped; null when it is not.
    #[serde(default)]
    pub reach: Option<f64>,
    /// Rounds of learning colours again from the answer.
    #[serde(default)]
    pub refit: usize,
    /// The box around the object, `X,Y,W,H`.
    #[serde(default, rename = "box")]
    pub frame: Option<String>,
    /// Clicks on the object, `X,Y;…`.
    #[serde(default)]
    pub fg: Option<String>,
    /// Clicks on the background, `X,Y;…`.
    #[serde(default)]
    pub bg: Option<String>,
    /// The scale of the energy.
    pub temperature: f64,
    /// Weight of an edge in fractional belief propagation; null with other methods.
    pub fbp_weight: Option<f64>,
    /// Share of the old message in the new; null without belief propagation.
    pub damping: Option<f64>,
    /// Most components per mixture; null without mixtures.
    pub components: Option<usize>,
    /// Share of the uniform density; null without mixtures.
    pub outlier: Option<f64>,
    /// Weight of the guided filter over like colours; null without mixtures.
    pub context: Option<f64>,
    /// Weight of the stroke distance, as used (a number also with `auto`).
    pub geodesic: f64,
    /// The mean-shift layers used, each `hs,hr,min`.
    pub layer: Vec<String>,
    /// The file that replaced the mixtures.
    pub unary: Option<String>,
    /// The file that replaced the mixtures.
    pub prior: Option<String>,
    /// What no probability of the network counts as nearer to 0 or 1 than, as used (a number also with `auto`); null without a network's.
    #[serde(default)]
    pub prior_clip: Option<f64>,
    /// What divides the network's logits, as used; null without a network's probabilities.
    #[serde(default)]
    pub prior_temperature: Option<f64>,
    /// Weight of the colours of what the network is sure of, as used; null without a network's probabilities.
    #[serde(default)]
    pub prior_colour: Option<f64>,
    /// The files that replaced mean shift.
    pub superpixels: Vec<String>,
    /// How the strokes were to be read.
    pub scribble_format: String,
    /// The algorithm.
    pub solver: String,
    /// What passes messages.
    pub factors: String,
    /// Gap per free pixel to stop at.
    pub tolerance: f64,
    /// Most sweeps.
    pub max_iterations: usize,
    /// Most seconds.
    pub time_limit: Option<f64>,
    /// Whether not converging is an error.
    pub strict: bool,
    /// Which of several MAP sets.
    pub map: String,
    /// Alpha of the cut-out.
    pub matte: String,
    /// Pixels that a soft matte reaches to either side of the border; null is 2 % of the shorter side.
    pub matte_width: Option<usize>,
    /// Half-width of the undecided probabilities in the trimap.
    pub trimap_band: f64,
    /// Most pixels a photo may have.
    pub max_pixels: u64,
    /// What was to be written.
    pub emit: Vec<String>,
    /// Seed of every random choice.
    pub seed: u64,
}

/// Both mixtures.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mixtures {
    /// Of the foreground strokes.
    pub foreground: Mixture,
    /// Of the background strokes.
    pub background: Mixture,
}

/// One mixture of Gaussians over RGB in 0–1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mixture {
    /// Components fitted.
    pub components: usize,
    /// Their weights.
    pub weights: Vec<f64>,
    /// Their means.
    pub means: Vec<[f64; 3]>,
    /// Mean log-likelihood of the pixels it was fitted to.
    pub log_likelihood: f64,
}

/// One layer of superpixels.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Layer {
    /// Number of regions.
    pub count: usize,
    /// Median of their sizes in pixels.
    pub median_size: usize,
    /// Size of the largest in pixels.
    pub largest: usize,
}

/// Size of the model.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Model {
    /// All pixels.
    pub pixels: usize,
    /// Pixels that hard seeds leave open.
    pub free_pixels: usize,
    /// Pixels that their own cost has decided, too large for anything to change it.
    #[serde(default)]
    pub decided_pixels: usize,
    /// Layers of factors.
    pub layers: usize,
}

/// The levels of detail. Every gap and bound in the report is one of the last level *given* what the levels before it decided.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Detail {
    /// From the smallest to the photo itself; only one where every pixel was solved for at once.
    pub levels: Vec<DetailLevel>,
    /// Pixels that the last level solved for.
    pub free_pixels: usize,
    /// Pixels that the levels before it decided; their probabilities are those of the block they lie in.
    pub decided_pixels: usize,
    /// Whether the certificate is given decisions that it does not cover.
    pub conditional: bool,
}

/// One level of detail.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DetailLevel {
    /// Its width in pixels.
    pub width: usize,
    /// Its height in pixels.
    pub height: usize,
    /// Pixels it solved for.
    pub free_pixels: usize,
    /// Pixels that the levels before it decided.
    pub decided_pixels: usize,
    /// Its sweeps.
    pub iterations: usize,
    /// Whether it reached the tolerance.
    pub converged: bool,
    /// Its gap per free pixel.
    pub gap_per_pixel: Option<f64>,
}

/// How the solve ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Solve {
    /// The algorithm.
    pub solver: String,
    /// Sweeps done.
    pub iterations: usize,
    /// Minimum cuts computed, by a solver that works by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_calls: Option<usize>,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// Why it stopped.
    pub status: String,
    /// Seconds it took.
    pub seconds: f64,
    /// Duality gap of the log-odds written, proved by the base.
    pub gap: Option<f64>,
    /// The same over the number of free pixels.
    pub gap_per_pixel: Option<f64>,
}

/// Bounds on the partition function.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bounds {
    /// log Z is at most this.
    pub log_z_upper: Option<f64>,
    /// log Z is at least this.
    pub log_z_lower: Option<f64>,
    /// D∞(P‖Q) is at most this.
    pub renyi_infinity_upper: Option<f64>,
}

/// The answer of mean field or belief propagation. With them `solve.gap` and all bounds they cannot give are null.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rival {
    /// `mean-field`, `bp` or `fbp`.
    pub method: String,
    /// Iterations done.
    pub iterations: usize,
    /// Whether the residual came down to the tolerance.
    pub converged: bool,
    /// The largest change of a marginal in the last iteration.
    pub residual: Option<f64>,
    /// Its value for log Z.
    pub log_z: Option<f64>,
    /// `lower bound` (mean field) or `estimate` (belief propagation).
    pub log_z_is: String,
}

/// The choice of a temperature on held-out strokes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Temperature {
    /// The temperature in force.
    pub value: f64,
    /// How it was chosen.
    pub method: String,
    /// Times a share of the strokes was held out.
    pub folds: usize,
    /// Pieces the strokes were cut into.
    pub pieces: usize,
    /// Stroke pixels judged while held out.
    pub pixels: usize,
    /// The share of labels taken for slips.
    pub slips: f64,
    /// The log loss of these pixels at this temperature in nats, with slips, both classes weighing the same.
    pub log_loss: f64,
    /// The same at temperature 1.
    pub log_loss_at_one: f64,
}

/// The mask, as a minimiser of the energy.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Map {
    /// F(A) of the mask.
    pub energy: Option<f64>,
    /// No set has less energy than this.
    pub lower_bound: Option<f64>,
    /// Their difference.
    pub gap: Option<f64>,
    /// Whether the mask is proved to be a minimiser.
    pub proved_optimal: bool,
    /// Pixels whose s was moved across zero to agree with the mask.
    pub repaired_pixels: usize,
    /// Pixels taken out of that minimiser because no object stroke reaches them; energy and bounds are those before.
    #[serde(default)]
    pub dropped_pixels: usize,
    /// Pixels inside.
    pub area: usize,
}

/// The probabilities in summary.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Marginals {
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Pixels whose side of one half is proved.
    pub certified_pixels: usize,
    /// No log-odds are further than this from the exact ones, dropped pixels aside: the largest bound of a free pixel.
    pub error_bound: Option<f64>,
    /// The same for one free pixel in two: the median of the bounds.
    #[serde(default)]
    pub error_bound_median: Option<f64>,
}
#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;

    use super::*;

    /// `docs/report.schema.json` is made from the types above; `REGENERATE=1 cargo test --lib schema` writes it anew.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json");
        let mut schema =
            SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Report>();
        schema.insert("title".into(), format!("STEM.report.json, {SCHEMA}").into());
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("REGENERATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap();
        assert!(
            published == text,
            "the report changed: run REGENERATE=1 cargo test --lib schema, then scripts/refresh_docs.py report"
        );
    }
}
