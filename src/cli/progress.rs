//! The bar: which stage, and while solving how far the gap has come on its way down.
//!
//! A gap falls by factors, so the bar's length is its logarithm: from the first gap at the left end to the tolerance at the
//! right. indicatif draws on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lfield::pipeline::Event;
use lfield::solver::Progress;

use super::voice::Voice;

/// Steps of the bar.
const LENGTH: u64 = 1000;

/// A bar on stderr; cleared when dropped.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    tolerance: f64,
    first_gap: Option<f64>,
}

impl Bar {
    pub(super) fn new(voice: Voice, tolerance: f64) -> Self {
        let bar = new_bar(voice);
        bar.set_style(style("{spinner} {msg}"));
        bar.set_message("reading");
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, tolerance, first_gap: None }
    }

    pub(super) fn show(&mut self, event: Event<'_>) {
        match event {
            Event::Read(scene) => {
                let shape = scene.picture.shape();
                self.bar.set_message(format!("{shape}: learning colours, cutting superpixels"));
            }
            Event::Assembled(_) => self.bar.set_style(style("{spinner} solving [{bar:24}] {msg}")),
            Event::Sweep(progress) => self.sweep(progress),
            Event::Solved => {
                self.bar.set_style(style("{spinner} {msg}"));
                self.bar.set_message("writing");
            }
        }
    }

    fn sweep(&mut self, progress: &Progress) {
        let Progress { iteration, seconds, gap_per_pixel, .. } = *progress;
        let first = *self.first_gap.get_or_insert(gap_per_pixel);
        self.bar.set_position((share_done(first, gap_per_pixel, self.tolerance) * LENGTH as f64) as u64);
        self.bar.set_message(format!(
            "sweep {iteration} · gap {gap_per_pixel:.1e} of {:.0e} · {seconds:.1} s",
            self.tolerance
        ));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for a stage that knows what share of it is done; cleared when dropped.
#[derive(Debug)]
pub(super) struct Meter(ProgressBar);

impl Meter {
    pub(super) fn new(voice: Voice, message: String) -> Self {
        let bar = new_bar(voice);
        bar.set_style(style("{spinner} {msg} [{bar:32}] {percent} %"));
        bar.set_message(message);
        Self(bar)
    }

    /// Any thread may tell, in any order; the bar only goes forward.
    pub(super) fn show(&self, share: f64) {
        let position = (share * LENGTH as f64) as u64;
        if position > self.0.position() {
            self.0.set_position(position);
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn new_bar(voice: Voice) -> ProgressBar {
    let target = if voice.is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    ProgressBar::with_draw_target(Some(LENGTH), target)
}

/// How far `gap` has come from `first` to `tolerance`, in factors.
fn share_done(first: f64, gap: f64, tolerance: f64) -> f64 {
    let (whole, done) = ((first / tolerance).ln(), (first / gap.max(tolerance)).ln());
    if whole > 0.0 { (done / whole).clamp(0.0, 1.0) } else { 1.0 }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is fixed").progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::share_done;

    #[test]
    fn the_bar_moves_by_factors() {
        assert!((share_done(1.0, 1e-2, 1e-4) - 0.5).abs() < 1e-12);
        assert_eq!(share_done(1.0, 2.0, 1e-4), 0.0);
        assert_eq!(share_done(1.0, 0.0, 1e-4), 1.0);
        assert_eq!(share_done(1e-9, 1e-9, 1e-4), 1.0);
        assert_eq!(share_done(0.0, 0.0, 1e-4), 1.0);
    }
}
