//! `table.md`: the figures for people, beside the published ones.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::results::{Confidence, Relation, Sureness};
use super::{Evaluation, Options, Row};
use crate::metric::{Average, Figures};

impl Evaluation {
    /// The tables in Markdown.
    pub fn table(&self, options: &Options) -> String {
        let mut text = String::new();
        let mut put = |line: &str| writeln!(text, "{line}").expect("written to memory");
        put(&format!("# {} photo{}\n", self.photos.len(), if self.photos.len() == 1 { "" } else { "s" }));
        put(&self.preamble(options));
        put("\n## Scores\n");
        put("| method | AUC | AUCT | AUC, one setting | AUC, paper | AUCT, paper | settings |");
        put("| --- | --- | --- | --- | --- | --- | --- |");
        for row in &self.rows {
            put(&scores(row));
        }
        put(
            "\nMean ± standard deviation over photos. \"One setting\" is the one that is best for all photos together, with none held out: \
             the difference to the first column is what the choice costs. AUCT is the mean AUC over trimap bands around the true boundary. \
             The paper's figures are for 36 photos, with its own superpixels and unaries; the order of methods is what can be compared.",
        );
        put("\n## Masks and probabilities\n");
        put("| method | IoU | F1 | boundary F | error | Brier | ECE | entropy | sure and wrong |");
        put("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for row in &self.rows {
            put(&more(row, &row.summary.unlabelled));
        }
        put(
            "\nError is the share of wrong pixels, entropy the mean over pixels in nats, \"sure and wrong\" the share of the wrong pixels \
             whose probability is beyond 0.99 on the wrong side.",
        );
        put("\n## The same over all pixels, strokes included\n");
        put("| method | AUC | AUCT | IoU | F1 | boundary F | error | Brier | ECE | entropy | sure and wrong |");
        put("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for row in &self.rows {
            let average = &row.summary.all_pixels;
            let Figures { auc, auct, .. } = average.mean;
            let rest = more(row, average);
            let (label, rest) = rest.split_at(rest.find(" | ").unwrap_or(0));
            put(&format!("{label} | {} | {}{rest}", digits(auc), digits(auct)));
        }
        let relations = self.relations();
        if options.paper && !relations.is_empty() {
            put(&order(&relations));
        }
        put(&confidence(&self.confidence()));
        put("\n## Settings chosen\n");
        for row in self.rows.iter().filter(|row| !row.chosen.is_empty()) {
            put(&chosen(row));
        }
        let left_out: Vec<&str> = self
            .photos
            .iter()
            .enumerate()
            .filter(|(photo, _)| self.is_degenerate(*photo))
            .map(|(_, case)| &case.name[..])
            .collect();
        if !left_out.is_empty() {
            put(&format!("\n## Left out of the means\n\nThe truth has one class only: {}.", left_out.join(", ")));
        }
        if !self.failures.is_empty() {
            put("\n## Failed\n");
            for (case, error) in &self.failures {
                put(&format!("- {}: {error}", case.name));
            }
        }
        text
    }

    fn preamble(&self, options: &Options) -> String {
        let base = &options.base;
        let model = if options.paper { "the printed model (`--paper`)" } else { "the tool's own evidence" };
        let widths: Vec<String> = options.widths.iter().map(ToString::to_string).collect();
        format!(
            "Methods run on {model}: unaries from {} colours per class, outlier share {}, stroke distance {}, context {}, {} seeds, layers {}. \
             Scored are the pixels that carry no stroke and are not marked 128 in the truth. Settings are chosen by leave-one-out: each photo \
             is scored with the setting that has the best mean `{}` on all the others. Trimap bands reach {} pixels to either side of the boundary.",
            base.unary.components,
            base.unary.outlier,
            base.unary.geodesic,
            base.unary.context,
            match base.model.seeds {
                crate::assemble::SeedMode::Hard => "hard",
                crate::assemble::SeedMode::Soft => "soft",
            },
            base.layers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
            options.criterion.name(),
            widths.join(", "),
        )
    }
}

