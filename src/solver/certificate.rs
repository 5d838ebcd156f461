//! What a feasible point proves (f the Lovász extension, x = −s, s ∈ B(F)):
//!
//! - gap(s) = f(x) + ‖x‖² ≥ ½‖x − x*‖², so no coordinate is further than √(2·gap) from the optimum;
//! - log Z ≤ −F(∅) + Σ log(1 + e^{−s}) and log Z ≥ H(p) − E_p[F] at p = 1/(1+eˢ); their difference bounds D∞(P‖Q);
//! - F(∅) + Σ min(s, 0) ≤ min F ≤ F(A) for any A. The mask is optimal where a minimum cut can finish it ([`map`]), else
//!   the best level set of x.
//!
//! The level sets' energies come from one greedy vertex: adding variables in the order of x, the vertex of B(F) for
//! that order holds the gain of each step, so prefix sums are the energies of all level sets at once.

use rayon::prelude::*;
use serde::Serialize;

use super::{Progress, map};
use crate::kernel::logistic::softplus;
use crate::model::{Model, ordered_softplus, ordered_sum};
use crate::{Checkpoint, Result};

/// Which of several optimal masks to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MapChoice {
    /// The smallest: {s < 0}.
    #[default]
    Minimal,
    /// The largest: {s ≤ 0}.
    Maximal,
}

impl MapChoice {
    /// Whether a variable with this s is in the mask.
    pub fn contains(self, s: f64) -> bool {
        match self {
            MapChoice::Minimal => s < 0.0,
            MapChoice::Maximal => s <= 0.0,
        }
    }
}

/// What the final point proves.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// f(−s) + ‖s‖².
    pub gap: f64,
    /// The gap divided by the number of free pixels.
    pub gap_per_pixel: f64,
    /// √(2·gap): no s is further than this from the optimum.
    pub error_bound: f64,
    /// Upper bound of log Z.
    pub log_z_upper: f64,
    /// Lower bound of log Z.
    pub log_z_lower: f64,
    /// Upper bound of D∞(P‖Q).
    pub renyi_infinity_upper: f64,
    /// F of the mask.
    pub map_energy: f64,
    /// Lower bound of min F.
    pub map_lower_bound: f64,
    /// Their difference: how far from optimal the mask can be.
    pub map_gap: f64,
    /// The mask is optimal beyond doubt, up to rounding.
    pub map_proved_optimal: bool,
    /// Pixels whose s was moved across zero to agree with the mask.
    pub repaired_pixels: usize,
    /// Pixels whose side of ½ is proved.
    pub certified: Vec<bool>,
}

/// How far across zero a repaired s is moved.
const NUDGE: f64 = 1e-9;

impl Certificate {
    /// Judges s, chooses the mask, and moves s across zero where the mask says so.
    pub(super) fn issue(
        model: &Model,
        s: &mut [f64],
        choice: MapChoice,
        checkpoint: Checkpoint<'_>,
    ) -> Result<(Vec<bool>, Self)> {
        checkpoint()?;
        let n = s.len();
        let feasible = norm(s);
        let found = gap(model, s);
        let normaliser = |s: &[f64]| ordered_sum(s, s, |s, _| softplus(-s));
        let log_normaliser = normaliser(s);
        let log_z_upper = log_normaliser - model.constant();
        let bound = map_lower_bound(model, s);
        let (set, bound, settled) = match map::exact(model, s, found, choice, checkpoint)? {
            Some(exact) => (exact.set, exact.lower_bound.max(bound), Some(exact.settled)),
            None => (level_set(model, s, (2.0 * found).sqrt(), choice), bound, None),
        };
        let mut repaired_pixels = 0;
        for (s, &inside) in s.iter_mut().zip(&set) {
            if choice.contains(*s) != inside {
                *s = if inside { -NUDGE } else { NUDGE };
                repaired_pixels += 1;
            }
        }
        checkpoint()?;
        let (gap, log_normaliser) =
            if repaired_pixels == 0 { (found, log_normaliser) } else { (gap(model, s), normaliser(s)) };
        // A repaired s need not be feasible. What it proves is its own primal value against the dual value of the s before.
        let error_bound = (2.0 * gap + (feasible - norm(s)).max(0.0)).sqrt();
        let p: Vec<f64> = s.par_iter().map(|s| 1.0 / (1.0 + s.exp())).collect();
        // H(p) = Σ log(1 + e^{−s}) + s·p for p = 1/(1+eˢ).
        let entropy = log_normaliser + ordered_sum(s, &p, |s, p| s * p);
        let log_z_lower = entropy - model.expectation(&p);
        // Where both meet, rounding may put the lower one a hair above.
        let log_z_lower = log_z_lower.min(log_z_upper);
        checkpoint()?;
        let map_energy = model.energy(&set);
        let map_gap = map_energy - bound;
        let map_gap = if map_gap.is_nan() { f64::INFINITY } else { map_gap.max(0.0) };
        let proved = |v: usize| settled.as_ref().is_some_and(|settled| settled[v]);
        let certificate = Self {
            gap,
            gap_per_pixel: gap / n.max(1) as f64,
            error_bound,
            log_z_upper,
            log_z_lower,
            renyi_infinity_upper: (log_z_upper - log_z_lower).max(0.0),
            map_energy,
            map_lower_bound: bound,
            map_gap,
            map_proved_optimal: map_gap.is_finite() && map_gap <= 1e-9 * (1.0 + map_energy.abs()),
            repaired_pixels,
            // An s at rounding's or a repair's distance from zero is a tie, whatever a gap of zero says.
            certified: s.iter().enumerate().map(|(v, s)| s.abs() > error_bound + 2.0 * NUDGE || proved(v)).collect(),
        };
        Ok((set, certificate))
    }
}

