//! Isotonic regression: the non-increasing sequence nearest to y,
//!
//! x = argmin { Σ wᵢ (xᵢ − yᵢ)² : x₁ ≥ x₂ ≥ … ≥ xₙ }.
//!
//! Pool adjacent violators: scan once, keep a stack of blocks with decreasing means, merge the new block into the one
//! before it while it stands higher. Each element is pushed once and merged at most once, so the cost is O(n).

/// A run of elements that share one value.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Σ w y over the run.
    sum: f64,
    /// Σ w over the run.
    weight: f64,
    /// One past the run's last element.
    end: usize,
}

impl Block {
    fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// Memory for the stack of blocks, reused between calls.
#[derive(Debug, Default)]
pub struct Scratch(Vec<Block>);

/// Replaces `y` by the non-increasing sequence nearest to it.
pub fn non_increasing(y: &mut [f64], scratch: &mut Scratch) {
    pool(y, |_| 1.0, scratch);
}

/// Replaces `y` by the non-increasing sequence nearest to it, where element i counts with weight `weights[i] > 0`.
pub fn non_increasing_weighted(y: &mut [f64], weights: &[f64], scratch: &mut Scratch) {
    assert_eq!(y.len(), weights.len(), "one weight per element");
    pool(y, |i| weights[i], scratch);
}

#[inline(always)]
fn pool(y: &mut [f64], weight: impl Fn(usize) -> f64, Scratch(stack): &mut Scratch) {
    stack.clear();
    for (i, &value) in y.iter().enumerate() {
        let w = weight(i);
        let mut block = Block { sum: w * value, weight: w, end: i + 1 };
        // Compare by cross-multiplication: weights are positive, and most elements never need their mean.
        while let Some(last) = stack.last() {
            if last.sum * block.weight > block.sum * last.weight {
                break;
            }
            block.sum += last.sum;
            block.weight += last.weight;
            stack.pop();
        }
        stack.push(block);
    }
    let mut start = 0;
    for block in stack.iter() {
        // A single element keeps its own bits.
        if block.end > start + 1 {
            y[start..block.end].fill(block.mean());
        }
        start = block.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// xᵢ = min over j ≤ i of max over k ≥ i of the mean of y[j..=k]: the minimax formula, O(n³).
    fn minimax(y: &[f64], w: &[f64]) -> Vec<f64> {
        let mean = |j: usize, k: usize| {
            let weight: f64 = w[j..=k].iter().sum();
            y[j..=k].iter().zip(&w[j..=k]).map(|(y, w)| y * w).sum::<f64>() / weight
        };
        let n = y.len();
        (0..n)
            .map(|i| {
                (0..=i)
                    .map(|j| (i..n).map(|k| mean(j, k)).fold(f64::NEG_INFINITY, f64::max))
                    .fold(f64::INFINITY, f64::min)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn pooling_equals_the_minimax_formula(
            pairs in prop::collection::vec((-5.0..5.0_f64, 0.1..4.0_f64), 1..14), ties in any::<bool>(),
        ) {
            let (mut y, w): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            if ties {
                y.iter_mut().for_each(|y| *y = y.round());
            }
            let mut scratch = Scratch::default();
            let mut x = y.clone();
            non_increasing_weighted(&mut x, &w, &mut scratch);
            for (a, b) in x.iter().zip(minimax(&y, &w)) {
                prop_assert!((a - b).abs() < 1e-12);
            }
            let ones = vec![1.0; y.len()];
            let mut x = y.clone();
            non_increasing(&mut x, &mut scratch);
            for (a, b) in x.iter().zip(minimax(&y, &ones)) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_decreasing_sequence_keeps_its_bits() {
        let y = [3.1, 2.0000001, 2.0, -0.3];
        let mut x = y;
        non_increasing(&mut x, &mut Scratch::default());
        assert_eq!(x, y);
    }
}
