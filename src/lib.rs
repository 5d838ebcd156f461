//! Photos and a few brush strokes in, a mask and an honest probability for every pixel out.
//!
//! # The problem
//!
//! A random set A of pixels, the foreground, with P(A) ∝ exp(−F(A)) and F submodular: costs for single pixels, for neighbours that
//! differ, for superpixels that are split. Marginals and log Z are out of reach; the factorised distribution that is closest to
//! P in the Rényi divergence D∞ is not. It is given by one convex problem, whose signs are at the same time the most probable set
//! (Djolonga & Krause, ICML 2015):
//!
//! ```text
//! s* = argmin { ½‖s‖² : s ∈ B(F) }      p_v = 1/(1 + exp(s*_v))      MAP = {s* < 0}      log Z ≤ Σ log(1 + exp(−s_v))
//! ```
//!
//! Every answer comes with a [certificate](solver::Certificate): how far s can be from s*, bounds on log Z, and whether the mask is
//! proved optimal.
//!
//! | symbol | code | meaning |
//! | --- | --- | --- |
//! | A ⊆ V | [`Mask`] | foreground pixels |
//! | m | [`Unary`] | modular cost; negative favours foreground |
//! | F_r, f_r, B(F_r) | [`Factor`](factor::Factor), `lovasz`, image of `project` | potential, extension, base polytope |
//! | s_r | `messages[r]` | dual variable of layer r |
//! | s = m + Σ s_r | `point` | its norm is what is minimised |
//! | μ = 1/(1+eˢ) | [`Marginals`] | probability of foreground |
//!
//! # Example
//!
//! A model from arrays: a row of four variables joined by edges, and a group of three that would rather agree.
//!
//! ```
//! use lfield::{factor::{Cardinality, Chain}, model::{Layer, Model}, solver};
//!
//! # fn main() -> lfield::Result<()> {
//! let row = Chain::new(vec![0.5, 2.0, 0.5])?;
//! let group = Cardinality::quadratic(3, 0, 3, 4.0)?;
//! let layers = vec![
//!     Layer::new(4, vec![(vec![0, 1, 2, 3], Box::new(row) as _)]),
//!     Layer::new(4, vec![(vec![1, 2, 3], Box::new(group) as _)]),
//! ];
//! let model = Model::new(vec![-2.0, -1.0, 0.5, 3.0], layers)?;
//! let solution = solver::solve(&model, &solver::Options::default(), &mut |_| std::ops::ControlFlow::Continue(()))?;
//! let marginals: Vec<f64> = solution.s.iter().map(|s| 1.0 / (1.0 + s.exp())).collect();
//! assert!(solution.set[0] && marginals[0] > marginals[3]);
//! assert!(solution.certificate.log_z_lower <= solution.certificate.log_z_upper);
//! # Ok(())
//! # }
//! ```
//!
//! `examples/own_unaries.rs` and `examples/without_image.rs` are longer. The modules follow the flow of the program; the inference
//! half ([`kernel`], [`factor`], [`model`], [`solver`], [`rival`]) knows nothing of pictures.

// The one-line comments are not doc comments: those would make rustdoc look for every link of a module's own `//!` here.

// The command line names the library as its other users do.
#[cfg(feature = "cli")]
extern crate self as lfield;

mod error;

pub use error::{Checkpoint, Error, Result};

pub use encode::report::Report;
pub use grid::{Marginals, Mask, Partition, Picture, Seed, Seeds, Shape, Truth, Unary};
pub use read::{Format, Limits};
pub use session::{Answer, Event, Matte, Method, Options, Output, Session, Warning};

// What stages hand to each other.
pub mod grid;

// Bytes → grid types.
pub mod read;

// Photo → regions of one colour.
pub mod superpixel;

// From strokes to log-odds: colour mixtures and stroke distance.
pub mod unary;

// Algorithms on slices.
pub mod kernel;

// Potentials, seen through their base polytopes.
pub mod factor;

// Unary and layers of disjoint factors.
pub mod model;

// Minimum norm, with proof.
pub mod solver;

// The paper's rivals: mean field and belief propagation.
pub mod rival;

// The seam: picture, unary, superpixels and strokes become a model.
pub mod assemble;

// The stages in order, from grid types to an answer.
pub mod session;

// How good an answer is, given the truth.
pub mod metric;

// Pictures, arrays and reports of the answer, as bytes.
pub mod encode;

// Files: names, staging, cache key.
pub mod store;

// Whole folders: batch and evaluate.
pub mod dataset;

// `lfield paint`: a local server and its page.
#[cfg(feature = "paint")]
pub mod paint;

// The program: flags, messages, bars, exit codes.
#[cfg(feature = "cli")]
pub mod cli;

/// The configuration of a property test that tries `n` cases on every change, and ten times as many with `LFIELD_NIGHTLY=1`.
#[cfg(test)]
fn cases(n: u32) -> proptest::test_runner::Config {
    let is_nightly = std::env::var_os("LFIELD_NIGHTLY").is_some_and(|value| !value.is_empty());
    proptest::test_runner::Config::with_cases(if is_nightly { 10 * n } else { n })
}
