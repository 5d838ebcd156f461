//! Kernels against slow twins, and against the optimality conditions where those can be checked.
#![no_main]

use arbitrary::{Result, Unstructured};
use lfield::kernel::total_variation::taut_string;
use lfield::kernel::{concave, isotonic, total_variation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    lfield_fuzz::alone();
    // Too few bytes for a whole case are no case.
    let _ = one(&mut Unstructured::new(bytes));
});

fn one(u: &mut Unstructured<'_>) -> Result<()> {
    match u.arbitrary::<u8>()? % 3 {
        0 => chain(u),
        1 => regression(u),
        _ => superpixel(u),
    }
}

fn numbers(u: &mut Unstructured<'_>, most: usize) -> Result<Vec<f64>> {
    let n = u.int_in_range(1..=most)?;
    (0..n).map(|_| lfield_fuzz::cost(u)).collect()
}

/// Largest size, at least 1: what rounding is relative to.
fn scale(values: &[f64]) -> f64 {
    values.iter().fold(1.0, |scale, value| scale.max(value.abs()))
}

fn chain(u: &mut Unstructured<'_>) -> Result<()> {
    let z = numbers(u, 48)?;
    let w = (1..z.len()).map(|_| lfield_fuzz::weight(u)).collect::<Result<Vec<_>>>()?;
    let (mut fast, mut slow) = (vec![0.0; z.len()], vec![0.0; z.len()]);
    total_variation::solve(&z, &w, &mut fast, &mut Default::default());
    // No flow can be larger than this, so the taut string, which adds weights to sums, need not see larger ones.
    let most = 2.0 * z.len() as f64 * scale(&z);
    let capped: Vec<f64> = w.iter().map(|w| w.min(most)).collect();
    taut_string::solve(&z, &capped, &mut slow, &mut Default::default());
    for (fast, slow) in fast.iter().zip(&slow) {
        assert!((fast - slow).abs() <= 1e-9 * scale(&z), "{fast} and {slow}: {z:?} {w:?}");
    }
    // u = Σ (z − x) is a flow within the weights that ends at zero, and it is at a limit where x jumps.
    let mut flow = 0.0;
    for i in 0..z.len() {
        flow += z[i] - fast[i];
        let limit = w.get(i).copied().unwrap_or(0.0);
        assert!(flow.abs() <= limit + 1e-9 * scale(&z), "flow {flow} over {limit}: {z:?} {w:?}");
    }
    Ok(())
}

fn regression(u: &mut Unstructured<'_>) -> Result<()> {
    let y = numbers(u, 20)?;
    let w = (0..y.len()).map(|_| Ok(0.1 + f64::from(u.arbitrary::<u8>()?))).collect::<Result<Vec<_>>>()?;
    let mut fast = y.clone();
    isotonic::non_increasing_weighted(&mut fast, &w, &mut Default::default());
    // xᵢ = min over j ≤ i of max over k ≥ i of the mean of y[j..=k].
    let mean = |j: usize, k: usize| {
        let sum: f64 = y[j..=k].iter().zip(&w[j..=k]).map(|(y, w)| y * w).sum();
        sum / w[j..=k].iter().sum::<f64>()
    };
    for (i, fast) in fast.iter().enumerate() {
        let highest = |j: usize| (i..y.len()).map(|k| mean(j, k)).fold(f64::NEG_INFINITY, f64::max);
        let slow = (0..=i).map(highest).fold(f64::INFINITY, f64::min);
        assert!((fast - slow).abs() <= 1e-11 * scale(&y), "{fast} and {slow}: {y:?} {w:?}");
    }
    Ok(())
}

fn superpixel(u: &mut Unstructured<'_>) -> Result<()> {
    let z = numbers(u, 200)?;
    let (n, weight) = (z.len(), lfield_fuzz::weight(u)?);
    let top = 1 + usize::from(u.arbitrary::<u8>()?) % n;
    let robust = u.arbitrary::<bool>()?;
    let height = |k: usize| match robust {
        true => weight * k.min(top).min(n - k) as f64,
        false => weight * k as f64 * (n - k) as f64 / n as f64,
    };
    let rise = |j: usize, k: usize| height(k) - height(j);
    let mut fast = vec![0.0; n];
    concave::prox(&z, &mut fast, rise, &mut Default::default());
    // Sort everything, pool everything.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| z[b].total_cmp(&z[a]));
    let mut pooled: Vec<f64> = order.iter().enumerate().map(|(i, &v)| z[v] - rise(i, i + 1)).collect();
    isotonic::non_increasing(&mut pooled, &mut Default::default());
    let tolerance = 1e-11 * scale(&z).max(weight * n as f64);
    for (slow, &v) in pooled.iter().zip(&order) {
        assert!((fast[v] - slow).abs() <= tolerance, "{} and {slow}: {z:?}, {weight}, {top}, {robust}", fast[v]);
    }
    Ok(())
}
