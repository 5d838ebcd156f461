//! What a feasible point proves (f the Lovász extension, s ∈ B(F), x the best primal point in the order of −s):
//!
//! - gap = f(x) + ½‖x‖² + ½‖s‖² ≥ ½‖x − x*‖² + ½‖s − s*‖², so no coordinate is further than √(2·gap) from the optimum, and most are
//!   far nearer ([`screen`]);
//! - log Z ≤ −F(∅) + Σ log(1 + e^{−s}) and log Z ≥ H(p) − E_p[F] for any p, at best one near the marginals; their difference bounds
//!   D∞(P‖Q) for Q with log-odds −s;
//! - F(∅) + Σ min(s, 0) ≤ min F ≤ F(A) for any A. The mask is optimal where a minimum cut can finish it ([`map`]), else
//!   the best level set of x.
//!
//! Every number is rounded to the safe side ([`Proof`]): it is true of the model as given, not up to rounding. What cannot be
//! proved is infinite.
//!
//! The level sets' energies come from one greedy vertex: adding variables in the order of x, the vertex of B(F) for
//! that order holds the gain of each step, so prefix sums are the energies of all level sets at once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::primal::Primal;
use super::proof::Proof;
use super::{Point, Progress, map, screen};
use crate::kernel::logistic::probability;
use crate::kernel::rounding::{EPSILON, Sum};
use crate::model::{Model, ordered_softplus, ordered_sum};
use crate::{Checkpoint, Result};

/// Which of several optimal masks to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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

/// What the final point proves. A number that cannot be claimed is infinite.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// At least f(x) + ½‖x‖² + ½‖s‖², for the x written and the s that proves.
    pub gap: f64,
    /// The gap divided by the number of free pixels.
    pub gap_per_pixel: f64,
    /// No x is further than this from the optimum: the largest of `bounds`.
    pub error_bound: f64,
    /// For each variable, how far x can be from the optimum; at most √(2·gap).
    pub bounds: Vec<f64>,
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
    /// How far from optimal the mask can be.
    pub map_gap: f64,
    /// No mask is better by more than rounding: `map_gap` is at most [`PROVED_OPTIMAL`].
    pub map_proved_optimal: bool,
    /// Pixels whose x was moved across zero, or onto it, to agree with the mask.
    pub repaired_pixels: usize,
    /// Pixels whose side of ½ is proved.
    pub certified: Vec<bool>,
}

/// The gap up to which a mask counts as proved optimal, in nats: no other is more probable by more than this share. Costs that are
/// themselves tiny are held to [`PROVED_OPTIMAL`] times the largest of them.
pub const PROVED_OPTIMAL: f64 = 1e-6;

/// Costs below this are none.
const SMALLEST: f64 = 1e-290;

/// How far across zero a repaired x is moved.
const NUDGE: f64 = 1e-9;

/// Steps of mean field for the lower bound of log Z.
const MEAN_FIELD_STEPS: usize = 4;

impl Certificate {
    /// Judges a point and the best x in its order, chooses the mask, and moves `x` across zero where the mask says so.
    pub(super) fn issue(
        model: &Model,
        point: &Point<'_>,
        primal: &mut Primal,
        choice: MapChoice,
        checkpoint: Checkpoint<'_>,
    ) -> Result<(Vec<bool>, Self)> {
        checkpoint()?;
        let proof = Proof::new(model, point);
        checkpoint()?;
        let found = proof.gap(&primal.x);
        let (set, map_gap, settled) = match map::exact(model, &proof, found, choice, checkpoint)? {
            Some(exact) => (exact.set, exact.gap, Some(exact.settled)),
            None => {
                let set = level_set(primal, proof.s, (2.0 * found).sqrt(), choice);
                let gap = proof.map_gap(&set);
                (set, gap, None)
            }
        };
        let x = &mut primal.x;
        let n = x.len();
        let proved = |v: usize| settled.as_ref().is_some_and(|settled| settled[v]);
        let mut repaired_pixels = 0;
        for (v, ((x, &inside), &error)) in x.iter_mut().zip(&set).zip(&proof.error).enumerate() {
            // A side that is proved is shown, also where x is zero.
            if choice.contains(-*x) != inside || (*x == 0.0 && proved(v)) {
                // A tie that rounding broke is written as the tie it is.
                let is_tie = x.abs() <= error + NUDGE && choice.contains(0.0) == inside && !proved(v);
                *x = if is_tie {
                    0.0
                } else if inside {
                    NUDGE
                } else {
                    -NUDGE
                };
                repaired_pixels += 1;
            }
        }
        checkpoint()?;
        let gap = if repaired_pixels == 0 { found } else { proof.gap(&primal.x) };
        let most = (2.0 * gap).sqrt() * (1.0 + 2.0 * EPSILON);
        let bounds = screen::bounds(model, &proof, primal, most);
        let error_bound = bounds.iter().copied().fold(0.0, f64::max);
        let x = &primal.x;

        let (least, most) = proof.log_normaliser();
        checkpoint()?;
        let log_gap = log_gap(model, &proof, x);
        let constant = model.constant();
        let off = model.rounding().constant;
        let log_z_upper = above(most - constant, off + EPSILON * (most + constant.abs()));
        let log_z_lower =
            -above(log_gap + constant - least, off + EPSILON * (least.abs() + 2.0 * log_gap + constant.abs()));
        // For the marginals as written, which are not those of s.
        let renyi_infinity_upper = above(most - least + log_gap, proof.ratio(x) + EPSILON * (most + log_gap));

        checkpoint()?;
        let (energy, energy_error) = model.energy_and_error(&set);
        let map_energy = if energy_error.is_finite() { energy } else { f64::INFINITY };
        let map_lower_bound = -above(map_gap - map_energy, energy_error + EPSILON * (map_gap + map_energy.abs()));
        let certificate = Self {
            gap,
            gap_per_pixel: gap / n.max(1) as f64,
            error_bound,
            certified: x.iter().zip(&bounds).enumerate().map(|(v, (x, bound))| x.abs() > *bound || proved(v)).collect(),
            bounds,
            log_z_upper,
            log_z_lower,
            renyi_infinity_upper,
            map_energy,
            map_lower_bound,
            map_gap,
            map_proved_optimal: map_gap <= PROVED_OPTIMAL * model.largest().clamp(SMALLEST, 1.0),
            repaired_pixels,
        };
        Ok((set, certificate))
    }
}

