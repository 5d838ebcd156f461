//! Values with a range or a small grammar. Every refusal says what would be right.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser};

use lfield::assemble::{SeedMode, Theta};
use lfield::unary::prior::Setting;

/// A weight of the model. Beyond a billion, rounding would eat what the other terms say and still look certified.
pub(super) fn weight(text: &str) -> Result<f64, String> {
    number(text, "a number of at least 0 and at most 1e9", |value| (0.0..=1e9).contains(&value))
}

/// A finite number above 0.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, "a number above 0", |value| value > 0.0)
}

/// A share below 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text, "a share of at least 0 and below 1", |value| (0.0..1.0).contains(&value))
}

/// A share up to all of it.
pub(super) fn whole_share(text: &str) -> Result<f64, String> {
    number(text, "a share from 0 to 1", |value| (0.0..=1.0).contains(&value))
}

/// How near to 0 or 1 a network's probability may be.
pub(super) fn prior_clip(text: &str) -> Result<Setting, String> {
    setting(text, "a probability from 0 to 0.49, or auto", |value| (0.0..=0.49).contains(&value))
}

/// What divides a network's logits.
pub(super) fn prior_temperature(text: &str) -> Result<Setting, String> {
    setting(text, "a number from 0.001 to 1000, or auto", |value| (1e-3..=1e3).contains(&value))
}

/// The weight of a network's colours.
pub(super) fn prior_colour(text: &str) -> Result<Setting, String> {
    setting(text, "a weight from 0 to 100, or auto", |value| (0.0..=100.0).contains(&value))
}

fn setting(text: &str, expected: &str, good: impl Fn(f64) -> bool) -> Result<Setting, String> {
    match text {
        "auto" => Ok(Setting::Auto),
        _ => number(text, expected, good).map(Setting::Fixed),
    }
}

/// What strokes are, or how many a robot may add.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Strokes {
    Are(SeedMode),
    Most(usize),
}

impl Strokes {
    pub(super) fn mode(&self) -> Option<SeedMode> {
        if let Self::Are(mode) = *self { Some(mode) } else { None }
    }

    pub(super) fn most(&self) -> Option<usize> {
        if let Self::Most(count) = *self { Some(count) } else { None }
    }
}

pub(super) fn strokes(text: &str) -> Result<Strokes, String> {
    match (text, text.parse()) {
        ("hard", _) => Ok(Strokes::Are(SeedMode::Hard)),
        ("soft", _) => Ok(Strokes::Are(SeedMode::Soft)),
        (_, Ok(count @ 0..=1000)) => Ok(Strokes::Most(count)),
        _ => Err("expected hard or soft; for the robot of evaluate, a number up to 1000".to_string()),
    }
}

/// Half of the probabilities at most.
pub(super) fn band(text: &str) -> Result<f64, String> {
    number(text, "a probability above 0 and at most 0.5", |value| value > 0.0 && value <= 0.5)
}

/// A folder for results. What looks like a file is refused, unless a folder of that name is there.
pub(super) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    const FILES: [&str; 14] =
        ["png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif", "svg", "npy", "npz", "json", "csv", "txt"];
    PathBufValueParser::new().try_map(|path| {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.is_some_and(|ending| FILES.iter().any(|file| ending == *file)) && !path.is_dir() {
            false => Ok(path),
            true => Err(
                "that looks like a file, and results go to a folder: give a folder, or write one output to a file with \
                         `lfield segment … -o - --emit mask > FILE`",
            ),
        }
    })
}

/// Seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = number(text, "a number of seconds above 0, such as 2.5", |value| value > 0.0)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "that is longer than anyone can wait".to_string())
}

/// A count with optional thousands separators or suffix: `12000000`, `12_000_000`, `12M`.
pub(super) fn pixels(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of pixels of at least 1, such as 12000000 or 12M".to_string();
    let digits = text.replace('_', "");
    let (digits, unit) = match digits.strip_suffix(['k', 'K', 'M', 'G']) {
        Some(digits) if text.ends_with(['k', 'K']) => (digits, 1_000),
        Some(digits) if text.ends_with('M') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (digits.as_str(), 1),
    };
    let count: u64 = digits.parse().map_err(|_| expected())?;
    count.checked_mul(unit).filter(|&count| count > 0).ok_or_else(expected)
}

/// An amount of memory: `800M`, `16G`, `16GiB`, or bytes. A kilobyte has 1024 bytes here.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let expected = || "expected an amount of memory, such as 800M or 16G".to_string();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[number.len()..].to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(expected()),
    };
    let value: f64 = number.parse().map_err(|_| expected())?;
    let bytes = value * (1_u64 << shift) as f64;
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(expected()) }
}

fn number(text: &str, expected: &str, good: impl Fn(f64) -> bool) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && good(value) => Ok(value),
        _ => Err(format!("expected {expected}")),
    }
}

/// Part of a grid: `paper`, or a list such as `beta=1,10`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GridPart {
    Paper,
    Alpha(Vec<f64>),
    Beta(Vec<f64>),
    Gamma(Vec<f64>),
    Theta(Vec<Theta>),
}

pub(super) fn grid(text: &str) -> Result<GridPart, String> {
    if text == "paper" {
        return Ok(GridPart::Paper);
    }
    let expected = "expected `paper`, or a list such as beta=1,10,100, for alpha, beta, gamma or theta";
    let (name, list) = text.split_once('=').ok_or(expected)?;
    let weights = || list.split(',').map(|value| weight(value.trim())).collect::<Result<Vec<_>, _>>();
    match name.trim() {
        "alpha" => weights().map(GridPart::Alpha),
        "beta" => weights().map(GridPart::Beta),
        "gamma" => weights().map(GridPart::Gamma),
        "theta" => list
            .split(',')
            .map(|value| value.trim().parse().map_err(|error: lfield::Error| error.to_string()))
            .collect::<Result<_, _>>()
            .map(GridPart::Theta),
        _ => Err(expected.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused() {
        for text in ["-1", "nan", "inf", "", "1e999", "one"] {
            assert!(weight(text).is_err(), "{text}");
            assert!(seconds(text).is_err(), "{text}");
        }
        assert!(positive("0").is_err() && weight("0").is_ok() && weight("1e10").is_err());
        assert!(share("1").is_err() && share("0.999").is_ok());
        assert!(seconds("1e300").is_err());
    }

    #[test]
    fn pixels_may_be_counted_in_millions() {
        assert_eq!(pixels("12M"), Ok(12_000_000));
        assert_eq!(pixels("12_000"), Ok(12_000));
        assert_eq!(pixels("3k"), Ok(3_000));
        for text in ["0", "M", "-3", "1.5M", "99999999999999999999", "99999999999999G"] {
            assert!(pixels(text).is_err(), "{text}");
        }
    }
}
