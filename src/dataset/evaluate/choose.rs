//! Which setting a method is judged with: for every photo the one that did best on all the others.
//!
//! So no photo has a say in the parameters it is scored with, and a method with more parameters to turn gains nothing by that alone.

use crate::metric::Figures;
use crate::{Error, Result};

/// The figure by which settings are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion(usize);

impl Criterion {
    /// Area under the ROC curve.
    pub const AUC: Self = Self(0);

    /// The figure with this name ([`Figures::NAMES`]).
    pub fn named(name: &str) -> Result<Self> {
        Figures::NAMES.iter().position(|&figure| figure == name).map(Self).ok_or_else(|| {
            Error::parameter("the figure to choose by", name, format!("one of {}", Figures::NAMES.join(", ")))
        })
    }

    /// The name of the figure.
    pub fn name(self) -> &'static str {
        Figures::NAMES[self.0]
    }

    /// The figure, turned so that more is better.
    pub(super) fn of(self, figures: &Figures) -> Option<f64> {
        let lower_is_better = matches!(self.name(), "error" | "brier" | "ece" | "entropy" | "overconfident");
        figures.values()[self.0].map(|value| if lower_is_better { -value } else { value })
    }
}

/// For every photo (row) the setting (column) with the largest mean over the other photos, the first of equals. A single photo has no
/// others and chooses for itself.
pub(super) fn leave_one_out(table: &[Vec<Option<f64>>]) -> Vec<usize> {
    (0..table.len()).map(|photo| best(table, |other| other != photo || table.len() == 1)).collect()
}

/// The setting with the largest mean over the photos that count, the first of equals.
pub(super) fn best(table: &[Vec<Option<f64>>], counts: impl Fn(usize) -> bool) -> usize {
    let n_settings = table.first().map_or(0, Vec::len);
    let mean = |setting: usize| {
        let known = (0..table.len()).filter(|&photo| counts(photo)).filter_map(|photo| table[photo][setting]);
        let (sum, count) = known.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
        if count > 0 { sum / f64::from(count) } else { f64::NEG_INFINITY }
    };
    let means: Vec<f64> = (0..n_settings).map(mean).collect();
    (0..n_settings).fold(0, |best, setting| if means[setting] > means[best] { setting } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_photo_has_no_say_in_its_own_parameters() {
        // The first photo loves setting 2, which the others hate.
        let table = [[0.1, 0.2, 1.0], [0.5, 0.6, 0.0], [0.7, 0.6, 0.0]].map(|row| row.map(Some).to_vec());
        assert_eq!(leave_one_out(&table), [0, 2, 2]);
        assert_eq!(best(&table, |_| true), 1);
    }

    #[test]
    fn photos_without_the_figure_do_not_count_and_the_first_of_equals_wins() {
        let table = vec![vec![None, None], vec![Some(0.5), Some(0.5)], vec![Some(0.2), Some(0.9)]];
        assert_eq!(leave_one_out(&table), [1, 1, 0]);
        assert_eq!(leave_one_out(&table[1..2]), [0]);
        assert_eq!(leave_one_out(&[]), [0; 0]);
        assert_eq!(leave_one_out(&table[..1]), [0]);
    }

    #[test]
    fn errors_are_to_be_small() {
        let figures = Figures { auc: Some(0.9), brier: Some(0.2), ..Figures::default() };
        assert_eq!(Criterion::AUC.of(&figures), Some(0.9));
        assert_eq!(Criterion::named("brier").unwrap().of(&figures), Some(-0.2));
        assert_eq!(Criterion::named("iou").unwrap().of(&figures), None);
        assert!(Criterion::named("beauty").unwrap_err().to_string().contains("boundary_f"));
    }
}
