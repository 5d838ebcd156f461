//! Some of the options, by the names users know: what a command line or a row of a list says on top of the defaults.
//!
//! The printed model lies between: it overrides the defaults, and what is said overrides it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{Matte, Method, Options, Output};
use crate::assemble::{HopScale, Phi, SeedMode, Theta};
use crate::read::Format;
use crate::solver::{Factors, MapChoice, SolverKind};
use crate::superpixel::Layer;
use crate::unary::Geodesic;
use crate::{Error, Result};

/// Options that are set, and nothing about the others. Reads from JSON; numbers may be text.
///
/// ```
/// use lfield::session::Overlay;
///
/// let row: Overlay = serde_json::from_str(r#"{"beta": "3", "layer": "5,5,10", "temperature": "fit"}"#).unwrap();
/// let options = Overlay { gamma: Some(2.0), beta: Some(1.0), ..Overlay::default() }.with(row).options().unwrap();
/// assert_eq!((options.model.beta, options.model.gamma, options.layers.len()), (3.0, 2.0, 1));
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[allow(missing_docs)] // Each is named after the option it sets.
pub struct Overlay {
    #[serde(deserialize_with = "parsed")]
    pub paper: Option<bool>,
    #[serde(deserialize_with = "parsed")]
    pub alpha: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub beta: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub gamma: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub theta: Option<Theta>,
    #[serde(deserialize_with = "parsed")]
    pub phi: Option<Phi>,
    pub hop_scale: Option<HopScale>,
    #[serde(alias = "seeds")]
    pub strokes: Option<SeedMode>,
    #[serde(deserialize_with = "parsed")]
    pub components: Option<usize>,
    #[serde(deserialize_with = "parsed")]
    pub outlier: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub geodesic: Option<Geodesic>,
    #[serde(deserialize_with = "parsed")]
    pub context: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub temperature: Option<Temperature>,
    #[serde(deserialize_with = "each")]
    pub layer: Option<Vec<Layer>>,
    pub method: Option<Method>,
    #[serde(deserialize_with = "parsed")]
    pub fbp_weight: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub damping: Option<f64>,
    pub solver: Option<SolverKind>,
    pub factors: Option<Factors>,
    #[serde(deserialize_with = "parsed")]
    pub tolerance: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub max_iterations: Option<usize>,
    #[serde(deserialize_with = "seconds")]
    pub time_limit: Option<Duration>,
    #[serde(deserialize_with = "outputs")]
    pub emit: Option<Vec<Output>>,
    pub map: Option<MapChoice>,
    pub matte: Option<Matte>,
    #[serde(deserialize_with = "parsed")]
    pub trimap_band: Option<f64>,
    #[serde(deserialize_with = "parsed")]
    pub seed: Option<u64>,
    #[serde(deserialize_with = "parsed")]
    pub max_pixels: Option<u64>,
    /// How strokes are encoded: no option of a session, but said in the same places.
    pub scribble_format: Option<Format>,
    /// Whether costs come from elsewhere; then nothing is measured from strokes unless it is asked for.
    #[serde(skip)]
    pub has_costs: bool,
}

/// The scale of the probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Temperature {
    /// T.
    Fixed(f64),
    /// Chosen on held-out strokes.
    Fit,
}

impl FromStr for Temperature {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            _ if text == "fit" => Ok(Self::Fit),
            Ok(temperature) if (1e-6..=1e6).contains(&temperature) => Ok(Self::Fixed(temperature)),
            _ => Err(Error::Parameter {
                name: "temperature".into(),
                value: format!("{text:?}"),
                expected: "a number from 1e-6 to 1e6, or fit".into(),
            }),
        }
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(temperature) => temperature.fmt(f),
            Self::Fit => f.write_str("fit"),
        }
    }
}

/// The fields of two overlays, where the second counts first.
macro_rules! merged {
    ($first:ident, $second:ident, $($field:ident)*) => {
        Overlay { $($field: $second.$field.or($first.$field),)* has_costs: $first.has_costs || $second.has_costs }
    };
}

impl Overlay {
    /// This with another on top.
    #[must_use]
    pub fn with(self, top: Self) -> Self {
        merged!(self, top, paper alpha beta gamma theta phi hop_scale strokes components outlier geodesic context
            temperature layer method fbp_weight damping solver factors tolerance max_iterations time_limit emit map matte
            trimap_band seed max_pixels scribble_format)
    }