/// The cheap part of the certificate, for the trace.
pub(super) fn progress(model: &Model, s: &[f64], iteration: usize, seconds: f64) -> Progress {
    let gap = gap(model, s);
    Progress {
        iteration,
        seconds,
        gap,
        gap_per_pixel: gap / s.len().max(1) as f64,
        // Quick, and right to the digits of the whole sum; the certificate at the end keeps those of every term.
        log_z_upper: ordered_softplus(s) - model.constant(),
        map_lower_bound: map_lower_bound(model, s),
    }
}

/// f(−s) + ‖s‖². Rounding can leave it a hair below zero at the optimum, where it is zero; an overflow proves nothing, so it
/// counts as infinite.
fn gap(model: &Model, s: &[f64]) -> f64 {
    let gap = model.gap(s);
    if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) }
}

/// ‖s‖²
fn norm(s: &[f64]) -> f64 {
    ordered_sum(s, s, |a, b| a * b)
}

fn map_lower_bound(model: &Model, s: &[f64]) -> f64 {
    model.constant() + ordered_sum(s, s, |s, _| s.min(0.0))
}

/// The best level set of s when the exact mask is out of reach.
fn level_set(model: &Model, s: &[f64], reach: f64, choice: MapChoice) -> Vec<bool> {
    match best_threshold(model, s, reach) {
        None => s.iter().map(|&s| choice.contains(s)).collect(),
        Some(threshold) => s.iter().map(|&s| s <= threshold).collect(),
    }
}

/// The threshold t, |t| ≤ `reach`, whose level set {s ≤ t} has less energy than {s < 0} and {s ≤ 0}, if there is one.
fn best_threshold(model: &Model, s: &[f64], reach: f64) -> Option<f64> {
    let mut order: Vec<u32> = (0..s.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| s[a as usize].total_cmp(&s[b as usize]).then(a.cmp(&b)));
    let x: Vec<f64> = s.iter().map(|s| -s).collect();
    let gains = model.greedy(&x);
    let mut energy = 0.0;
    let mut best: Option<(f64, f64)> = None;
    let (mut below, mut at) = (0.0, 0.0);
    for (i, &v) in order.iter().enumerate() {
        let value = s[v as usize];
        energy += gains[v as usize];
        if order.get(i + 1).is_some_and(|&next| s[next as usize] == value) {
            continue;
        }
        if value < 0.0 {
            below = energy;
        }
        if value <= 0.0 {
            at = energy;
        }
        if value.abs() <= reach && best.is_none_or(|(least, _)| energy < least) {
            best = Some((energy, value));
        }
    }
    let (least, threshold) = best?;
    // Differences within rounding are no reason to move anything.
    (least < below.min(at) - 1e-9 * (1.0 + least.abs())).then_some(threshold)
}
