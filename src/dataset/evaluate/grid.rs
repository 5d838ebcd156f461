//! What is tried: methods, parameter lists, and how many solves they take.
//!
//! L-Field's objective is homogeneous: the solution of c·F is c·s*. So of all settings with the same β/α and γ/α one is solved, at α = 1, and
//! the others are its multiples by α. The rivals have no such law; each of their settings is run. Solves that follow
//! each other well (same θ, rising coupling) form one [`Task`], the unit that is cached: a task always starts from nothing, so where a run was
//! interrupted leaves no trace in the figures.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::assemble::{self, Theta};
use crate::session::Method;
use crate::{Error, Result};

/// A method with the couplings it is tried on: a row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// Every pixel alone.
    Unary,
    /// Mean field on the cut.
    #[serde(alias = "mf")]
    MeanField,
    /// Belief propagation on the cut.
    Bp,
    /// Fractional belief propagation on the cut.
    Fbp,
    /// L-Field on the cut, γ = 0: the paper's DR.
    Cut,
    /// L-Field on the superpixels, β = 0: the paper's HOP.
    Hop,
    /// L-Field on cut and superpixels.
    Full,
    /// What `lfield segment` does when nothing is typed.
    Defaults,
}

impl Contender {
    /// Every method, in the order of tables.
    pub const ALL: [Self; 8] =
        [Self::Unary, Self::MeanField, Self::Bp, Self::Fbp, Self::Cut, Self::Hop, Self::Full, Self::Defaults];

    /// The paper's six.
    pub const PAPER: [Self; 6] = [Self::Unary, Self::MeanField, Self::Bp, Self::Fbp, Self::Cut, Self::Hop];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unary => "unary",
            Self::MeanField => "mean-field",
            Self::Bp => "bp",
            Self::Fbp => "fbp",
            Self::Cut => "cut",
            Self::Hop => "hop",
            Self::Full => "full",
            Self::Defaults => "defaults",
        }
    }

    /// The name in tables and legends.
    pub fn label(self) -> &'static str {
        match self {
            Self::Unary => "unary only",
            Self::MeanField => "mean field",
            Self::Bp => "BP",
            Self::Fbp => "FBP",
            Self::Cut => "L-Field cut (DR)",
            Self::Hop => "L-Field superpixels (HOP)",
            Self::Full => "L-Field cut + superpixels",
            Self::Defaults => "lfield defaults",
        }
    }

    /// AUC, its deviation, AUCT and its deviation as the paper prints them, on 36 photos of which ours are a part.
    pub fn published(self) -> Option<[f64; 4]> {
        match self {
            Self::Unary => Some([0.9484, 0.0681, 0.9425, 0.0759]),
            Self::MeanField => Some([0.9486, 0.0675, 0.9420, 0.0764]),
            Self::Bp => Some([0.9445, 0.0779, 0.9360, 0.0964]),
            Self::Fbp => Some([0.9500, 0.0662, 0.9357, 0.0975]),
            Self::Cut => Some([0.9602, 0.0617, 0.9496, 0.0691]),
            Self::Hop => Some([0.9638, 0.0596, 0.9567, 0.0642]),
            Self::Full | Self::Defaults => None,
        }
    }

    /// Whether the solution is proportional to the energy.
    pub fn is_homogeneous(self) -> bool {
        self.method().is_certified()
    }

    /// How its marginals are computed.
    pub fn method(self) -> Method {
        match self {
            Self::Unary => Method::Unary,
            Self::MeanField => Method::MeanField,
            Self::Bp => Method::Bp,
            Self::Fbp => Method::Fbp,
            Self::Cut | Self::Hop | Self::Full | Self::Defaults => Method::Lfield,
        }
    }

    pub(super) fn has_cut(self) -> bool {
        !matches!(self, Self::Unary | Self::Hop)
    }

    pub(super) fn has_superpixels(self) -> bool {
        matches!(self, Self::Hop | Self::Full | Self::Defaults)
    }
}

impl FromStr for Contender {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = if text == "mf" { "mean-field" } else { text };
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            Error::parameter("a method", text, format!("one of {}", Self::ALL.map(Self::name).join(", ")))
        })
    }
}

/// Lists of values, every combination of which is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Weights of the modular term, above 0.
    pub alpha: Vec<f64>,
    /// Weights of the cut.
    pub beta: Vec<f64>,
    /// Weights of the superpixels.
    pub gamma: Vec<f64>,
    /// Contrast parameters.
    pub theta: Vec<Theta>,
}

