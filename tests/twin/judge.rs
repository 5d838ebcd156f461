//! Every claim of a solution against the exact twin.
//!
//! - gap, gap per pixel: P(x) − P(x*) = f(x) + ½‖x‖² + ½‖s*‖² is no more, x = −s as written. Error bound: no |x − x*| is more, nor
//!   than the bound of its pixel.
//! - base: its sums are below F for every set and equal to F of all, up to 1e-12 of the sizes of the numbers given, a figure and not a
//!   bound. Where costs are ordinary, f(x) + ½‖x‖² + ½‖base‖² is the gap claimed up to 1e-9 and what it does to that sum that base is written in
//!   doubles.
//! - converged: the gap claimed and the true one are within the tolerance.
//! - log Z between its bounds, and log P(A)/Q(A) below the Rényi bound for every A, for up to [`MOST_LISTED`] variables. The sums are right
//!   to 200 bits, and so is the verdict.
//! - MAP: the lower bound is below min F; F(set) − min F is within the gap; the energy is F(set) up to 1e-12 of the sizes of its terms, a
//!   figure and not a bound; proved optimal is never said beside a gap above 1e-6, and with exact ties the mask is the one asked for.
//! - certified: s* is strictly on the side of zero where s is.
//! - mask: {s < 0} or {s ≤ 0}, as asked.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use dashu_int::IBig;
use dashu_ratio::RBig;
use lfield::solver::{MapChoice, solve};

use super::claim::Claims;
use super::description::{Before, Description, Twins};
use super::exact::{Function, Optimum, fraction, whole};
use super::partition::{Partition, exact};

/// Up to so many variables all sets are listed.
const MOST_LISTED: usize = 12;

/// How often a claim was true, was not made, and was false.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) good: usize,
    pub(crate) null: usize,
    pub(crate) bad: usize,
}

/// A false claim of some kind, in words.
#[derive(Debug)]
pub(crate) struct Falsehood {
    pub(crate) kind: &'static str,
    pub(crate) words: String,
}

/// The claims by kind, and in words what was false.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) counts: BTreeMap<&'static str, Count>,
    pub(crate) falsehoods: Vec<Falsehood>,
}

impl Verdict {
    fn null(&mut self, kind: &'static str) {
        self.counts.entry(kind).or_default().null += 1;
    }

    fn hold(&mut self, kind: &'static str, good: bool, words: impl FnOnce() -> String) {
        let count = self.counts.entry(kind).or_default();
        if good {
            count.good += 1;
        } else {
            count.bad += 1;
            self.falsehoods.push(Falsehood { kind, words: words() });
        }
    }

    /// A bound, which claims nothing at the infinity of its side; `truth` is for the eye.
    fn bound(
        &mut self,
        kind: &'static str,
        claim: Option<f64>,
        side: Side,
        holds: impl FnOnce(f64) -> bool,
        truth: impl FnOnce() -> String,
    ) {
        match claim {
            None => self.null(kind),
            Some(value) if value == side.nothing() => self.null(kind),
            Some(value) => {
                let good = value.is_finite() && holds(value);
                self.hold(kind, good, || format!("{value:e} is claimed, and it is {}", truth()));
            }
        }
    }

    /// Whether a claim of this kind was made and true.
    pub(crate) fn holds(&self, kind: &str) -> bool {
        self.counts.get(kind).is_some_and(|count| count.good > 0 && count.bad == 0)
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (kind, count) in other.counts {
            let sum = self.counts.entry(kind).or_default();
            sum.good += count.good;
            sum.null += count.null;
            sum.bad += count.bad;
        }
        self.falsehoods.extend(other.falsehoods);
    }
}