    /// The options in force. Fails on options that make no sense, alone or together.
    pub fn options(self) -> Result<Options> {
        let refuse = |name: &str, value: &str, expected: &str| {
            Err(Error::Parameter { name: name.into(), value: value.into(), expected: expected.into() })
        };
        let defaults = Options::default();
        let mut options = if self.paper == Some(true) { defaults.paper() } else { defaults };
        if self.has_costs {
            options.unary.geodesic = Geodesic::Fixed(0.0);
            if self.geodesic == Some(Geodesic::Auto) {
                let why = "a number where costs are given: auto reads the colours of the strokes, which they replace";
                return refuse("the weight of the stroke distance", "auto", why);
            }
        }
        set(&mut options.limits.max_pixels, self.max_pixels);
        set(&mut options.unary.components, self.components);
        set(&mut options.unary.outlier, self.outlier);
        set(&mut options.unary.geodesic, self.geodesic);
        set(&mut options.unary.context, self.context);
        set(&mut options.unary.seed, self.seed);
        set(&mut options.layers, self.layer.filter(|layers| !layers.is_empty()));
        set(&mut options.method, self.method);
        set(&mut options.model.alpha, self.alpha);
        set(&mut options.model.beta, self.beta);
        set(&mut options.model.gamma, self.gamma);
        set(&mut options.model.theta, self.theta);
        set(&mut options.model.phi, self.phi);
        set(&mut options.model.hop_scale, self.hop_scale);
        set(&mut options.model.seeds, self.strokes);
        match self.temperature {
            Some(Temperature::Fit) if !options.method.is_certified() => {
                return refuse("temperature", "fit", "a number: the beliefs of a rival cannot be scaled");
            }
            Some(Temperature::Fit) => options.fit_temperature = true,
            Some(Temperature::Fixed(temperature)) => options.model.temperature = temperature,
            None => {}
        }
        set(&mut options.rival.weight, self.fbp_weight);
        set(&mut options.rival.damping, self.damping);
        set(&mut options.rival.tolerance, self.tolerance);
        set(&mut options.rival.max_iterations, self.max_iterations);
        options.rival.time_limit = self.time_limit;
        set(&mut options.solver.solver, self.solver);
        set(&mut options.solver.factors, self.factors);
        set(&mut options.solver.tolerance, self.tolerance);
        set(&mut options.solver.max_iterations, self.max_iterations);
        options.solver.time_limit = self.time_limit;
        set(&mut options.solver.map, self.map);
        set(&mut options.output.emit, self.emit.filter(|emit| !emit.is_empty()));
        set(&mut options.output.matte, self.matte);
        set(&mut options.output.trimap_band, self.trimap_band);
        options.check()?;
        Ok(options)
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A value, or the text that says it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Plain {
    Truth(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Plain>),
}

impl Plain {
    /// One text per element.
    fn texts(self) -> Vec<String> {
        match self {
            Self::Truth(truth) => vec![truth.to_string()],
            Self::Number(number) => vec![number.to_string()],
            Self::Text(text) => vec![text.trim().to_string()],
            Self::List(list) => list.into_iter().flat_map(Self::texts).collect(),
        }
    }
}

fn each<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(input: D) -> Result<Option<Vec<T>>, D::Error> {
    let texts = Option::<Plain>::deserialize(input)?.map(Plain::texts).unwrap_or_default();
    let values = texts
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().map_err(|error: T::Err| D::Error::custom(format!("{error} (found {text:?})"))));
    values.collect::<Result<Vec<T>, D::Error>>().map(|values| (!values.is_empty()).then_some(values))
}

fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(input: D) -> Result<Option<T>, D::Error> {
    Ok(each(input)?.and_then(|mut values: Vec<T>| values.pop()))
}

fn seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    let seconds: Option<f64> = parsed(input)?;
    seconds.map(Duration::try_from_secs_f64).transpose().map_err(D::Error::custom)
}

fn outputs<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<Output>>, D::Error> {
    let names: Option<Vec<String>> = each(input)?;
    let Some(names) = names else { return Ok(None) };
    let mut wanted = Vec::new();
    for name in names.iter().flat_map(|names| names.split(',')) {
        wanted.extend(Output::named(name).map_err(D::Error::custom)?);
    }
    Ok(Some(Output::ALL.into_iter().filter(|output| wanted.contains(output)).collect()))
}
