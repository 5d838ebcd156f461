//! The paper's view of the same problem as a divergence: D∞, its lemma, its counter-example, and strong duality.

use super::theory::{Table, dot, small_models};
use super::*;

fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + values.map(|v| (v - largest).exp()).sum::<f64>().ln()
}

/// log Z of the modular function q.
fn log_z(q: &[f64]) -> f64 {
    q.iter().map(|q| (-q).max(0.0) + (-q.abs()).exp().ln_1p()).sum()
}

fn modular(q: &[f64]) -> Vec<f64> {
    sets(q.len()).map(|set| q.iter().zip(set).filter(|(_, inside)| *inside).map(|(q, _)| q).sum()).collect()
}

/// F_t: t more on every set that is not empty.
fn raised(table: &Table, t: f64) -> Table {
    let values = table.values.iter().enumerate().map(|(set, f)| if set == 0 { *f } else { f + t }).collect();
    Table { n: table.n, values }
}

/// −(1 + eˢ)⁻¹, the derivative of log(1 + e^{−s}).
fn l_field(_: usize, s: f64) -> f64 {
    -1.0 / (1.0 + s.exp())
}

fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(p) + term(1.0 - p)
}

proptest! {
    #![proptest_config(crate::cases(16))]

    // The paper's expansion of D∞: D∞(P‖Q) = log sup P/Q = log Z_q − log Z_p + sup(q − F), and the certificate bounds it.
    #[test]
    fn the_divergence_expands_as_printed(model in small_models(), q in prop::collection::vec(-3.0..3.0_f64, 6)) {
        let f = Table::of(&model).values;
        let log_z_p = log_sum_exp(f.iter().map(|f| -f));
        let solution = run(&model, &Options { max_iterations: 3, ..Options::default() });
        for q in [&q, &solution.s] {
            let values = modular(q);
            let chance = |energy: &[f64]| -> Vec<f64> {
                let sum: f64 = energy.iter().map(|e| (-e).exp()).sum();
                energy.iter().map(|e| (-e).exp() / sum).collect()
            };
            let ratios = chance(&f).into_iter().zip(chance(&values)).map(|(p, q)| (p / q).ln());
            let direct = ratios.fold(f64::NEG_INFINITY, f64::max);
            let most = values.iter().zip(&f).map(|(q, f)| q - f).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((direct - (log_z(q) - log_z_p + most)).abs() < 1e-8);
            if std::ptr::eq(q, &solution.s) && solution.certificate.repaired_pixels == 0 {
                prop_assert!(direct <= solution.certificate.renyi_infinity_upper + 1e-8);
            }
        }
    }

    // The paper's theorem on D∞: among all factorised Q the best in D∞ has sup(q − F) = t = 0: it bounds F from below everywhere, and is L-Field.
    #[test]
    fn the_best_factorised_distribution_is_a_lower_bound(model in small_models(), start in prop::collection::vec(-3.0..3.0_f64, 6)) {
        let table = Table::of(&model);
        let value = |t: f64| t + log_z(&raised(&table, t).minimise(l_field));
        let best = value(0.0);
        for t in [0.01, 0.1, 0.5, 1.0, 3.0] {
            prop_assert!(value(t) >= best - 1e-7);
        }
        // The same without the grouping by t: no q at all does better, wherever one looks.
        let s = run(&model, &tight(SolverKind::MinNorm)).s;
        prop_assert!((log_z(&s) - best).abs() < 1e-6);
        for scale in [1.0, 0.1, 0.01] {
            let q: Vec<f64> = s.iter().zip(&start).map(|(s, d)| s + scale * d).collect();
            let most = modular(&q).iter().zip(&table.values).map(|(q, f)| q - f).fold(0.0, f64::max);
            prop_assert!(log_z(&q) + most >= best - 1e-6);
        }
    }

    // The paper's lemma on F_β: F_β stays submodular, and its Lovász extension gains β·max w.
    #[test]
    fn raising_all_non_empty_sets_adds_the_maximum(
        model in small_models(), beta in 0.0..4.0_f64, w in prop::collection::vec(-2.0..2.0_f64, 6),
    ) {
        let table = Table::of(&model);
        prop_assert!(table.is_submodular());
        let raised = raised(&table, beta);
        prop_assert!(raised.is_submodular());
        let largest = w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!((raised.lovasz(&w) - table.lovasz(&w) - beta * largest).abs() < 1e-9);
        prop_assert!((table.lovasz(&w) - model.lovasz(&w)).abs() < 1e-9);
    }

    // The paper's strong duality: min over B(F) of Σ log(1+e^{−s}) = max over p of H(p) − f(p); equal at the end, in order before.
    #[test]
    fn primal_and_dual_meet(model in small_models()) {
        for options in super::agreement::all() {
            let sides = |s: &[f64]| {
                let p: Vec<f64> = s.iter().map(|s| 1.0 / (1.0 + s.exp())).collect();
                (log_z(s), p.iter().map(|&p| entropy(p)).sum::<f64>() - model.lovasz(&p))
            };
            let mut solver = options.solver.start(&model, options.factors, None, &|| Ok(())).unwrap();
            for _ in 0..3 {
                let (primal, dual) = sides(solver.point().s);
                prop_assert!(dual <= primal + 1e-8, "{:?}", options.solver);
                solver.step();
            }
            let (primal, dual) = sides(&run(&model, &options).s);
            prop_assert!((primal - dual).abs() < 1e-5, "{:?}: {} {}", options.solver, primal, dual);
        }
    }
}

// The paper's counter-example: for a log-submodular P the best Q need not bound F from below. F = 0, −20, −8, −16 on ∅, {1}, {2}, {1, 2}; the sum of the
// bounds for single variables is below the bound for the pair (−28 < −16), so P(F_t) is a box as long as t ≤ 12, and
// its best corner is q = (−20 + t, −8 + t).
#[test]
fn the_lemma_fails_for_log_submodular_models() {
    let table = Table { n: 2, values: vec![0.0, -20.0, -8.0, -16.0] };
    assert!(!table.is_submodular());
    let value = |t: f64| {
        let q = [-20.0 + t, -8.0 + t];
        let above = modular(&q).iter().zip(&table.values).map(|(q, f)| q - f).fold(f64::NEG_INFINITY, f64::max);
        assert!((above - t).abs() < 1e-12);
        t + log_z(&q)
    };
    assert!(value(0.0) > 28.0);
    assert!((value(1.0) - 27.0009).abs() < 1e-4);
    assert!(dot(&[1.0, 1.0], &[-20.0, -8.0]) < -16.0);
}