impl Grid {
    /// The paper's lists.
    pub fn paper() -> Self {
        let weights = vec![10.0, 1.0, 0.1, 0.01, 0.001];
        Self {
            alpha: vec![1.0, 0.1, 0.01, 0.001],
            beta: weights.clone(),
            gamma: weights,
            theta: [0.1, 0.001, 0.0001].map(Theta::Fixed).to_vec(),
        }
    }

    /// The one setting of `options`.
    pub fn single(options: &assemble::Options) -> Self {
        let assemble::Options { alpha, beta, gamma, theta, .. } = *options;
        Self { alpha: vec![alpha], beta: vec![beta], gamma: vec![gamma], theta: vec![theta] }
    }

    /// Refuses lists that leave nothing to try or cannot be scaled to α = 1.
    pub fn check(&self) -> Result<()> {
        let good = |name: &str, values: &[f64], expected: &str, good: fn(f64) -> bool| match values {
            [] => Err(Error::parameter(format!("the grid of {name}"), "empty", expected)),
            values => match values.iter().find(|&&value| !good(value)) {
                None => Ok(()),
                Some(value) => Err(Error::parameter(format!("{name} in the grid"), value, expected)),
            },
        };
        let weight = |value: f64| (0.0..=1e9).contains(&value);
        good("alpha", &self.alpha, "a number above 0 and at most 1e9", |value| value > 0.0 && value <= 1e9)?;
        good("beta", &self.beta, "a number from 0 to 1e9", weight)?;
        good("gamma", &self.gamma, "a number from 0 to 1e9", weight)?;
        let theta: Vec<f64> =
            self.theta.iter().map(|theta| if let Theta::Fixed(value) = theta { *value } else { 0.0 }).collect();
        good("theta", &theta, "a number of at least 0, or auto", |value| value >= 0.0 && value.is_finite())
    }

    /// The settings that differ for a method: a parameter it does not look at takes no part.
    pub fn settings(&self, method: Contender) -> Vec<Setting> {
        let none = [0.0];
        let betas = if method.has_cut() { &self.beta[..] } else { &none };
        let gammas = if method.has_superpixels() { &self.gamma[..] } else { &none };
        let thetas = if method.has_cut() { &self.theta[..] } else { &self.theta[..1] };
        let mut settings = Vec::new();
        for &theta in thetas {
            for &alpha in &self.alpha {
                for &beta in betas {
                    for &gamma in gammas {
                        let setting = Setting { alpha, beta, gamma, theta: method.has_cut().then_some(theta).into() };
                        if !settings.contains(&setting) {
                            settings.push(setting);
                        }
                    }
                }
            }
        }
        settings
    }
}

/// One combination of the parameters a method looks at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// α.
    pub alpha: f64,
    /// β; 0 for a method without cut.
    pub beta: f64,
    /// γ; 0 for a method without superpixels.
    pub gamma: f64,
    /// θ.
    pub theta: Contrast,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "α {}", self.alpha)?;
        if self.beta > 0.0 {
            write!(f, ", β {}", self.beta)?;
        }
        if self.gamma > 0.0 {
            write!(f, ", γ {}", self.gamma)?;
        }
        match self.theta {
            Contrast::Fixed(theta) => write!(f, ", θ {theta}"),
            Contrast::Word(Word::Auto) => f.write_str(", θ auto"),
            Contrast::Word(Word::None) => Ok(()),
        }
    }
}

/// θ as files spell it: a number, `"auto"`, or `"none"` for a method that has no edges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Contrast {
    /// θ itself.
    Fixed(f64),
    /// Not a number.
    Word(Word),
}

/// θ where it is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Read off the photo.
    Auto,
    /// No edges.
    None,
}

impl From<Option<Theta>> for Contrast {
    fn from(theta: Option<Theta>) -> Self {
        match theta {
            Some(Theta::Fixed(theta)) => Self::Fixed(theta),
            Some(Theta::Auto) => Self::Word(Word::Auto),
            None => Self::Word(Word::None),
        }
    }
}

impl From<Contrast> for Theta {
    fn from(contrast: Contrast) -> Self {
        match contrast {
            Contrast::Fixed(theta) => Self::Fixed(theta),
            Contrast::Word(_) => Self::Auto,
        }
    }
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(theta) => theta.fmt(f),
            Self::Word(Word::Auto) => f.write_str("auto"),
            Self::Word(Word::None) => f.write_str("none"),
        }
    }
}

/// Solves that are done and cached together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Task {
    pub(super) method: Contender,
    pub(super) solves: Vec<Solve>,
}

impl Task {
    /// Judgements that it asks for.
    pub(super) fn n_settings(&self) -> usize {
        self.solves.iter().map(|solve| solve.settings.len()).sum()
    }
}

