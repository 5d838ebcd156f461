//! A list of photos with their strokes, truths and options, as CSV, as one JSON object per line, or as one JSON array of such objects.
//!
//! ```text
//! image,scribbles,truth,beta        {"image": "a.jpg", "beta": 40, "superpixels": ["a1.png", "a2.png"]}
//! a.jpg,strokes/a.png,,40           {"image": "b.jpg", "paper": true}
//! ```
//!
//! Columns other than `image`, `scribbles` and `truth` are options of `segment`, with or without dashes in their names; what an empty
//! cell, `null` or `false` means is that the option was not given. Which of the forms it is, the first character tells.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::session::Overlay;
use crate::{Error, Result};

/// One photo of the list. Paths are as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Line of the file, from 1.
    pub line: u64,
    /// The photo.
    pub image: String,
    /// The strokes, if they are named.
    pub scribbles: Option<String>,
    /// The truth, if it is named.
    pub truth: Option<String>,
    /// The file of costs in place of colour mixtures, or of probabilities.
    pub unary: Option<String>,
    /// The file of probabilities in place of colour mixtures.
    pub prior: Option<String>,
    /// Files in place of mean shift.
    pub superpixels: Vec<String>,
    /// Options by name, without the leading dashes.
    pub options: Map<String, Value>,
}

/// Room for millions of photos; a list without an end is none.
const MOST_BYTES: u64 = 256 << 20;

/// The rows of a manifest, in its order.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(Error::unreadable(path))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(Error::unreadable(path))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refusal(path, "is larger than 256 MB", "divide it into several lists"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refusal(path, "is not UTF-8 text", "save it as UTF-8"))?;
    let text = text.trim_start_matches('\u{feff}');
    let rows = match text.trim_start().as_bytes().first() {
        Some(b'{') => from_lines(path, text)?,
        Some(b'[') => from_array(path, text)?,
        _ => from_csv(path, text)?,
    };
    match rows.iter().find(|row| row.image.is_empty()) {
        Some(row) => Err(at(path, row.line, "names no image", "fill in `image`")),
        None => Ok(rows),
    }
}

fn from_csv(path: &Path, text: &str) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let broken = |error: csv::Error| refusal(path, &format!("is no proper CSV ({error})"), "check quotes and commas");
    let header: Vec<String> = reader.headers().map_err(broken)?.iter().map(column).collect();
    if !header.iter().any(|name| name == "image") {
        return Err(refusal(
            path,
            "has no column `image`",
            "name the columns in its first line: image,scribbles,truth,…",
        ));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let mut row = Row { line: record.position().map_or(0, csv::Position::line), ..Row::default() };
        for (name, value) in header.iter().zip(&record).filter(|(_, value)| !value.is_empty()) {
            row.put(name, vec![value.to_string()]);
        }
        rows.push(row);
    }
    Ok(rows)
}

fn from_lines(path: &Path, text: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let object = serde_json::from_str(text).map_err(|error| {
            let remedy = "write one object per line, or all of them between [ and ]";
            at(path, line, &format!("is no JSON object ({error})"), remedy)
        })?;
        rows.push(from_object(path, line, &object)?);
    }
    Ok(rows)
}

/// One array of objects; where a row comes from is said by its number.
fn from_array(path: &Path, text: &str) -> Result<Vec<Row>> {
    let objects: Vec<Map<String, Value>> = serde_json::from_str(text).map_err(|error| {
        refusal(path, &format!("is no JSON array of objects ({error})"), "write [{\"image\": …}, …]")
    })?;
    (1..).zip(&objects).map(|(place, object)| from_object(path, place, object)).collect()
}

fn from_object(path: &Path, line: u64, object: &Map<String, Value>) -> Result<Row> {
    let mut row = Row { line, ..Row::default() };
    for (name, value) in object {
        let values: Option<Vec<String>> = match value {
            Value::Array(values) => values.iter().map(plain).collect(),
            value => plain(value).map(|value| vec![value]),
        };
        let values = values
            .ok_or_else(|| at(path, line, &format!("has an object under `{name}`"), "give text, a number or a list"))?;
        row.put(&column(name), values.into_iter().filter(|value| !value.is_empty()).collect());
    }
    Ok(row)
}