fn scores(row: &Row) -> String {
    let (mean, sd) = (row.summary.unlabelled.mean, row.summary.unlabelled.sd);
    let with = |mean: Option<f64>, sd: Option<f64>| match sd {
        Some(sd) => format!("{} ± {sd:.4}", digits(mean)),
        None => digits(mean),
    };
    let (auc, auct) = match row.method.published() {
        Some([auc, auc_sd, auct, auct_sd]) => (format!("{auc:.4} ± {auc_sd:.4}"), format!("{auct:.4} ± {auct_sd:.4}")),
        None => ("".into(), "".into()),
    };
    let (label, settings) = (row.method.label(), row.settings.len());
    let (own_auc, own_auct) = (with(mean.auc, sd.auc), with(mean.auct, sd.auct));
    let at_best = digits(row.at_best().unlabelled.mean.auc);
    format!("| {label} | {own_auc} | {own_auct} | {at_best} | {auc} | {auct} | {settings} |")
}

fn more(row: &Row, average: &Average) -> String {
    let Figures { iou, f1, boundary_f, error, brier, ece, entropy, overconfident, .. } = average.mean;
    let cells: Vec<String> = [iou, f1, boundary_f, error, brier, ece, entropy, overconfident].map(digits).to_vec();
    format!("| {} | {} |", row.method.label(), cells.join(" | "))
}

fn order(relations: &[Relation]) -> String {
    let mut text = String::from("\n## The paper's order\n\n");
    let mut put = |line: String| writeln!(text, "{line}").expect("written to memory");
    put("| in the paper | AUC here | AUCT here | AUC, one setting | holds |\n| --- | --- | --- | --- | --- |".into());
    for Relation { better, worse, auc, auct, auc_at_best } in relations {
        let holds = match (*auc > 0.0, *auct > 0.0) {
            (true, true) => "yes",
            (true, false) => "in AUC only",
            (false, true) => "in AUCT only",
            (false, false) => "**no**",
        };
        let (better, worse) = (better.label(), worse.label());
        put(format!("| {better} above {worse} | {auc:+.4} | {auct:+.4} | {auc_at_best:+.4} | {holds} |"));
    }
    let broken = |figure: fn(&Relation) -> f64| {
        let pairs = relations.iter().filter(|relation| figure(relation) <= 0.0);
        let pairs: Vec<String> = pairs.map(|r| format!("{} above {}", r.better.label(), r.worse.label())).collect();
        if pairs.is_empty() { "everywhere".to_string() } else { format!("except for {}", pairs.join("; ")) }
    };
    put(format!("\nThe order holds in AUC {}.", broken(|relation| relation.auc)));
    put(format!("It holds in AUCT {}.", broken(|relation| relation.auct)));
    put(format!("With one setting per method it holds in AUC {}.", broken(|relation| relation.auc_at_best)));
    text
}

fn confidence(settings: &[Confidence]) -> String {
    let Some(first) = settings.first() else { return String::new() };
    let labels: Vec<&str> = first.methods.iter().map(|sure| sure.method.label()).collect();
    let mut text = String::from("\n## How sure the errors are, at equal settings\n\n");
    let mut put = |line: String| writeln!(text, "{line}").expect("written to memory");
    put(format!("| setting | {} |", labels.join(" | ")));
    put(format!("| --- |{}", " --- |".repeat(labels.len())));
    for Confidence { setting, methods } in settings {
        let cell = |sure: &Sureness| format!("{} / {}", digits(sure.overconfident), digits(sure.entropy));
        put(format!("| {setting} | {} |", methods.iter().map(cell).collect::<Vec<_>>().join(" | ")));
    }
    put("\nShare of the wrong pixels with a probability beyond 0.99 on the wrong side / mean entropy of the probabilities, means over photos.".into());
    text
}

fn chosen(row: &Row) -> String {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    row.chosen.iter().for_each(|&setting| *counts.entry(setting).or_default() += 1);
    let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(setting, count)| (std::cmp::Reverse(count), setting));
    let list: Vec<String> =
        counts.iter().map(|(setting, count)| format!("{} ({count})", row.settings[*setting])).collect();
    format!("- {}: {}", row.method.label(), list.join("; "))
}

fn digits(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_string(), |value| format!("{value:.4}"))
}