/// One run of a solver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Solve {
    /// The weights to solve with.
    pub(super) weights: Setting,
    /// What the solution answers: as is for a rival, times α for L-Field.
    pub(super) settings: Vec<Setting>,
}

/// All that has to be run for a method on one photo.
pub(super) fn plan(method: Contender, settings: &[Setting]) -> Vec<Task> {
    let mut tasks: BTreeMap<(String, Digits), BTreeMap<Digits, Solve>> = BTreeMap::new();
    for &setting in settings {
        let Setting { alpha, beta, gamma, theta } = setting;
        let weights = if method.is_homogeneous() {
            Setting {
                alpha: 1.0,
                beta: Digits::of(beta / alpha).value(),
                gamma: Digits::of(gamma / alpha).value(),
                theta,
            }
        } else {
            setting
        };
        // One task per θ, and per weight of the superpixels or of the unary where those vary too; coupling rises within it.
        let (held, rising) = match method {
            Contender::Hop => (0.0, weights.gamma),
            _ if method.is_homogeneous() => (weights.gamma, weights.beta),
            _ => (weights.alpha, weights.beta),
        };
        let solves = tasks.entry((theta.to_string(), Digits::of(held))).or_default();
        let solve = solves.entry(Digits::of(rising)).or_insert(Solve { weights, settings: Vec::new() });
        solve.settings.push(setting);
    }
    tasks.into_values().map(|solves| Task { method, solves: solves.into_values().collect() }).collect()
}

/// A number that is not negative, to twelve digits: quotients that are meant to be equal are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Digits(u64);

impl Digits {
    fn of(value: f64) -> Self {
        let rounded: f64 = format!("{value:.11e}").parse().expect("a number as it is printed");
        Self(rounded.to_bits())
    }

    fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn solves(method: Contender) -> (usize, usize) {
        let settings = Grid::paper().settings(method);
        (settings.len(), plan(method, &settings).iter().map(|task| task.solves.len()).sum())
    }

    #[test]
    fn the_papers_lists_are_the_printed_ones_and_scale_saves_most_of_them() {
        assert_eq!(solves(Contender::Unary), (4, 1));
        assert_eq!(solves(Contender::MeanField), (60, 60));
        assert_eq!(solves(Contender::Fbp), (60, 60));
        // β/α takes the eight values 10⁻³ … 10⁴.
        assert_eq!(solves(Contender::Cut), (60, 24));
        assert_eq!(solves(Contender::Hop), (20, 8));
        assert_eq!(solves(Contender::Full), (300, 156));
    }

    proptest! {
        #[test]
        fn every_setting_is_answered_once_and_by_its_own_multiple(
            alpha in proptest::collection::vec(0.001_f64..10.0, 1..4),
            beta in proptest::collection::vec(0.0_f64..10.0, 1..4),
            gamma in proptest::collection::vec(0.0_f64..10.0, 1..4),
        ) {
            let grid = Grid { alpha, beta, gamma, theta: vec![Theta::Fixed(0.001), Theta::Auto] };
            for method in Contender::ALL {
                let settings = grid.settings(method);
                let mut answered = Vec::new();
                for task in plan(method, &settings) {
                    for Solve { weights, settings } in task.solves {
                        for setting in settings {
                            let scale = if method.is_homogeneous() { setting.alpha } else { 1.0 };
                            for (whole, part) in [(setting.beta, weights.beta), (setting.gamma, weights.gamma)] {
                                prop_assert!((whole - scale * part).abs() <= 1e-11 * whole);
                            }
                            prop_assert_eq!(weights.theta, setting.theta);
                            answered.push(setting);
                        }
                    }
                }
                prop_assert_eq!(answered.len(), settings.len());
                prop_assert!(settings.iter().all(|setting| answered.contains(setting)));
            }
        }
    }

    #[test]
    fn coupling_rises_within_a_task() {
        for method in [Contender::Cut, Contender::Full, Contender::Bp] {
            for task in plan(method, &Grid::paper().settings(method)) {
                assert!(task.solves.is_sorted_by(|a, b| a.weights.beta < b.weights.beta), "{}", method.name());
            }
        }
    }

    #[test]
    fn a_grid_that_cannot_be_tried_is_refused() {
        let good = Grid::paper();
        assert!(good.check().is_ok());
        let bad = [
            Grid { alpha: vec![0.0], ..good.clone() },
            Grid { beta: vec![-1.0], ..good.clone() },
            Grid { gamma: vec![], ..good.clone() },
            Grid { theta: vec![Theta::Fixed(f64::NAN)], ..good.clone() },
        ];
        for grid in bad {
            let message = grid.check().unwrap_err().to_string();
            assert!(message.contains("must be"), "{message}");
        }
    }
}