impl fmt::Display for Falsehood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.words)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:24} {:>8} {:>8} {:>8}", "claim", "true", "not made", "false")?;
        for (kind, Count { good, null, bad }) in &self.counts {
            writeln!(f, "{kind:24} {good:8} {null:8} {bad:8}")?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Side {
    Upper,
    Lower,
}

impl Side {
    fn nothing(self) -> f64 {
        match self {
            Side::Upper => f64::INFINITY,
            Side::Lower => f64::NEG_INFINITY,
        }
    }
}

/// Solves the model as described, and judges what comes back.
pub(crate) fn judge(description: &Description) -> Verdict {
    let mut verdict = Verdict::default();
    let Twins { model, function, before, weight } = description.twins();
    if let Some(before) = before {
        judge_decided(&before, &function, &mut verdict);
    }
    match solve(&model, &description.options, &mut |_| ControlFlow::Continue(())) {
        // An error claims nothing.
        Err(_) => verdict.null("solved"),
        Ok(solution) => {
            verdict.hold("solved", true, String::new);
            judge_claims(description, &function, &weight, &Claims::of(solution), &mut verdict);
        }
    }
    verdict
}

/// Costs that were decided beforehand change nothing for the others: neither s* nor the least energy.
fn judge_decided(before: &Before, function: &Function, verdict: &mut Verdict) {
    let (whole, rest) = (before.function.minimum_norm(), function.minimum_norm());
    let mut others = rest.point().into_iter();
    for (v, (s, decided)) in whole.point().into_iter().zip(&before.decided).enumerate() {
        let right = match decided {
            None => others.next().is_some_and(|other| other == s),
            Some(inside) => size(s.clone()) > exact(lfield::assemble::DECIDED) && *inside == (s < RBig::ZERO),
        };
        verdict.hold("decided", right, || format!("s* is {} at {v}, {decided:?}", show(&s)));
    }
    verdict.hold("decided: least energy", whole.least() == rest.least(), String::new);
}

fn judge_claims(description: &Description, function: &Function, weight: &RBig, claims: &Claims, verdict: &mut Verdict) {
    let n = function.unary.len();
    assert_eq!((claims.s.len(), claims.set.len(), claims.certified.len()), (n, n, n), "one number per variable");
    let finite = claims.s.iter().all(|s| s.is_finite());
    let finite = finite && claims.base.iter().all(|s| s.is_finite());
    verdict.hold("finite s", finite, || format!("{:?}", claims.s));
    if !finite {
        return;
    }
    let optimum = function.minimum_norm();
    distance(description, function, &optimum, claims, verdict);
    map(description, function, &optimum, claims, verdict);
    if n <= MOST_LISTED {
        let partition = Partition::new(function);
        assert_eq!(*partition.least(), optimum.least(), "the twin contradicts itself");
        log_z(&partition, claims, verdict);
        base(description, function, weight, claims, verdict);
    }
}

/// The base against all sets.
fn base(description: &Description, function: &Function, weight: &RBig, claims: &Claims, verdict: &mut Verdict) {
    let n = claims.base.len();
    let rounding = weight * exact(1e-12);
    let empty = function.energy(&vec![false; n]);
    let wrong = (0..1_usize << n).find(|bits| {
        let set: Vec<bool> = (0..n).map(|v| bits >> v & 1 == 1).collect();
        let sum = (0..n).filter(|&v| set[v]).fold(RBig::ZERO, |sum, v| sum + exact(claims.base[v]));
        let beyond = sum - fraction(function.energy(&set) - &empty, function.exponent);
        beyond > rounding || (set.iter().all(|inside| *inside) && -beyond > rounding)
    });
    if description.scale.is_ordinary() {
        let norm = claims.base.iter().fold(RBig::ZERO, |sum, s| sum + exact(*s) * exact(*s));
        let rounding = exact(1e-9) + exact(16.0 * f64::EPSILON) * &norm;
        let gap = primal(function, &claims.s) + norm / RBig::from(2);
        let close = |claim: f64| size(exact(claim) - &gap) <= rounding;
        verdict.bound("gap of x and base", claims.gap, Side::Upper, close, || show(&gap));
    }
    verdict.hold("base", wrong.is_none(), || format!("{:?} is outside at set {wrong:?}", claims.base));
}

fn distance(description: &Description, function: &Function, optimum: &Optimum, claims: &Claims, verdict: &mut Verdict) {
    let n = RBig::from(function.unary.len().max(1));
    let gap = excess(function, optimum, &claims.s);
    let point = optimum.point();
    let apart = claims.s.iter().zip(&point).map(|(s, best)| size(exact(*s) - best)).max().unwrap_or(RBig::ZERO);
    verdict.bound("gap", claims.gap, Side::Upper, |claim| gap <= exact(claim), || show(&gap));
    verdict.bound(
        "gap per pixel",
        claims.gap_per_pixel,
        Side::Upper,
        |claim| gap <= exact(claim) * &n,
        || show(&(&gap / &n)),
    );
    verdict.bound("error bound", claims.error_bound, Side::Upper, |claim| apart <= exact(claim), || show(&apart));
    for (v, (s, best)) in claims.s.iter().zip(&point).enumerate() {
        let apart = size(exact(*s) - best);
        let bound = Some(claims.bounds[v]);
        verdict.bound("bound of a pixel", bound, Side::Upper, |claim| apart <= exact(claim), || show(&apart));
    }
    if claims.converged {
        let allowed = exact(description.options.tolerance) * &n;
        let claimed = claims.gap.is_some_and(|claim| claim.is_finite() && exact(claim) <= allowed);
        verdict
            .hold("converged, as claimed", claimed, || format!("with a gap of {:?}, {}", claims.gap, show(&allowed)));
        verdict.hold("converged", gap <= allowed, || format!("{} of {}", show(&gap), show(&allowed)));
    } else {
        verdict.null("converged");
    }
}

/// P(−s) − P(x*)
fn excess(function: &Function, optimum: &Optimum, s: &[f64]) -> RBig {
    primal(function, s) + optimum.norm() / RBig::from(2)
}

/// P(−s) = f(−s) + ½‖s‖²
fn primal(function: &Function, s: &[f64]) -> RBig {
    let (s, exponent) = whole(s);
    let x: Vec<IBig> = s.iter().map(|s| -s).collect();
    let norm = fraction(s.iter().map(|s| s * s).sum(), 2 * exponent);
    fraction(function.lovasz(&x), function.exponent + exponent) + norm / RBig::from(2)
}

fn map(description: &Description, function: &Function, optimum: &Optimum, claims: &Claims, verdict: &mut Verdict) {
    let value = |units: IBig| fraction(units, function.exponent);
    let (least, energy) = (value(optimum.least()), value(function.energy(&claims.set)));
    let beyond = &energy - &least;
    verdict.bound(
        "map lower bound",
        claims.map_lower_bound,
        Side::Lower,
        |claim| exact(claim) <= least,
        || show(&least),
    );
    verdict.bound("map gap", claims.map_gap, Side::Upper, |claim| beyond <= exact(claim), || show(&beyond));
    let rounding = value(function.magnitude(&claims.set)) * exact(1e-12);
    let close = |claim: f64| size(exact(claim) - &energy) <= rounding;
    verdict.bound("map energy", claims.map_energy, Side::Upper, close, || show(&energy));
    if claims.map_proved_optimal {
        let tiny = claims.map_gap.is_some_and(|gap| gap <= 1e-6);
        verdict.hold("map proved, as claimed", tiny, || format!("beside a gap of {:?}", claims.map_gap));
        verdict.hold("map proved", beyond <= exact(1e-6), || format!("{} above the optimum", show(&beyond)));
    } else {
        verdict.null("map proved");
    }
    let choice = description.options.map;
    let wrong = (0..claims.s.len()).find(|&v| choice.contains(claims.s[v]) != claims.set[v]);
    verdict.hold("mask", wrong.is_none(), || format!("s is {:e} at {wrong:?}", claims.s[wrong.unwrap_or(0)]));
    if description.has_exact_ties() && claims.map_proved_optimal {
        let asked = |v: usize| match optimum.sign(v) {
            Ordering::Less => true,
            Ordering::Equal => choice == MapChoice::Maximal,
            Ordering::Greater => false,
        };
        let wrong: Vec<usize> = (0..claims.set.len()).filter(|&v| asked(v) != claims.set[v]).collect();
        verdict.hold("ties", wrong.is_empty(), || format!("not the {choice:?} mask at {wrong:?}"));
    }
    for (v, &certified) in claims.certified.iter().enumerate() {
        if !certified {
            verdict.null("certified");
            continue;
        }
        let right = match optimum.sign(v) {
            Ordering::Less => claims.s[v] < 0.0 && claims.set[v],
            Ordering::Equal => false,
            Ordering::Greater => claims.s[v] > 0.0 && !claims.set[v],
        };
        verdict
            .hold("certified", right, || format!("s is {:e} and should be {}", claims.s[v], show(&optimum.point()[v])));
    }
}

fn log_z(partition: &Partition, claims: &Claims, verdict: &mut Verdict) {
    let below = |claim: f64| partition.is_below(claim);
    let words = || "on the other side".to_string();
    verdict.bound("log Z upper", claims.log_z_upper, Side::Upper, below, words);
    verdict.bound("log Z lower", claims.log_z_lower, Side::Lower, |claim| partition.is_above(claim), words);
    let divergence = |claim: f64| partition.divergence_is_below(&claims.s, claim);
    verdict.bound("Rényi upper", claims.renyi_infinity_upper, Side::Upper, divergence, || "more".to_string());
}

fn size(value: RBig) -> RBig {
    if value < RBig::ZERO { -value } else { value }
}

fn show(value: &RBig) -> String {
    format!("{:e}", value.to_f64().value())
}
