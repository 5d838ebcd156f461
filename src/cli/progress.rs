//! The bar: which stage, and while solving how far the gap has come on its way down.
//!
//! A gap falls by factors, so the bar's length is its logarithm: from the first gap at the left end to the tolerance at the
//! right. indicatif draws on a terminal only.

use std::fmt;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lfield::session::Event;
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
        keep_ticking(&bar, Duration::from_millis(100));
        Self { bar, tolerance, first_gap: None }
    }

    pub(super) fn show(&mut self, event: Event<'_>) {
        match event {
            Event::Working | Event::Point(_) => {}
            Event::Begun(shape) => {
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

/// A bar for a count of things to do that knows how long the rest will take; cleared when dropped.
#[derive(Debug)]
pub(super) struct Countdown(ProgressBar);

impl Countdown {
    pub(super) fn new(voice: Voice, message: &str) -> Self {
        let bar = new_bar(voice);
        let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let left = time_left(state.pos(), state.len().unwrap_or(0), state.elapsed());
            let _ = write!(out, "{}", left.map_or_else(String::new, |left| format!(" · about {} left", clock(left))));
        };
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = out.write_str(&rate(state.pos(), state.elapsed()));
        };
        // The bar takes what the words leave of the line: a line too long for the terminal would be torn.
        let template = style("{spinner} {msg} [{wide_bar}] {pos} of {len}{rate} · {elapsed}{left}");
        bar.set_style(template.with_key("left", left).with_key("rate", rate));
        bar.set_message(message.to_string());
        keep_ticking(&bar, Duration::from_millis(200));
        Self(bar)
    }

    /// There are so many things.
    pub(super) fn expect(&self, count: usize) {
        self.0.set_length(count as u64);
    }

    /// So many of them need not be done.
    pub(super) fn spare(&self, count: usize) {
        self.0.set_length(self.0.length().unwrap_or(0).saturating_sub(count as u64));
    }

    /// From now on these are the words before the bar.
    pub(super) fn caption(&self, message: String) {
        self.0.set_message(message);
    }

    /// So many more are done.
    pub(super) fn advance(&self, count: usize) {
        self.0.inc(count as u64);
    }

    /// Says something without tearing the bar, if there is a bar to be torn.
    pub(super) fn aside(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }

    /// How long the rest will take, once something is done.
    pub(super) fn left(&self) -> Option<Duration> {
        time_left(self.0.position(), self.0.length().unwrap_or(0), self.0.elapsed())
    }
}

impl Drop for Countdown {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// What the rest takes if it goes on as on average so far: things differ too much for the latest to tell.
fn time_left(done: u64, all: u64, elapsed: Duration) -> Option<Duration> {
    (done > 0).then(|| elapsed.mul_f64(all.saturating_sub(done) as f64 / done as f64))
}

/// So many per second, or per minute where that is more than one.
fn rate(done: u64, elapsed: Duration) -> String {
    let per_second = done as f64 / elapsed.as_secs_f64();
    match done {
        0 => String::new(),
        _ if per_second < 1.0 => format!(" · {:.1}/min", 60.0 * per_second),
        _ => format!(" · {per_second:.1}/s"),
    }
}

/// Hours, minutes and seconds, as far as they are needed.
pub(super) fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn new_bar(voice: Voice) -> ProgressBar {
    let target = if voice.is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    ProgressBar::with_draw_target(Some(LENGTH), target)
}

/// Moves the spinner while the work has nothing to tell. indicatif's own way to do so panics when the system has no thread to spare;
/// here the bar then merely stands still.
fn keep_ticking(bar: &ProgressBar, every: Duration) {
    if bar.is_hidden() {
        return;
    }
    let bar = bar.downgrade();
    let tick = move || {
        while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            std::thread::sleep(every);
        }
    };
    let _ = std::thread::Builder::new().spawn(tick);
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
    use std::time::Duration;

    use super::{clock, rate, share_done, time_left};

    #[test]
    fn the_rest_takes_as_long_as_the_part_that_is_done() {
        let left = |done, all| time_left(done, all, Duration::from_secs(60));
        assert_eq!(left(0, 10), None);
        assert_eq!(left(2, 10).map(clock).as_deref(), Some("4 min 0 s"));
        assert_eq!(left(10, 10).map(clock).as_deref(), Some("0 s"));
        assert_eq!(clock(Duration::from_secs(7384)), "2 h 3 min");
    }

    #[test]
    fn a_rate_is_per_second_or_per_minute() {
        let rate = |done| rate(done, Duration::from_secs(10));
        assert_eq!([0, 3, 35].map(rate), ["", " · 18.0/min", " · 3.5/s"]);
    }

    #[test]
    fn the_bar_moves_by_factors() {
        assert!((share_done(1.0, 1e-2, 1e-4) - 0.5).abs() < 1e-12);
        assert_eq!(share_done(1.0, 2.0, 1e-4), 0.0);
        assert_eq!(share_done(1.0, 0.0, 1e-4), 1.0);
        assert_eq!(share_done(1e-9, 1e-9, 1e-4), 1.0);
        assert_eq!(share_done(0.0, 0.0, 1e-4), 1.0);
    }
}
