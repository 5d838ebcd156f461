//! What is known about every pixel alone: costs as given, or what the strokes teach.

use std::sync::Arc;

use super::Session;
use crate::grid::Unary;
use crate::unary::{self, Geodesic, Mixtures};
use crate::{Checkpoint, Error, Result};

/// m, and how it came about.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) unary: Unary,
    pub(super) mixtures: Option<Mixtures>,
    pub(super) geodesic: f64,
}

impl Session {
    /// Costs as given, plus the stroke distance if it has a fixed weight; or else what the strokes teach.
    pub(super) fn weigh(&self, checkpoint: Checkpoint<'_>) -> Result<Arc<Evidence>> {
        if let Some(known) = self.evidence.get(self.evidence_key(None)) {
            return Ok(known);
        }
        checkpoint()?;
        let costs = self.costs.as_ref().map(|costs| &*costs.value);
        let evidence = match (costs, self.seeds(), self.options.unary.geodesic) {
            (Some(costs), Some(seeds), Geodesic::Fixed(weight)) if weight > 0.0 => {
                let nearer = unary::stroke_distance(&self.picture, seeds, checkpoint)?;
                let values = costs.as_slice().iter().zip(nearer).map(|(m, nearer)| m - weight * nearer).collect();
                Evidence { unary: Unary::new(costs.shape(), values)?, mixtures: None, geodesic: weight }
            }
            (Some(_), None, Geodesic::Fixed(weight)) if weight > 0.0 => {
                return Err(Error::parameter(
                    "the weight of the stroke distance",
                    format!("{weight} without strokes"),
                    "0, or accompanied by strokes to measure from",
                ));
            }
            (Some(costs), ..) => Evidence { unary: costs.clone(), mixtures: None, geodesic: 0.0 },
            (None, Some(seeds), _) => {
                let learned = self.learn(seeds, checkpoint)?;
                Evidence { unary: learned.unary, mixtures: Some(learned.mixtures), geodesic: learned.geodesic }
            }
            (None, None, _) => {
                return Err(Error::MissingStroke { what: "the session".into(), class: "foreground and no background" });
            }
        };
        Ok(Arc::new(evidence))
    }
}
