//! What is known about every pixel alone: costs as given, a network's probabilities as far as they are to be trusted, or what the strokes teach.

use std::sync::Arc;

use super::{Options, Session};
use crate::grid::Unary;
use crate::unary::{self, Geodesic, Mixtures, prior};
use crate::{Checkpoint, Error, Result};

/// m, and how it came about.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) unary: Unary,
    pub(super) mixtures: Option<Mixtures>,
    pub(super) geodesic: f64,
    /// How far a network's probabilities were trusted, where they are the costs.
    pub(super) prior: Option<prior::Fit>,
}

impl Session {
    /// Costs as given, plus the stroke distance if it has a fixed weight; or else what the strokes teach.
    pub(super) fn weigh(&self, checkpoint: Checkpoint<'_>) -> Result<Arc<Evidence>> {
        if let Some(known) = self.evidence.get(self.evidence_key(None)) {
            return Ok(known);
        }
        checkpoint()?;
        let given = self.costs.as_ref().map(|costs| &*costs.value);
        let network = match given.filter(|_| self.is_prior) {
            Some(network) => {
                let Options { prior, unary, .. } = &self.options;
                Some(prior::weigh(&self.picture, network, prior, unary.seed, checkpoint)?)
            }
            None => None,
        };
        let (costs, prior) = match &network {
            Some((costs, fit)) => (Some(costs), Some(*fit)),
            None => (given, None),
        };
        let evidence = match (costs, self.seeds(), self.options.unary.geodesic) {
            (Some(costs), Some(seeds), Geodesic::Fixed(weight)) if weight > 0.0 => {
                let nearer = unary::stroke_distance(&self.picture, seeds, checkpoint)?;
                let values = costs.as_slice().iter().zip(nearer).map(|(m, nearer)| m - weight * nearer).collect();
                Evidence { unary: Unary::new(costs.shape(), values)?, mixtures: None, geodesic: weight, prior }
            }
            (Some(_), None, Geodesic::Fixed(weight)) if weight > 0.0 => {
                return Err(Error::parameter(
                    "the weight of the stroke distance",
                    format!("{weight} without strokes"),
                    "0, or accompanied by strokes to measure from",
                ));
            }
            (Some(costs), ..) => Evidence { unary: costs.clone(), mixtures: None, geodesic: 0.0, prior },
            (None, Some(seeds), _) => {
                let learned = self.learn(seeds, checkpoint)?;
                let (mixtures, geodesic) = (Some(learned.mixtures), learned.geodesic);
                Evidence { unary: learned.unary, mixtures, geodesic, prior: None }
            }
            (None, None, _) => {
                return Err(Error::MissingStroke { what: "the session".into(), class: "foreground and no background" });
            }
        };
        Ok(Arc::new(evidence))
    }
}