/// At least Σ log(1 + e^{−ŝ}) less the best lower bound of log Z that is at hand: that of the marginals of x, or of what a few steps
/// of mean field make of them, t ← −∂E_p\[F\]/∂p in log-odds, halfway.
fn log_gap(model: &Model, proof: &Proof<'_>, x: &[f64]) -> f64 {
    let mut t = x.to_vec();
    let mut p: Vec<f64> = x.par_iter().map(|&x| probability(x)).collect();
    let before = proof.log_gap(&p);
    for _ in 0..MEAN_FIELD_STEPS {
        let gains = model.expected_gains(&p);
        t.par_iter_mut().zip(&mut p).zip(&gains).with_min_len(4096).for_each(|((t, p), gain)| {
            *t = 0.5 * (*t - gain);
            *p = probability(*t);
        });
    }
    before.min(proof.log_gap(&p))
}

/// value + error, rounded up; infinite if that is no number.
fn above(value: f64, error: f64) -> f64 {
    let sum = (value + error).next_up();
    if sum.is_nan() { f64::INFINITY } else { sum }
}

/// The cheap part of the certificate, for the trace. Leaves the best x in the order of −s in `primal`.
pub(super) fn progress(
    model: &Model,
    point: &Point<'_>,
    primal: &mut Primal,
    iteration: usize,
    seconds: f64,
) -> Progress {
    let s = point.s;
    primal.find(model, s);
    Progress {
        iteration,
        seconds,
        gap: primal.gap,
        gap_per_pixel: primal.gap / s.len().max(1) as f64,
        // Quick, and right to the digits of the whole sum; the certificate at the end keeps those of every term.
        log_z_upper: ordered_softplus(s) - model.constant(),
        map_lower_bound: model.constant() + ordered_sum(s, s, |s, _| s.min(0.0)),
    }
}

/// The best level set {s ≤ t}, |t| ≤ `reach`, when the exact mask is out of reach: {s < 0} unless another is better by more than
/// rounding; of all that are as good as that one, the smallest or the largest.
fn level_set(primal: &Primal, s: &[f64], reach: f64, choice: MapChoice) -> Vec<bool> {
    let Primal { order, gains, .. } = primal;
    // The energy of each set of the first k in order, where it is a level set within reach.
    let mut energies: Vec<(usize, f64)> = Vec::new();
    let mut energy = Sum::default();
    let value = |k: usize| order.get(k).map_or(f64::INFINITY, |&v| s[v as usize]);
    for k in 0..=order.len() {
        let last = k.checked_sub(1).map_or(f64::NEG_INFINITY, value);
        if last < value(k) && value(k) >= -reach && last <= reach {
            energies.push((k, energy.value()));
        }
        energy.extend(gains.get(k).copied());
    }
    let negative = s.iter().filter(|&&s| s < 0.0).count();
    let best = energies.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let own = energies.iter().copied().find(|&(k, _)| k == negative);
    // Differences within rounding are no reason to move anything.
    let chosen = match (own, best) {
        (Some(own), Some(best)) if best.1 < own.1 - 1e-9 * (1.0 + best.1.abs()) => best,
        (Some(own), _) => own,
        (None, Some(best)) => best,
        (None, None) => (negative, 0.0),
    };
    let rounding = 8.0 * EPSILON * energy.size();
    let mut as_good = energies.iter().filter(|(_, energy)| *energy <= chosen.1 + rounding).map(|(k, _)| *k);
    let size = match choice {
        MapChoice::Minimal => as_good.next(),
        MapChoice::Maximal => as_good.next_back(),
    };
    let mut set = vec![false; s.len()];
    order[..size.unwrap_or(chosen.0)].iter().for_each(|&v| set[v as usize] = true);
    set
}
