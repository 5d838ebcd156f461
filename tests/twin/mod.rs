//! The exact twin: what a certificate claims, recomputed without rounding.
//!
//! [`description`] draws a model of any scale from bytes. [`exact`] is the same submodular function in whole numbers: every double is a whole
//! multiple of a power of two, so F, its Lovász extension and the flows of the decomposition algorithm are exact, and s* is a fraction per
//! piece. [`judge`] solves with lfield and holds every claim against that: gap, distance, MAP, sides of ½, and log Z where all sets can be
//! listed ([`partition`], 256 bits). A claim that is not made (infinite, or `None`) is never false, but it is counted.

pub(crate) mod claim;
pub(crate) mod description;
pub(crate) mod exact;
mod flow;
pub(crate) mod judge;
mod partition;
