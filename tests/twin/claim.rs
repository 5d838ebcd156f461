//! What a solution claims, in one place: whatever the types of its fields become, only this file has to know.

use lfield::solver::{Solution, Status};

/// A number that is claimed, or not.
pub(crate) trait Claim {
    fn made(self) -> Option<f64>;
}

impl Claim for f64 {
    fn made(self) -> Option<f64> {
        Some(self)
    }
}

impl Claim for Option<f64> {
    fn made(self) -> Option<f64> {
        self
    }
}

/// All claims of one solution. Nothing is claimed by `None`, nor by a bound at infinity.
#[derive(Debug)]
pub(crate) struct Claims {
    pub(crate) s: Vec<f64>,
    pub(crate) base: Vec<f64>,
    pub(crate) set: Vec<bool>,
    pub(crate) converged: bool,
    pub(crate) gap: Option<f64>,
    pub(crate) gap_per_pixel: Option<f64>,
    pub(crate) error_bound: Option<f64>,
    pub(crate) bounds: Vec<f64>,
    pub(crate) log_z_upper: Option<f64>,
    pub(crate) log_z_lower: Option<f64>,
    pub(crate) renyi_infinity_upper: Option<f64>,
    pub(crate) map_energy: Option<f64>,
    pub(crate) map_lower_bound: Option<f64>,
    pub(crate) map_gap: Option<f64>,
    pub(crate) map_proved_optimal: bool,
    pub(crate) certified: Vec<bool>,
}

impl Claims {
    pub(crate) fn of(solution: Solution) -> Self {
        let proof = solution.certificate;
        Self {
            s: solution.s,
            base: solution.base,
            set: solution.set,
            converged: solution.status == Status::Converged,
            gap: proof.gap.made(),
            gap_per_pixel: proof.gap_per_pixel.made(),
            error_bound: proof.error_bound.made(),
            bounds: proof.bounds,
            log_z_upper: proof.log_z_upper.made(),
            log_z_lower: proof.log_z_lower.made(),
            renyi_infinity_upper: proof.renyi_infinity_upper.made(),
            map_energy: proof.map_energy.made(),
            map_lower_bound: proof.map_lower_bound.made(),
            map_gap: proof.map_gap.made(),
            map_proved_optimal: proof.map_proved_optimal,
            certified: proof.certified,
        }
    }
}
