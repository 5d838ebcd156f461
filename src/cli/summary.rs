//! What a person wants to know at the end: what was found, how sure it is, how long it took, where the files are.

use std::ffi::OsStr;
use std::path::Path;

use lfield::encode::report::{Report, Rival, Temperature};
use lfield::session::{Answer, Warning};
use lfield::solver::Status;
use lfield::store::Written;

use super::voice::Voice;

/// Tells it, a line per fact.
pub(super) fn tell(voice: Voice, answer: &Answer, report: &Report, place: &str) {
    let line = |label: &str, text: String| voice.fact(label, text);
    let image = report.input.image.as_deref().unwrap_or_default();
    voice.say_of(&voice.bold(image), format_args!("{}×{}", report.input.width, report.input.height));
    line("strokes", strokes(voice, answer, report));
    line("mask", mask(report));
    match &report.rival {
        None => line("solved", solved(answer.status(), report)),
        Some(rival) => line("believed", believed(rival)),
    }
    if report.detail.levels.len() > 1 {
        line("levels", levels(report));
    }
    if let Some(fit) = &report.temperature {
        line("scaled", scaled(fit));
    }
    if voice.is_verbose() {
        for (label, text) in details(report) {
            line(label, text);
        }
    }
    line("seconds", seconds(report));
    line("wrote", place.to_string());
    for warning in answer.warnings() {
        match hint(warning) {
            Some(hint) => voice.warn(format_args!("{warning}: {hint}")),
            None => voice.warn(warning),
        }
    }
}

/// The option that helps.
fn hint(warning: &Warning) -> Option<&'static str> {
    match warning {
        Warning::NotConverged { .. } | Warning::EarlierLevel { .. } => {
            Some("allow more --max-iterations or a longer --time-limit, or accept a larger --tolerance")
        }
        Warning::Rounding { .. } => Some("or accept a larger --tolerance"),
        Warning::SuperpixelsLeftOut { .. } => Some("--gamma 0 leaves them out without this warning"),
        Warning::StillMoving { method, .. } if method.is_cut_only() => {
            Some("allow more --max-iterations, or try --damping 0.5")
        }
        Warning::StillMoving { .. } => Some("allow more --max-iterations"),
        Warning::EmptyMask | Warning::FullMask => Some("--beta and --gamma"),
        _ => None,
    }
}

fn strokes(voice: Voice, answer: &Answer, report: &Report) -> String {
    let Some((path, format, reason)) = answer.origin().and_then(|origin| origin.strokes.as_ref()) else {
        return "none; everything known comes from the file given".to_string();
    };
    let reason = match reason {
        Some(reason) if voice.is_verbose() => format!(" ({reason})"),
        _ => String::new(),
    };
    format!(
        "{} read as {}{reason}: {} foreground, {} background pixels",
        path.display(),
        format,
        thousands(report.scribbles.foreground),
        thousands(report.scribbles.background)
    )
}

fn mask(report: &Report) -> String {
    let share = 100.0 * report.map.area as f64 / report.model.pixels as f64;
    let quality = if report.map.proved_optimal {
        "proved optimal".to_string()
    } else if report.rival.is_some() {
        report.map.energy.map_or(String::new(), |energy| format!("energy {energy:.1}, ")) + "nothing proved"
    } else if let Some(gap) = report.map.gap {
        format!("energy at most {} above the optimum", short(gap))
    } else {
        "how far from the optimum cannot be proved".to_string()
    };
    format!("{} pixels, {share:.1} % of the photo; {quality}", thousands(report.map.area))
}

/// gap ≥ ½‖s − s*‖², and a probability moves by at most a quarter of what its s moves.
fn solved(status: Status, report: &Report) -> String {
    let error = (2.0 * report.solve.gap_per_pixel.unwrap_or(f64::INFINITY)).sqrt() / 4.0;
    let how = match status {
        Status::Converged => "converged",
        Status::Rounding => "stopped at the limit of rounding",
        Status::IterationLimit => "stopped at --max-iterations",
        Status::TimeLimit => "stopped at --time-limit",
        Status::Interrupted => "interrupted",
    };
    let quality = match error {
        error if error < 1e-12 => "exact but for rounding".to_string(),
        // A statement about probabilities that any numbers from 0 to 1 would meet is none.
        error if error < 0.5 => format!("probabilities are within {} of the optimum (RMS)", short(error)),
        _ => "too large to say anything about the probabilities".to_string(),
    };
    let gap = match report.solve.gap_per_pixel {
        Some(gap) => format!("gap {} per pixel: {quality}", short(gap)),
        None => "and no gap can be proved".to_string(),
    };
    format!("{how} after {} sweeps, {gap}", report.solve.iterations)
}

