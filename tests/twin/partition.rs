//! log Z over all sets, and what is claimed of it, in fixed point: 320 bits behind the point, of which 280 are right.
//!
//! No logarithm is taken. log Z ≤ c is e^{c + min F} ≥ Σ e^{min F − F(A)}, and that sum lies between 1 and the number of sets.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::exact::{Function, fraction, whole};

const BITS: usize = 320;
/// Differences beyond this many nats decide by themselves: a term below e^{−LARGE} is lost in the last bits.
const LARGE: i64 = 220;
/// What rounding and lost terms can do to a sum of up to 2^12 terms, relative to it.
const SLACK_BITS: usize = 200;

/// Every set's energy, and the sum of their weights relative to the best set's.
pub(super) struct Partition {
    energies: Vec<IBig>,
    least: IBig,
    /// Σ e^{min F − F(A)}
    sum: IBig,
    exponent: isize,
}

impl Partition {
    pub(super) fn new(function: &Function) -> Self {
        let n = function.unary.len();
        let energies: Vec<IBig> = (0..1_usize << n)
            .map(|bits| function.energy(&(0..n).map(|v| bits >> v & 1 == 1).collect::<Vec<_>>()))
            .collect();
        let least = energies.iter().min().expect("the empty set").clone();
        let exponent = function.exponent;
        let sum = energies.iter().map(|energy| exponential(&fraction(&least - energy, exponent))).sum();
        Self { energies, least, sum, exponent }
    }

    pub(super) fn least(&self) -> &IBig {
        &self.least
    }

    /// Whether log Z ≤ bound.
    pub(super) fn is_below(&self, bound: f64) -> bool {
        let above_best = exact(bound) + fraction(self.least.clone(), self.exponent);
        exponential(&above_best) + self.slack() >= self.sum
    }

    /// Whether bound ≤ log Z.
    pub(super) fn is_above(&self, bound: f64) -> bool {
        let above_best = exact(bound) + fraction(self.least.clone(), self.exponent);
        exponential(&above_best) <= &self.sum + self.slack()
    }

    /// Whether log P(A)/Q(A) ≤ bound for all A, Q independent with p = 1/(1+eˢ):
    /// s(A) − F(A) − log Z + Σ log(1 + e^{−s}) is largest where s(A) − F(A) is.
    pub(super) fn divergence_is_below(&self, s: &[f64], bound: f64) -> bool {
        let (units, exponent) = whole(s);
        let common = exponent.min(self.exponent);
        let (up, model_up) = ((exponent - common) as usize, (self.exponent - common) as usize);
        let inside = |bits: usize| (0..s.len()).filter(move |v| bits >> v & 1 == 1);
        let advantage =
            |bits: usize| (inside(bits).map(|v| &units[v]).sum::<IBig>() << up) - (&self.energies[bits] << model_up);
        let most = (0..self.energies.len()).map(advantage).max().expect("the empty set");
        // log(1 + e^{−s}) = max(−s, 0) + log(1 + e^{−|s|})
        let linear: IBig = units.iter().filter(|s| **s < IBig::ZERO).map(|s| -s).sum();
        let fixed = most + (&self.least << model_up) + (linear << up);
        let one = IBig::ONE << BITS;
        let product = s.iter().map(|s| &one + exponential(&exact(-s.abs()))).fold(one.clone(), |a, b| (a * b) >> BITS);
        let left = (exponential(&(exact(bound) - fraction(fixed, common))) * &self.sum) >> BITS;
        left + (&product >> SLACK_BITS) >= product
    }

    fn slack(&self) -> IBig {
        &self.sum >> SLACK_BITS
    }
}

pub(super) fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("a finite number")
}

/// e^t in units of 2^−BITS; beyond ±LARGE that of ±LARGE, which compares the same.
fn exponential(t: &RBig) -> IBig {
    const HALVINGS: usize = 16;
    let limit = RBig::from(LARGE);
    if *t < -&limit {
        return IBig::ZERO;
    }
    let t = if *t > limit { &limit } else { t };
    let (numerator, denominator) = (t.numerator(), t.denominator());
    // e^t = (e^{t/2^k})^{2^k}, the power series for |t/2^k| < 2^−8; every squaring doubles the error.
    let small = (numerator << (BITS - HALVINGS)) / IBig::from(denominator.clone());
    let (mut sum, mut term) = (IBig::ONE << BITS, IBig::ONE << BITS);
    for k in 1_u32.. {
        term = ((term * &small) >> BITS) / IBig::from(k);
        if term == IBig::ZERO || term == IBig::NEG_ONE {
            break;
        }
        sum += &term;
    }
    (0..HALVINGS).fold(sum, |power, _| (&power * &power) >> BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right() {
        for t in [-100.0, -30.5, -1.0, -1e-9, 0.0, 1e-15, 0.7, 12.25, 200.0] {
            let bits = RBig::from_parts(exponential(&exact(t)), dashu_int::UBig::ONE << BITS).to_f64().value();
            assert!((bits / f64::exp(t) - 1.0).abs() < 1e-13, "{t}: {bits}");
        }
        // e^a e^b = e^{a+b}, far beyond doubles.
        let third = RBig::from_parts(1.into(), 3_u8.into());
        let cube = exponential(&third);
        let cube = (((&cube * &cube) >> BITS) * &cube) >> BITS;
        let off = exponential(&RBig::ONE) - cube;
        assert!(off < IBig::ONE << (BITS - 280) && -off < IBig::ONE << (BITS - 280));
    }
}
