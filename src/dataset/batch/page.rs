//! `index.html`: one page to look through the results of a batch.
//!
//! Everything is in the file (style, script, thumbnails), so it opens from disk and can be sent around; only its links to the
//! outputs need the folder it is in. Rows are plain HTML, and the script only sorts and filters them: without it
//! they can still be read.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::report::{Entry, Summary};

const TEMPLATE: &str = include_str!("page.html");

/// Beyond this many photos a page with pictures would be too heavy to open; the rows go on without.
const MOST_PICTURES: usize = 5000;

/// The rows of the page, as they come.
#[derive(Default)]
pub(super) struct Rows {
    lines: Vec<(Line, String)>,
}

/// What a batch says about a photo.
type Line = Map<String, Value>;

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

const FIGURES: [Column; 7] = [
    Column {
        title: "MP",
        hint: "megapixels",
        class: "",
        cell: |line| number(line, "model/pixels").map(|v| (v, format!("{:.2}", v / 1e6))),
    },
    Column {
        title: "object",
        hint: "share of the photo inside the mask",
        class: "",
        cell: |line| {
            let share = number(line, "map/area")? / number(line, "model/pixels")?;
            Some((share, format!("{:.1} %", 100.0 * share)))
        },
    },
    Column {
        title: "sweeps",
        hint: "iterations of the solver",
        class: "",
        cell: |line| number(line, "solve/iterations").map(|v| (v, v.to_string())),
    },
    Column {
        title: "gap",
        hint: "duality gap per free pixel",
        class: "",
        cell: |line| number(line, "solve/gap_per_pixel").map(|v| (v, format!("{v:.1e}"))),
    },
    Column {
        title: "proved",
        hint: "share of pixels whose side of one half is proved; ✓ when the mask is proved optimal",
        class: "",
        cell: |line| {
            let share = number(line, "marginals/certified_pixels")? / number(line, "model/pixels")?;
            let optimal = at(line, "map/proved_optimal").and_then(Value::as_bool) == Some(true);
            Some((share, format!("{:.1} %{}", 100.0 * share, if optimal { " ✓" } else { "" })))
        },
    },
    Column {
        title: "seconds",
        hint: "from reading to writing",
        class: "seconds",
        cell: |line| number(line, "timing/total").map(|v| (v, format!("{v:.2}"))),
    },
    Column {
        title: "warnings",
        hint: "what the report warns about",
        class: "",
        cell: |line| {
            at(line, "warnings").and_then(Value::as_array).map(|list| (list.len() as f64, list.len().to_string()))
        },
    },
];

const SCORES: [Column; 3] = [
    Column {
        title: "AUC",
        hint: "of the probabilities, on pixels without stroke",
        class: "",
        cell: |line| score(line, "auc"),
    },
    Column { title: "IoU", hint: "of the mask, on pixels without stroke", class: "", cell: |line| score(line, "iou") },
    Column {
        title: "error",
        hint: "share of wrong pixels without stroke",
        class: "",
        cell: |line| score(line, "error"),
    },
];

/// A value inside a line, by its path.
pub(super) fn at<'a>(line: &'a Line, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let value = line.get(first)?;
    if rest.is_empty() { Some(value) } else { value.pointer(&format!("/{rest}")) }
}

fn number(line: &Line, path: &str) -> Option<f64> {
    at(line, path)?.as_f64()
}

fn score(line: &Line, name: &str) -> Option<Cell> {
    number(line, &format!("scores/unlabelled/{name}")).map(|v| (v, format!("{v:.4}")))
}

fn text<'a>(line: &'a Line, key: &str) -> &'a str {
    line.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Rows {
    pub(super) fn add(&mut self, entry: &Entry) {
        let line = &entry.line;
        let thumbnails = entry.thumbnails.as_ref().filter(|_| self.lines.len() < MOST_PICTURES);
        let name = text(line, "image");
        let mut row = String::new();
        let pictures = thumbnails
            .map(|t| [(&t.photo, "photo", ""), (&t.heatmap, "heatmap", "heatmap.png"), (&t.mask, "mask", "mask.png")]);
        for i in 0..3 {
            row += "<td class=\"pic\">";
            if let Some((address, what, output)) = pictures.map(|pictures| pictures[i]) {
                let image = format!(
                    "<img src=\"{address}\" alt=\"{what} of {}\" decoding=\"async\" loading=\"lazy\">",
                    escaped(name)
                );
                row += &linked(line, output, &image);
            }
            row += "</td>";
        }
        let warnings = at(line, "warnings").and_then(Value::as_array);
        let warnings = warnings.into_iter().flatten().filter_map(Value::as_str);
        let notes: String = warnings.map(|text| format!("<div class=\"note\">{}</div>", escaped(text))).collect();
        let name = escaped(name);
        row += &format!("<td class=\"name\" data-v=\"{name}\">{}{notes}</td>", linked(line, "report.json", &name));
        let status = escaped(text(line, "status"));
        let converged = at(line, "solve/converged").and_then(Value::as_bool) != Some(false);
        let (class, shown) = if converged { (&*status, &*status) } else { ("no", "not converged") };
        row += &format!("<td class=\"{class}\" data-v=\"{status}\">{shown}</td>");
        // Of the line, only what columns show is kept until the page is made.
        let kept = ["error", "reason", "scores", "model", "map", "solve", "marginals", "timing", "warnings"];
        let line = line.iter().filter(|(key, _)| kept.contains(&key.as_str()));
        self.lines.push((line.map(|(key, value)| (key.clone(), value.clone())).collect(), row));
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
        for (line, begin) in self.lines {
            let reason = line.get("error").or(line.get("reason")).and_then(Value::as_str);
            let figures = match reason {
                // Where there are no figures, the reason has their place.
                Some(reason) => format!("<td class=\"note\" colspan=\"{}\">{}</td>", columns.len(), escaped(reason)),
                None => columns.iter().map(|column| column.shown(&line)).collect(),
            };
            writeln!(file, "<tr>{begin}{figures}</tr>")?;
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
    let stem = text(line, "stem");
    let name = format!("{}.{output}", stem.rsplit('/').next().unwrap_or_default());
    let outputs = at(line, "outputs").and_then(Value::as_array);
    let there = outputs.is_some_and(|outputs| outputs.iter().any(|output| output.as_str() == Some(&name)));
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

fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result += "&amp;",
            '<' => result += "&lt;",
            '>' => result += "&gt;",
            '"' => result += "&quot;",
            '\'' => result += "&#39;",
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(escaped("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
        assert_eq!(address("a b/ü?#:.png"), "a%20b/%C3%BC%3F%23%3A.png");
    }

    #[test]
    fn values_are_found_by_path() {
        let line: Map<String, Value> = serde_json::from_str(r#"{"solve": {"gap": 0.5}, "index": 3}"#).unwrap();
        assert_eq!(number(&line, "solve/gap"), Some(0.5));
        assert_eq!(number(&line, "index"), Some(3.0));
        assert_eq!(number(&line, "solve/none"), None);
        assert_eq!(number(&line, "none/gap"), None);
    }
}
