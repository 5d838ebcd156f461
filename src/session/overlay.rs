//! Some of the options, by the names users know: what a command line or a row of a list says on top of the defaults.
//!
//! The printed model lies between: it overrides the defaults, and what is said overrides it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{Bias, Clicks, Detail, Frame, Marks, Matte, Method, Options, Output, Reach};
use crate::assemble::{HopScale, Phi, SeedMode, Theta};
use crate::read::Format;
use crate::solver::{Factors, MapChoice, SolverKind};
use crate::superpixel::Layer;
use crate::unary::Geodesic;
use crate::unary::prior::Setting;
use crate::{Error, Result};

/// The table of options: name, type, the function that reads it, and the places it goes to as it is.
macro_rules! overlay {
    ($(#[$attribute:meta])* $name:ident {
        $($(#[$own:meta])* $field:ident: $type:ty = $read:literal $(=> $($place:ident).+)*;)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        #[allow(missing_docs)] // Each is named after the option it sets.
        pub struct $name {
            $($(#[$own])* #[serde(deserialize_with = $read)] pub $field: Option<$type>,)*
            /// Whether costs come from elsewhere; then nothing is measured from strokes unless it is asked for.
            #[serde(skip)]
            pub has_costs: bool,
        }

        impl $name {
            /// The names of all options, with underscores.
            pub const NAMES: [&str; [$(stringify!($field)),*].len()] = [$(stringify!($field)),*];

            /// This with another on top.
            #[must_use]
            pub fn with(self, top: Self) -> Self {
                Self { $($field: top.$field.or(self.$field),)* has_costs: self.has_costs || top.has_costs }
            }

            /// Puts what is set into its places.
            fn set(&self, options: &mut Options) {
                $($(if let Some(value) = self.$field { options.$($place).+ = value; })*)*
            }
        }
    };
}

overlay! {
    /// Options that are set, and nothing about the others. Reads from JSON; numbers may be text.
    ///
    /// ```
    /// use lfield::session::Overlay;
    ///
    /// let row: Overlay = serde_json::from_str(r#"{"beta": "3", "layer": "5,5,10", "temperature": "fit"}"#).unwrap();
    /// let options = Overlay { gamma: Some(2.0), beta: Some(1.0), ..Overlay::default() }.with(row).options().unwrap();
    /// assert_eq!((options.model.beta, options.model.gamma, options.layers.len()), (3.0, 2.0, 1));
    /// ```
    Overlay {
        paper: bool = "parsed"; alpha: f64 = "parsed" => model.alpha; beta: f64 = "parsed" => model.beta;
        gamma: f64 = "parsed" => model.gamma; theta: Theta = "parsed" => model.theta; phi: Phi = "parsed" => model.phi;
        hop_scale: HopScale = "Option::deserialize" => model.hop_scale; #[serde(alias = "seeds")] strokes: SeedMode = "Option::deserialize" => model.seeds;
        components: usize = "parsed" => unary.components; outlier: f64 = "parsed" => unary.outlier;
        bias: Bias = "parsed"; area: f64 = "parsed"; reach: Reach = "parsed" => reach; refit: usize = "parsed" => refit;
        #[serde(rename = "box")] frame: Frame = "parsed"; fg: Clicks = "parsed"; bg: Clicks = "parsed"; geodesic: Geodesic = "parsed" => unary.geodesic; context: f64 = "parsed" => unary.context;
        prior_clip: Setting = "parsed" => prior.clip; prior_temperature: Setting = "parsed" => prior.temperature; prior_colour: Setting = "parsed" => prior.colour;
        temperature: Temperature = "parsed"; layer: Vec<Layer> = "each"; detail: Detail = "parsed" => detail;
        method: Method = "Option::deserialize" => method;
        fbp_weight: f64 = "parsed" => rival.weight; damping: f64 = "parsed" => rival.damping;
        solver: SolverKind = "Option::deserialize" => solver.solver; factors: Factors = "Option::deserialize" => solver.factors;
        tolerance: f64 = "parsed" => solver.tolerance => rival.tolerance;
        max_iterations: usize = "parsed" => solver.max_iterations => rival.max_iterations;
        time_limit: Duration = "seconds"; emit: Vec<Output> = "outputs"; map: MapChoice = "Option::deserialize" => solver.map;
        matte_width: usize = "parsed"; matte: Matte = "Option::deserialize" => output.matte; trimap_band: f64 = "parsed" => output.trimap_band;
        seed: u64 = "parsed" => unary.seed; max_pixels: u64 = "parsed" => limits.max_pixels;
        /// How strokes are encoded: no option of a session, but said in the same places.
        scribble_format: Format = "Option::deserialize";
    }
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
            _ => Err(Error::parameter("temperature", format!("{text:?}"), "a number from 1e-6 to 1e6, or fit")),
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

impl Overlay {
    /// The box and the clicks.
    pub fn marks(&self) -> Marks {
        let (foreground, background) = (self.fg.clone().unwrap_or_default(), self.bg.clone().unwrap_or_default());
        Marks { frame: self.frame, foreground, background }
    }

    /// The options in force. Fails on options that make no sense, alone or together.
    pub fn options(self) -> Result<Options> {
        let defaults = Options::default();
        let mut options = if self.paper == Some(true) { defaults.paper() } else { defaults };
        if self.has_costs {
            options.unary.geodesic = Geodesic::Fixed(0.0);
            if self.geodesic == Some(Geodesic::Auto) {
                let why = "a number where costs are given: auto reads the colours of the strokes, which they replace";
                return Err(Error::parameter("the weight of the stroke distance", "auto", why));
            }
        }
        self.set(&mut options);
        match self.temperature {
            Some(Temperature::Fit) if !options.method.is_certified() => {
                let expected = "a number: the beliefs of a rival cannot be scaled";
                return Err(Error::parameter("temperature", "fit", expected));
            }
            Some(Temperature::Fit) => options.fit_temperature = true,
            Some(Temperature::Fixed(temperature)) => options.model.temperature = temperature,
            None => {}
        }
        match (self.bias, self.area) {
            (Some(_), Some(_)) => return Err(Error::parameter("area", "beside a bias", "one of the two")),
            (Some(bias), None) => options.bias = bias,
            (None, Some(share)) => options.bias = Bias::Area(share),
            (None, None) => {}
        }
        options.output.matte_width = self.matte_width;
        options.marks = self.marks();
        options.rival.time_limit = self.time_limit;
        options.solver.time_limit = self.time_limit;
        if let Some(layers) = self.layer.filter(|layers| !layers.is_empty()) {
            options.layers = layers;
        }
        if let Some(emit) = self.emit.filter(|emit| !emit.is_empty()) {
            options.output.emit = emit;
        }
        options.check()?;
        Ok(options)
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
