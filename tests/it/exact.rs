//! No claim is false, whatever the scale of the numbers: certificates of random models against the exact twin (`tests/twin`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use dashu_int::IBig;
use dashu_ratio::RBig;
use lfield::solver::SolverKind;

#[path = "../twin/mod.rs"]
mod twin;

use twin::description::{Description, Dice};
use twin::exact::fraction;
use twin::judge::{Falsehood, Verdict, judge};

/// False claims to print of each kind.
const SHOWN: usize = 5;

/// A byte after the other from a seed.
fn bytes(seed: u64) -> impl FnMut() -> u8 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 56) as u8
    }
}

fn describe(seed: u64) -> Description {
    Description::draw(&mut Dice(&mut bytes(seed << 32)))
}

/// `TWIN_MODELS=20000` judges more than 2,000; `TWIN_SEED=7` one alone, and prints it.
#[test]
fn no_claim_is_false_at_any_scale() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match number("TWIN_SEED") {
        Some(seed) => {
            println!("{:#?}", describe(seed));
            seed..seed + 1
        }
        None => 0..number("TWIN_MODELS").unwrap_or(2000),
    };
    let clock = Instant::now();
    let (mut all, mut ordinary, mut proved) = (Verdict::default(), 0, 0);
    for seed in seeds {
        let description = describe(seed);
        let options = &description.options;
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(&description)));
        let mut verdict = verdict.unwrap_or_else(|_| panic!("seed {seed}: {description:?}"));
        // Where nothing stands in the way of proof.
        let exact = matches!(options.solver, SolverKind::Accelerated | SolverKind::MinNorm | SolverKind::DivideConquer);
        if description.scale.is_ordinary() && exact && options.max_iterations >= 500 {
            ordinary += 1;
            proved += usize::from(verdict.holds("converged") && verdict.holds("map proved"));
        }
        for Falsehood { words, .. } in &mut verdict.falsehoods {
            *words =
                format!("{words} (seed {seed}: {:?}, {:?}, {})", description.scale, options.solver, description.shape);
        }
        all.add(verdict);
    }
    println!("{all}\n{proved} of {ordinary} ordinary models converged with a proved mask; {:.1?}", clock.elapsed());
    let kinds = all.counts.keys();
    let shown =
        kinds.flat_map(|kind| all.falsehoods.iter().filter(move |falsehood| falsehood.kind == *kind).take(SHOWN));
    let shown: Vec<String> = shown.map(Falsehood::to_string).collect();
    assert!(shown.is_empty(), "{} false claims, for example\n{}", all.falsehoods.len(), shown.join("\n"));
    assert!(20 * proved >= 19 * ordinary, "too little is claimed");
}

/// s* is in B(F) and f(−s*) = −‖s*‖²: that is all it takes to be the point of least norm.
#[test]
fn the_twin_itself_is_right() {
    let mut n_models = 0;
    for seed in 0..400 {
        let twin::description::Twins { function, .. } = describe(seed).twins();
        let n = function.unary.len();
        if n > 9 {
            continue;
        }
        let optimum = function.minimum_norm();
        let s = optimum.point();
        // All s as multiples of one fraction.
        let common = s.iter().fold(RBig::ONE, |common, s| common * RBig::from(IBig::from(s.denominator().clone())));
        let whole: Vec<IBig> = s.iter().map(|s| (s * &common).numerator().clone()).collect();
        let unit = RBig::ONE / &common;
        let x: Vec<IBig> = whole.iter().map(|s| -s).collect();
        let norm: IBig = whole.iter().map(|s| s * s).sum();
        let (norm, f) = (RBig::from(norm) * &unit * &unit, fraction(function.lovasz(&x), function.exponent) * &unit);
        assert_eq!(norm, optimum.norm(), "seed {seed}");
        assert_eq!(f, -norm, "seed {seed}");
        let empty = function.energy(&vec![false; n]);
        for bits in 0..1_usize << n {
            let set: Vec<bool> = (0..n).map(|v| bits >> v & 1 == 1).collect();
            let sum: IBig = (0..n).filter(|&v| set[v]).map(|v| &whole[v]).sum();
            let value = fraction(function.energy(&set) - &empty, function.exponent);
            assert!(RBig::from(sum) * &unit <= value, "seed {seed}: {set:?}");
            assert!(function.energy(&set) >= optimum.least());
        }
        n_models += 1;
    }
    assert!(n_models > 150);
}