/// Which sizes were solved, and what the certificate covers.
fn levels(report: &Report) -> String {
    let detail = &report.detail;
    let sizes: Vec<String> = detail.levels.iter().map(|level| format!("{}×{}", level.width, level.height)).collect();
    let covered = match detail.conditional {
        true => format!(
            "what is proved holds for {} open pixels, given the {} that smaller levels decided",
            thousands(detail.free_pixels),
            thousands(detail.decided_pixels)
        ),
        false => "every pixel was solved for at full size".to_string(),
    };
    format!("{}; {covered}", sizes.join(", "))
}

fn believed(rival: &Rival) -> String {
    format!(
        "{} {} after {} iterations, the last of which moved a probability by {}; log Z {} {:.3}",
        rival.method,
        if rival.converged { "converged" } else { "stopped" },
        rival.iterations,
        rival.residual.map_or("an unknown amount".to_string(), short),
        if rival.log_z_is == "lower bound" { "is at least" } else { "is about" },
        rival.log_z.unwrap_or(f64::NAN)
    )
}

fn scaled(fit: &Temperature) -> String {
    format!(
        "temperature {} has a log loss of {} on {} held-out stroke pixels; 1 has {}",
        fit.value,
        short(fit.log_loss),
        thousands(fit.pixels),
        short(fit.log_loss_at_one)
    )
}

fn details(report: &Report) -> Vec<(&'static str, String)> {
    let p = &report.parameters;
    let mut lines = vec![(
        "model",
        format!(
            "alpha {} beta {} gamma {} theta {} phi {} hop-scale {} seeds {} geodesic {} temperature {}; {} layers, {} free pixels",
            p.alpha,
            p.beta,
            p.gamma,
            short(p.theta),
            p.phi,
            p.hop_scale,
            p.seeds,
            short(p.geodesic),
            p.temperature,
            report.model.layers,
            thousands(report.model.free_pixels)
        ),
    )];
    if let Some(mixtures) = &report.mixtures {
        let one = |mixture: &lfield::encode::report::Mixture| {
            format!("{} components, log-likelihood {:.2}", mixture.components, mixture.log_likelihood)
        };
        lines.push((
            "colours",
            format!("foreground {}; background {}", one(&mixtures.foreground), one(&mixtures.background)),
        ));
    }
    for layer in &report.superpixels {
        let (count, largest) = (thousands(layer.count), thousands(layer.largest));
        lines.push(("regions", format!("{count}, median {} pixels, largest {largest}", layer.median_size)));
    }
    let bounds = &report.bounds;
    if report.rival.is_some() {
        return lines;
    }
    if let (Some(lower), Some(upper)) = (bounds.log_z_lower, bounds.log_z_upper) {
        lines.push(("log Z", format!("between {lower:.3} and {upper:.3}")));
    }
    let mut proved = format!(
        "{} of {} pixels are on the right side of one half",
        thousands(report.marginals.certified_pixels),
        thousands(report.model.pixels)
    );
    if let Some(bound) = report.marginals.error_bound {
        proved += &format!("; no log-odds are off by more than {}", short(bound));
        if let Some(median) = report.marginals.error_bound_median {
            proved += &format!(", half of them by at most {}", short(median));
        }
    }
    lines.push(("proved", proved));
    lines
}

fn seconds(report: &Report) -> String {
    let t = &report.timing;
    format!(
        "load {:.2} · unary {:.2} beside superpixels {:.2} · assemble {:.2} · solve {:.2} · write {:.2} · total {:.2}",
        t.load, t.unary, t.superpixels, t.assemble, t.solve, t.write, t.total
    )
}

/// `out/cat.{mask.png,heatmap.png}`: short, and a shell can expand it.
pub(super) fn wrote(written: &Written, stem: &OsStr, folder: &Path) -> String {
    let stem = stem.to_string_lossy();
    let names = written.files.iter().filter_map(|file| file.file_name()).map(|name| name.to_string_lossy());
    let suffixes: Vec<String> = names.map(|name| name[stem.len() + 1..].to_string()).collect();
    match &suffixes[..] {
        [only] => format!("{}", folder.join(format!("{stem}.{only}")).display()),
        several => format!("{}", folder.join(format!("{stem}.{{{}}}", several.join(","))).display()),
    }
}

/// 1234567 as 1,234,567.
fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Two digits are enough for a summary.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if (0.001..1000.0).contains(&size) => {
            let decimals = (1 - size.log10().floor() as i32).max(0) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(273_280), "273,280");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(9.04e-6), "9.0e-6");
        assert_eq!(short(0.00112), "0.0011");
        assert_eq!(short(23.4), "23");
        assert_eq!(short(123_456.0), "1.2e5");
    }
}
