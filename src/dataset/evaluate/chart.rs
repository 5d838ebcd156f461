//! `roc.svg`, `trimap.svg` and `calibration.svg`: the figures as curves.

use super::{Contender, Evaluation, Row};
use crate::encode::plot::{Axis, Chart, Series, Stroke};
use crate::metric::Curve;

impl Evaluation {
    /// Mean ROC curves, from the corner where methods differ.
    pub(super) fn roc(&self) -> Chart {
        let series = self.rows.iter().filter_map(|row| {
            let points = Curve::rates().zip(row.curve.as_ref()?.0.iter().copied()).collect();
            Some(series(row.method, legend(row, row.summary.unlabelled.mean.auc), points, false))
        });
        Chart {
            title: format!("ROC, mean of {} photos; the legend shows AUC", self.photos.len()),
            x: axis("false positive rate", (0.0, 0.5)),
            y: axis("true positive rate", (0.5, 1.0)),
            series: series.collect(),
            diagonal: false,
        }
    }

    /// AUC against the width of the trimap band.
    pub(super) fn trimap(&self) -> Chart {
        let points = |row: &Row| -> Vec<(f64, f64)> {
            let bands = row.summary.unlabelled.trimap.iter();
            bands.filter_map(|band| Some((f64::from(band.width), band.auc?))).collect()
        };
        let all: Vec<(f64, f64)> = self.rows.iter().flat_map(points).collect();
        let lowest = all.iter().map(|&(_, auc)| auc).fold(0.95, f64::min);
        let widest = all.iter().map(|&(width, _)| width).fold(1.0, f64::max);
        let curve = |row: &Row| series(row.method, legend(row, row.summary.unlabelled.mean.auct), points(row), true);
        Chart {
            title: format!("AUC near the true boundary, mean of {} photos; the legend shows AUCT", self.photos.len()),
            x: axis("pixels to either side of the boundary", (0.0, widest)),
            y: axis("AUC", ((lowest * 50.0).floor() / 50.0, 1.0)),
            series: self.rows.iter().map(curve).collect(),
            diagonal: false,
        }
    }

    /// Reliability: how often pixels with a probability are foreground.
    pub(super) fn calibration(&self) -> Chart {
        let points = |row: &Row| {
            let filled = row.calibration.bins.iter().filter(|bin| bin.pixels > 0);
            filled.map(|bin| (bin.probability / bin.pixels as f64, bin.foreground as f64 / bin.pixels as f64)).collect()
        };
        let curve = |row: &Row| {
            let ece = row.summary.unlabelled.mean.ece;
            series(row.method, legend(row, ece), points(row), true)
        };
        Chart {
            title: format!("Reliability on {} photos; the legend shows ECE", self.photos.len()),
            x: axis("probability given", (0.0, 1.0)),
            y: axis("share of foreground", (0.0, 1.0)),
            series: self.rows.iter().map(curve).collect(),
            diagonal: true,
        }
    }
}

fn axis(label: &str, range: (f64, f64)) -> Axis {
    Axis { label: label.into(), range }
}

fn legend(row: &Row, figure: Option<f64>) -> String {
    let figure = figure.map_or_else(String::new, |figure| format!("  {figure:.4}"));
    format!("{}{figure}", row.method.label())
}

pub(super) fn series(method: Contender, label: String, points: Vec<(f64, f64)>, marked: bool) -> Series {
    let (color, dash, width) = match method {
        Contender::Unary => ("#888888", "6 3", 2.0),
        Contender::MeanField => ("#e69f00", "6 3", 2.0),
        Contender::Bp => ("#cc79a7", "2 2", 2.0),
        Contender::Fbp => ("#d55e00", "8 3 2 3", 2.0),
        Contender::Cut => ("#0072b2", "none", 2.2),
        Contender::Hop => ("#009e73", "none", 2.2),
        Contender::Full => ("#56b4e9", "none", 2.2),
        Contender::Defaults => ("#000000", "none", 2.8),
    };
    Series { label, points, stroke: Stroke { color, dash, width }, marked }
}
