//! `index.html`: one page to look through the results of a batch.
//!
//! Everything is in the file (style, script, thumbnails), so it opens from disk and can be sent around; only its links to the
//! outputs need the folder it is in. Rows are plain HTML, and the script only sorts and filters them: without it
//! they can still be read.

use std::io::{self, Write};

use super::report::{Entry, Line, State, Summary};
use crate::encode::{escaped, printable};
use crate::metric::Figures;

const TEMPLATE: &str = include_str!("page.html");

/// Beyond this many photos a page with pictures would be too heavy to open; the rows go on without.
const MOST_PICTURES: usize = 5000;

/// The rows of the page, as they come.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
}

/// A row in three parts: the scores are shown only where there are any.
struct Row {
    begin: String,
    scores: String,
    /// Figures, or the reason for there being none.
    end: std::result::Result<String, String>,
}

/// What a cell is sorted by, and what it shows.
type Cell = (f64, String);

/// A column that can be sorted by.
struct Column {
    title: &'static str,
    hint: &'static str,
    /// The class of its cells, where they are to be found by it.
    class: &'static str,
    cell: fn(&Line) -> Option<Cell>,
}

const fn column(title: &'static str, hint: &'static str, cell: fn(&Line) -> Option<Cell>) -> Column {
    Column { title, hint, class: "", cell }
}

const FIGURES: [Column; 7] = [
    column("MP", "megapixels", |line| pixels(line).map(|v| (v, format!("{:.2}", v / 1e6)))),
    column("object", "share of the photo inside the mask", |line| {
        let share = line.report.as_ref()?.map.area as f64 / pixels(line)?;
        Some((share, format!("{:.1} %", 100.0 * share)))
    }),
    column("sweeps", "iterations of the solver", |line| {
        Some(line.report.as_ref()?.solve.iterations as f64).map(|v| (v, v.to_string()))
    }),
    column("gap", "duality gap per free pixel", |line| {
        line.report.as_ref()?.solve.gap_per_pixel.map(|v| (v, format!("{v:.1e}")))
    }),
    column("proved", "share of pixels whose side of one half is proved; ✓ when the mask is proved optimal", |line| {
        let report = line.report.as_ref()?;
        let share = report.marginals.certified_pixels as f64 / pixels(line)?;
        let mark = if report.map.proved_optimal { " ✓" } else { "" };
        Some((share, format!("{:.1} %{mark}", 100.0 * share)))
    }),
    Column {
        class: "seconds",
        ..column("seconds", "from reading to writing", |line| {
            Some(line.report.as_ref()?.timing.total).map(|v| (v, format!("{v:.2}")))
        })
    },
    column("warnings", "what the report warns about", |line| {
        Some(line.report.as_ref()?.warnings.len()).map(|n| (n as f64, n.to_string()))
    }),
];

const SCORES: [Column; 3] = [
    column("AUC", "of the probabilities, on pixels without stroke", |line| score(line, |figures| figures.auc)),
    column("IoU", "of the mask, on pixels without stroke", |line| score(line, |figures| figures.iou)),
    column("error", "share of wrong pixels without stroke", |line| score(line, |figures| figures.error)),
];

fn pixels(line: &Line) -> Option<f64> {
    Some(line.report.as_ref()?.model.pixels as f64)
}

fn score(line: &Line, figure: fn(&Figures) -> Option<f64>) -> Option<Cell> {
    figure(&line.scores.as_ref()?.unlabelled.figures).map(|v| (v, format!("{v:.4}")))
}

impl Rows {
    pub(super) fn add(&mut self, entry: &Entry) {
        let line = &entry.line;
        let thumbnails = entry.thumbnails.as_ref().filter(|_| self.rows.len() < MOST_PICTURES);
        let name = escaped(&printable(&line.image));
        let mut row = String::new();
        let pictures = thumbnails
            .map(|t| [(&t.photo, "photo", ""), (&t.heatmap, "heatmap", "heatmap.png"), (&t.mask, "mask", "mask.png")]);
        for i in 0..3 {
            row += "<td class=\"pic\">";
            if let Some((address, what, output)) = pictures.map(|pictures| pictures[i]) {
                let image =
                    format!("<img src=\"{address}\" alt=\"{what} of {name}\" decoding=\"async\" loading=\"lazy\">");
                row += &linked(line, output, &image);
            }
            row += "</td>";
        }
        let warnings = line.report.iter().flat_map(|report| &report.warnings);
        let notes: String =
            warnings.map(|text| format!("<div class=\"note\">{}</div>", escaped(&printable(text)))).collect();
        row += &format!("<td class=\"name\" data-v=\"{name}\">{}{notes}</td>", linked(line, "report.json", &name));
        let status = match line.status {
            State::Done => "done",
            State::Failed => "failed",
            State::Skipped => "skipped",
            State::Pending => "pending",
        };
        let converged = line.report.as_ref().is_none_or(|report| report.solve.converged);
        let (class, shown) = if converged { (status, status) } else { ("no", "not converged") };
        row += &format!("<td class=\"{class}\" data-v=\"{status}\">{shown}</td>");
        let cells = |columns: &[Column]| columns.iter().map(|column| column.shown(line)).collect::<String>();
        let end = match line.error.as_ref().or(line.reason.as_ref()) {
            Some(reason) => Err(escaped(&printable(reason))),
            None => Ok(cells(&FIGURES)),
        };
        self.rows.push(Row { begin: row, scores: cells(&SCORES), end });
    }