/// A value as it would be typed; empty when it means nothing was given.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => Some(String::new()),
        Value::Bool(true) => Some("true".to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn column(name: &str) -> String {
    name.trim().trim_start_matches('-').to_lowercase().replace('_', "-")
}

impl Row {
    fn put(&mut self, name: &str, values: Vec<String>) {
        let Some(first) = values.first() else { return };
        match name {
            "image" => self.image.clone_from(first),
            "scribbles" => self.scribbles = Some(first.clone()),
            "truth" => self.truth = Some(first.clone()),
            "unary" => self.unary = Some(first.clone()),
            "prior" => self.prior = Some(first.clone()),
            "superpixels" => self.superpixels = values,
            _ if first == "false" => {}
            _ => {
                self.options.insert(name.to_string(), values.into());
            }
        }
    }

    /// The options it sets, on top of others. What makes no sense comes back as a phrase.
    pub(super) fn overlay(&self) -> std::result::Result<Overlay, String> {
        // One value is said as one value, so that a message does not speak of lists.
        let plain = |value: &Value| match value {
            Value::Array(list) if list.len() == 1 => list[0].clone(),
            value => value.clone(),
        };
        let options: Map<String, Value> =
            self.options.iter().map(|(name, value)| (name.clone(), plain(value))).collect();
        Overlay::deserialize(Value::Object(options)).map_err(|error| {
            match error.to_string().strip_prefix("unknown field") {
                Some(rest) => format!("an unknown option{rest}"),
                None => format!("a value that makes no sense ({error})"),
            }
        })
    }
}

/// What is wrong with one line of a manifest.
pub fn at(path: &Path, line: u64, problem: &str, remedy: &str) -> Error {
    refusal(path, &format!("line {line} {problem}"), remedy)
}

fn refusal(path: &Path, problem: &str, remedy: &str) -> Error {
    Error::unsuitable(path, problem, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Row>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn both_forms_say_the_same() {
        let csv = "\u{feff}image, scribbles,truth,beta,--scribble_format,paper,superpixels\n\
                   a b.jpg,s/a.png,,40,labels,true,one.png\n\n\"c,d.jpg\",,t.png,,,false,\n";
        let json = "{\"image\": \"a b.jpg\", \"scribbles\": \"s/a.png\", \"beta\": 40, \"scribble-format\": \"labels\", \"paper\": true, \"superpixels\": [\"one.png\"]}\n\
                    \n{\"image\": \"c,d.jpg\", \"truth\": \"t.png\", \"beta\": null, \"paper\": false, \"emit\": []}\n";
        let array = format!("[\n{}]", json.trim().replace("\n\n", ",\n"));
        let rows = [rows(csv).unwrap(), rows(json).unwrap(), rows(&array).unwrap()]
            .map(|rows| rows.into_iter().map(|row| Row { line: 0, ..row }).collect::<Vec<_>>());
        assert_eq!(rows[0], rows[1]);
        assert_eq!(rows[0], rows[2]);
        let expected = r#"{"beta": ["40"], "scribble-format": ["labels"], "paper": ["true"]}"#;
        assert_eq!(Value::Object(rows[0][0].options.clone()), serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(rows[0][0].superpixels, ["one.png"]);
        let overlay = rows[0][0].overlay().unwrap();
        assert_eq!((overlay.beta, overlay.paper), (Some(40.0), Some(true)));
        assert_eq!(rows[0][1], Row { image: "c,d.jpg".into(), truth: Some("t.png".into()), ..Row::default() });
    }

    #[test]
    fn what_is_wrong_is_said_with_the_line() {
        for (text, part) in [
            ("", "no column `image`"),
            ("photo\na.jpg\n", "no column `image`"),
            ("image,beta\na.jpg,1,2\n", "line: 2"),
            ("image,beta\na.jpg,1\n,2\n", "line 3"),
            ("{\"image\": \"a.jpg\"}\n{\"image\": }\n", "line 2"),
            ("{\"beta\": 3}\n", "line 1"),
            ("[{\"image\": \"a.jpg\"}, {\"beta\": 3}]", "line 2"),
            ("[\"a.jpg\", \"b.jpg\"]", "JSON array of objects"),
            ("[{\"image\": \"a.jpg\"}", "JSON array of objects"),
            ("{\"image\": \"a.jpg\", \"options\": {\"beta\": 1}}\n", "options"),
        ] {
            let message = rows(text).unwrap_err().to_string();
            assert!(message.contains(part), "{part} in {message}");
        }
    }
}
