//! Algorithms on slices, with no type of this crate in their signatures.
//!
//! | kernel | solves | cost |
//! | --- | --- | --- |
//! | [`total_variation`] | min ½‖x − z‖² + Σ wᵢ·abs(xᵢ − xᵢ₊₁) | O(n) |
//! | [`isotonic`] | min Σ wᵢ(xᵢ − yᵢ)² with x non-increasing | O(n) |
//! | [`concave`] | projection onto the base polytope of h(card A), h concave | O(n), and a sort where values do not pool |
//! | [`max_flow`] | min_A Σ_{v∈A} u_v + Σ_{p∈A, q∉A} c_pq | near-linear on pictures |
//! | [`logistic`] | log(1 + eᵗ), 1/(1 + e⁻ᵗ) | |
//! | [`rounding`] | how far a sum can be off | |
//! | [`vector`] | which vector instructions there are | |

pub mod concave;

pub mod isotonic;

pub mod logistic;

pub mod max_flow;

pub mod rounding;

pub mod total_variation;

pub mod vector;