    pub(super) fn write(self, summary: &Summary, file: &mut dyn Write) -> io::Result<()> {
        let mut columns: Vec<&Column> = FIGURES.iter().collect();
        if summary.counts.scored > 0 {
            columns.splice(0..0, &SCORES);
        }
        let mut head: String =
            ["photo", "heatmap", "mask"].map(|title| format!("<th class=\"pic\">{title}</th>")).concat();
        for (title, class) in [("image", "name"), ("status", "status")] {
            head += &format!("<th class=\"{class}\" data-kind=\"text\"><button>{title}</button></th>");
        }
        for Column { title, hint, .. } in &columns {
            head += &format!("<th data-kind=\"number\" title=\"{hint}\"><button>{title}</button></th>");
        }
        let counts = &summary.counts;
        let title = format!("{} of {} photos", counts.done, counts.images);
        // The rows come last: nothing is looked for in what strangers wrote.
        let (before, after) = TEMPLATE.split_once("{rows}").expect("the template has a place for rows");
        let before = before.replace("{title}", &title).replace("{facts}", &facts(summary)).replace("{head}", &head);
        file.write_all(before.as_bytes())?;
        let has_scores = summary.counts.scored > 0;
        for Row { begin, scores, end } in self.rows {
            match end {
                Ok(figures) if has_scores => writeln!(file, "<tr>{begin}{scores}{figures}</tr>")?,
                Ok(figures) => writeln!(file, "<tr>{begin}{figures}</tr>")?,
                // Where there are no figures, the reason has their place.
                Err(reason) => {
                    writeln!(file, "<tr>{begin}<td class=\"note\" colspan=\"{}\">{reason}</td></tr>", columns.len())?;
                }
            }
        }
        file.write_all(after.as_bytes())
    }
}

impl Column {
    fn shown(&self, line: &Line) -> String {
        match (self.cell)(line) {
            Some((value, shown)) => format!("<td class=\"{}\" data-v=\"{value}\">{shown}</td>", self.class),
            None => "<td></td>".to_string(),
        }
    }
}

/// Counts, which are buttons that show only such rows, and figures.
fn facts(summary: &Summary) -> String {
    let counts = &summary.counts;
    let mut facts = String::new();
    for (what, class, n) in [
        ("done", "done", counts.done),
        ("failed", "failed", counts.failed),
        ("skipped", "skipped", counts.skipped),
        ("pending", "pending", counts.pending),
        ("not converged", "no", counts.not_converged),
    ] {
        if n > 0 {
            facts += &format!(
                "<li><button class=\"{class}\" data-status=\"{what}\" aria-pressed=\"false\">{what}<b>{n}</b></button></li>"
            );
        }
    }
    let mut figures = vec![("megapixels", Some(format!("{:.2}", summary.megapixels)))];
    if let Some(scores) = &summary.scores {
        let mean = &scores.unlabelled.mean;
        for (what, value) in [("mean AUC", mean.auc), ("mean IoU", mean.iou), ("mean error", mean.error)] {
            figures.push((what, value.map(|value| format!("{value:.4}"))));
        }
    }
    for (what, value) in figures {
        facts += &value.map_or(String::new(), |value| format!("<li><span>{what}<b>{value}</b></span></li>"));
    }
    facts
}

/// `inner`, as a link to an output if there is one.
fn linked(line: &Line, output: &str, inner: &str) -> String {
    let stem = line.stem.as_deref().unwrap_or_default();
    let name = format!("{}.{output}", stem.rsplit('/').next().unwrap_or_default());
    let there = line.report.as_ref().is_some_and(|report| report.outputs.contains(&name));
    if there { format!("<a href=\"{}\">{inner}</a>", address(&format!("{stem}.{output}"))) } else { inner.to_string() }
}

/// A relative address: every byte that is not plain is escaped, and no name can pass for a scheme.
fn address(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    path.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(address("a b/ü?#:.png"), "a%20b/%C3%BC%3F%23%3A.png");
    }
}
