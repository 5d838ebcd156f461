//! Algorithms on slices, with no type of this crate in their signatures.
//!
//! | kernel | solves | cost |
//! | --- | --- | --- |
//! | [`total_variation`] | min ½‖x − z‖² + Σ wᵢ·abs(xᵢ − xᵢ₊₁) | O(n) |
//! | [`isotonic`] | min Σ wᵢ(xᵢ − yᵢ)² with x non-increasing | O(n) |

pub mod isotonic;

pub mod total_variation;
