//! Strokes in the JSON of annotation tools: labelme's shapes, and COCO's masks as run lengths or polygons.
//!
//! Shapes called `background` (or bg, back, negative, 0) are background; those of the one other name are foreground. Areas (polygon,
//! rectangle, circle, mask) count every pixel whose centre is inside; points and lines are painted with a round brush whose radius is 1 % of
//! the photo's shorter side. Later shapes lie over earlier ones. Read as a `trimap`, what no shape covers is background.

use std::path::Path;

use serde::Deserialize;

use super::{Format, Strokes};
use crate::grid::{Seed, Seeds, Shape};
use crate::read::picture::decode_memory;
use crate::read::{HEADER_BYTES, Limits, Source};
use crate::{Error, Result};

/// Whether bytes begin like JSON.
pub(super) fn is_meant(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Whether there is such a file, made by one of the tools; other programs leave JSON beside photos as well.
pub(super) fn is_file(path: &Path) -> bool {
    let is_known =
        |bytes: Vec<u8>| serde_json::from_slice::<Document>(&bytes).is_ok_and(|document| document.is_known());
    path.is_file() && std::fs::read(path).is_ok_and(is_known)
}

/// Reads the strokes for a photo of that shape.
pub(super) fn read(path: &Path, source: &mut Source, shape: Shape, format: Format, limits: &Limits) -> Result<Strokes> {
    let bytes = source.take(HEADER_BYTES + 16 * limits.max_pixels.min(1 << 28))?;
    let refuse = |problem: String, remedy: &str| Error::unsuitable(path, problem, remedy);
    let document: Document = serde_json::from_slice(&bytes).map_err(|error| {
        refuse(format!("is no JSON of labelme or COCO ({error})"), "save the strokes as a PNG, or export them again")
    })?;
    let own = match &document {
        Document { shapes: Some(_), .. } => Format::Labelme,
        document if document.is_known() => Format::Coco,
        _ => {
            return Err(refuse(
                "holds neither labelme's shapes nor COCO's annotations".into(),
                "export the strokes as labelme or COCO JSON, or save them as a PNG",
            ));
        }
    };
    if ![Format::Auto, Format::Trimap, own].contains(&format) {
        return Err(refuse(format!("is {own} JSON and no {format} image"), "leave the format to be found out"));
    }
    let found = document.size();
    if let Some(found) = found.filter(|&found| found != shape) {
        return Err(Error::SizeMismatch { what: path.display().to_string(), found, photo: shape });
    }
    let painted = document.layers(path, shape, limits)?;
    let names = names(&painted).map_err(|(problem, remedy)| refuse(problem, remedy))?;
    let outside = if format == Format::Trimap { Seed::Background } else { Seed::Unlabelled };
    let mut labels = vec![outside; shape.n_pixels()];
    for (layer, seed) in painted.iter().zip(names) {
        for (label, &inside) in labels.iter_mut().zip(&layer.inside) {
            if inside {
                *label = seed;
            }
        }
    }
    let seeds = Seeds::new(shape, labels);
    let (foreground, background) = (seeds.count(Seed::Foreground), seeds.count(Seed::Background));
    let reason = (format == Format::Auto).then(|| format!("it is {own} JSON"));
    let (path, digest) = (path.to_path_buf(), source.digest());
    Ok(Strokes { path, seeds, format: own, reason, foreground, background, digest, warnings: Vec::new() })
}

/// The pixels of one shape, and what it is called.
struct Painted {
    name: String,
    inside: Vec<bool>,
}

/// The class of every shape; a phrase and a remedy when the names do not tell.
fn names(painted: &[Painted]) -> Result<Vec<Seed>, (String, &'static str)> {
    const BACKGROUND: [&str; 7] = ["background", "_background_", "bg", "back", "negative", "neg", "0"];
    let is_background = |name: &str| BACKGROUND.contains(&name.trim().to_lowercase().as_str());
    let mut others: Vec<&str> = painted.iter().map(|layer| &*layer.name).filter(|name| !is_background(name)).collect();
    others.sort_unstable();
    others.dedup();
    if others.len() > 1 {
        let remedy = "call the strokes on the object foreground and those around it background";
        return Err((
            format!("has shapes called {}, and one of these has to be the object", others.join(", ")),
            remedy,
        ));
    }
    let seed = |layer: &Painted| if is_background(&layer.name) { Seed::Background } else { Seed::Foreground };
    Ok(painted.iter().map(seed).collect())
}

/// What is read of either format; a bare run-length mask is COCO as well.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "imageWidth")]
    width: Option<usize>,
    #[serde(rename = "imageHeight")]
    height: Option<usize>,
    shapes: Option<Vec<LabelmeShape>>,
    #[serde(default)]
    images: Vec<CocoImage>,
    annotations: Option<Vec<CocoAnnotation>>,
    #[serde(default)]
    categories: Vec<CocoCategory>,
    counts: Option<Counts>,
    size: Option<[usize; 2]>,
}

#[derive(Deserialize)]
struct LabelmeShape {
    label: String,
    points: Vec<[f64; 2]>,
    #[serde(default)]
    shape_type: Option<String>,
    #[serde(default)]
    mask: Option<String>,
}

#[derive(Deserialize)]
struct CocoImage {
    id: serde_json::Value,
    width: Option<usize>,
    height: Option<usize>,
    #[serde(default)]
    file_name: Option<String>,
}

#[derive(Deserialize)]
struct CocoAnnotation {
    #[serde(default)]
    image_id: serde_json::Value,
    #[serde(default)]
    category_id: serde_json::Value,
    segmentation: Segmentation,
}

#[derive(Deserialize)]
struct CocoCategory {
    id: serde_json::Value,
    name: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Segmentation {
    Runs { counts: Counts, size: [usize; 2] },
    Polygons(Vec<Vec<f64>>),
}

/// Lengths of runs down the columns, outside and inside in turn: plain, or packed as COCO's own tools do.
#[derive(Deserialize)]
#[serde(untagged)]
enum Counts {
    Plain(Vec<usize>),
    Packed(String),
}

impl Document {
    fn is_known(&self) -> bool {
        self.shapes.is_some() || self.annotations.is_some() || self.counts.is_some() && self.size.is_some()
    }

    /// The size of the photo, where the file says it for a single one.
    fn size(&self) -> Option<Shape> {
        let of_image = match &self.images[..] {
            [only] => only.width.zip(only.height),
            _ => None,
        };
        let bare = self.size.map(|[height, width]| (width, height));
        self.width.zip(self.height).or(of_image).or(bare).map(|(width, height)| Shape::new(width, height))
    }

    /// Every shape as pixels, in the order of the file.
    fn layers(&self, path: &Path, shape: Shape, limits: &Limits) -> Result<Vec<Painted>> {
        let damaged = |problem: &str| Error::Damaged { path: path.to_path_buf(), problem: problem.to_string() };
        let mut painted = Vec::new();
        for found in self.shapes.iter().flatten() {
            let inside = found.pixels(path, shape, limits)?;
            painted.push(Painted { name: found.label.clone(), inside });
        }
        let runs = |counts: &Counts, size: [usize; 2]| {
            if size != [shape.height, shape.width] {
                let found = Shape::new(size[1], size[0]);
                return Err(Error::SizeMismatch { what: path.display().to_string(), found, photo: shape });
            }
            counts.pixels(shape).ok_or_else(|| damaged("its runs are not as long as the photo has pixels"))
        };
        if let (Some(counts), Some(size)) = (&self.counts, self.size) {
            painted.push(Painted { name: "foreground".into(), inside: runs(counts, size)? });
        }
        let wanted = self.image(path)?;
        for found in self.annotations.iter().flatten() {
            if wanted.is_some_and(|id| *id != found.image_id) {
                continue;
            }
            let inside = match &found.segmentation {
                Segmentation::Runs { counts, size } => runs(counts, *size)?,
                Segmentation::Polygons(polygons) => {
                    let rings: Vec<Vec<[f64; 2]>> = polygons.iter().map(|flat| flat.as_chunks().0.to_vec()).collect();
                    fill(shape, &rings)
                }
            };
            let category = self.categories.iter().find(|category| category.id == found.category_id);
            let name = category.map_or_else(|| found.category_id.to_string(), |category| category.name.clone());
            painted.push(Painted { name, inside });
        }
        Ok(painted)
    }

    /// Which image of several is meant: the one with the stem of this file. A single one, or none listed, is meant anyway.
    fn image(&self, path: &Path) -> Result<Option<&serde_json::Value>> {
        if self.images.len() < 2 {
            return Ok(None);
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_own = |image: &&CocoImage| {
            let name = Path::new(image.file_name.as_deref().unwrap_or_default())
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy();
            !name.is_empty() && stem.starts_with(&*name)
        };
        match self.images.iter().find(is_own) {
            Some(image) => Ok(Some(&image.id)),
            None => Err(Error::unsuitable(
                path,
                format!("holds {} images and none of this file's name", self.images.len()),
                "export one file per photo, named after it",
            )),
        }
    }
}

impl LabelmeShape {
    fn pixels(&self, path: &Path, shape: Shape, limits: &Limits) -> Result<Vec<bool>> {
        let radius = (0.01 * shape.width.min(shape.height) as f64).max(1.0);
        let kind = self.shape_type.as_deref().unwrap_or("polygon");
        let damaged = |problem: String| Error::Damaged { path: path.to_path_buf(), problem };
        let points = match (kind, &self.points[..]) {
            (_, []) => return Err(damaged(format!("its {kind} {:?} has no point", self.label))),
            (_, points) if points.iter().flatten().any(|coordinate| !coordinate.is_finite()) => {
                return Err(damaged(format!("its {kind} {:?} has a point that is no number", self.label)));
            }
            (_, points) => points,
        };
        Ok(match (kind, points) {
            ("polygon", _) => fill(shape, &[points.to_vec()]),
            ("rectangle", &[[left, top], [right, bottom], ..]) => {
                fill(shape, &[vec![[left, top], [right, top], [right, bottom], [left, bottom]]])
            }
            ("circle", &[centre, edge, ..]) => {
                let radius = (centre[0] - edge[0]).hypot(centre[1] - edge[1]);
                sweep(shape, &[centre], radius)
            }
            ("point" | "points", _) => points
                .iter()
                .fold(vec![false; shape.n_pixels()], |inside, point| or(inside, &sweep(shape, &[*point], radius))),
            ("line" | "linestrip", _) => sweep(shape, points, radius),
            ("mask", &[corner, ..]) => {
                let mask = self.mask.as_deref().and_then(from_base64);
                let mask = mask.ok_or_else(|| damaged(format!("its mask {:?} is no PNG in base64", self.label)))?;
                let image = decode_memory(path, &mask, limits, None)?.image.into_luma8();
                let [left, top] = corner.map(|coordinate| coordinate.round() as i64);
                let is_inside = |pixel: usize| {
                    let (x, y) = ((pixel % shape.width) as i64 - left, (pixel / shape.width) as i64 - top);
                    let place = u32::try_from(x).ok().zip(u32::try_from(y).ok());
                    place.and_then(|(x, y)| image.get_pixel_checked(x, y)).is_some_and(|level| level.0[0] > 0)
                };
                (0..shape.n_pixels()).map(is_inside).collect()
            }
            (kind, _) => {
                return Err(Error::unsuitable(
                    path,
                    format!("has a shape {:?} of the kind {kind}", self.label),
                    "use polygon, rectangle, circle, linestrip, line, point or mask",
                ));
            }
        })
    }
}

fn or(a: Vec<bool>, b: &[bool]) -> Vec<bool> {
    a.into_iter().zip(b).map(|(a, &b)| a || b).collect()
}

/// Pixels whose centre is inside rings, by the even–odd rule. Each side of a ring crosses the rows of centres between its ends.
fn fill(shape: Shape, rings: &[Vec<[f64; 2]>]) -> Vec<bool> {
    let Shape { width, height } = shape;
    let mut crossings: Vec<Vec<f64>> = vec![Vec::new(); height];
    for ring in rings {
        for (&[x0, y0], &[x1, y1]) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let (low, high) = if y0 < y1 { (y0, y1) } else { (y1, y0) };
            let first = (low - 0.5).ceil().clamp(0.0, height as f64) as usize;
            let last = (high - 0.5).ceil().clamp(0.0, height as f64) as usize;
            for (row, crossings) in crossings.iter_mut().enumerate().take(last).skip(first) {
                let y = row as f64 + 0.5;
                crossings.push(x0 + (y - y0) / (y1 - y0) * (x1 - x0));
            }
        }
    }
    let mut inside = vec![false; shape.n_pixels()];
    for (row, mut crossings) in inside.chunks_exact_mut(width).zip(crossings) {
        crossings.sort_by(f64::total_cmp);
        for pair in crossings.as_chunks::<2>().0 {
            let [from, to] = pair.map(|x| (x - 0.5).ceil().clamp(0.0, width as f64) as usize);
            row[from..to].fill(true);
        }
    }
    inside
}

/// Pixels whose centre is at most `radius` from a line through points.
fn sweep(shape: Shape, points: &[[f64; 2]], radius: f64) -> Vec<bool> {
    let mut inside = vec![false; shape.n_pixels()];
    let sides = points.windows(2).map(|pair| (pair[0], pair[1])).chain(points.first().map(|&point| (point, point)));
    for ([x0, y0], [x1, y1]) in sides {
        let range = |a: f64, b: f64, n: usize| {
            let clamp = |x: f64| x.clamp(0.0, n as f64) as usize;
            clamp((a.min(b) - radius).floor())..clamp((a.max(b) + radius).ceil() + 1.0)
        };
        let length = (x1 - x0).powi(2) + (y1 - y0).powi(2);
        for row in range(y0, y1, shape.height) {
            for column in range(x0, x1, shape.width) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let along = if length > 0.0 { ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length } else { 0.0 };
                let along = along.clamp(0.0, 1.0);
                let away = (x - x0 - along * (x1 - x0)).hypot(y - y0 - along * (y1 - y0));
                inside[row * shape.width + column] |= away <= radius;
            }
        }
    }
    inside
}

impl Counts {
    /// The mask, if the runs are as long as the photo.
    fn pixels(&self, shape: Shape) -> Option<Vec<bool>> {
        let counts = match self {
            Self::Plain(counts) => counts.clone(),
            Self::Packed(text) => unpack(text.as_bytes())?,
        };
        let total = counts.iter().try_fold(0_usize, |total, &count| total.checked_add(count))?;
        if total != shape.n_pixels() {
            return None;
        }
        let mut inside = vec![false; total];
        let mut at = 0;
        for (i, count) in counts.into_iter().enumerate() {
            for place in at..at + count {
                inside[place % shape.height * shape.width + place / shape.height] = i % 2 == 1;
            }
            at += count;
        }
        Some(inside)
    }
}

/// Five bits a letter, lowest first; from the third run on the difference to the run before the last.
fn unpack(text: &[u8]) -> Option<Vec<usize>> {
    let mut counts: Vec<i64> = Vec::new();
    let mut letters = text.iter();
    while let Some(&first) = letters.next() {
        let (mut letter, mut value, mut shift) = (first, 0_i64, 0);
        loop {
            let bits = i64::from(letter.checked_sub(48).filter(|&bits| bits < 64)?);
            value |= (bits & 0x1f) << shift;
            shift += 5;
            if bits & 0x20 == 0 {
                if bits & 0x10 != 0 {
                    value -= 1 << shift;
                }
                break;
            }
            letter = *letters.next().filter(|_| shift < 50)?;
        }
        if counts.len() > 2 {
            value += counts[counts.len() - 2];
        }
        counts.push(value);
    }
    counts.into_iter().map(|count| usize::try_from(count).ok()).collect()
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| !letter.is_ascii_whitespace() && *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Picture;
    use proptest::prelude::*;

    fn strokes(json: &str, width: usize, height: usize, format: Format) -> Result<Strokes> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.json");
        std::fs::write(&path, json).unwrap();
        let shape = Shape::new(width, height);
        let photo = Picture::new(shape, vec![[90, 120, 60]; shape.n_pixels()]);
        Strokes::read(&path, &photo, format, &Limits::default())
    }

    fn drawn(json: &str, width: usize, height: usize) -> Vec<String> {
        let seeds = strokes(json, width, height, Format::Auto).unwrap().seeds;
        let letter = |seed: &Seed| match seed {
            Seed::Foreground => 'F',
            Seed::Background => 'b',
            Seed::Unlabelled => '.',
        };
        seeds.labels().chunks(width).map(|row| row.iter().map(letter).collect()).collect()
    }

    #[test]
    fn shapes_of_labelme_become_strokes() {
        let json = r#"{"version": "5.2.1", "imageWidth": 8, "imageHeight": 5, "imageData": null, "shapes": [
            {"label": "cat", "points": [[1, 1], [4, 1], [4, 4], [1, 4]], "shape_type": "polygon", "group_id": null},
            {"label": "Background", "points": [[7, 5], [6, 0]], "shape_type": "rectangle"},
            {"label": "background", "points": [[0.5, 4.5]], "shape_type": "point"}]}"#;
        assert_eq!(drawn(json, 8, 5), ["......b.", ".FFF..b.", ".FFF..b.", "bFFF..b.", "bb....b."]);
        let line = |kind: &str, points: &str| {
            format!(r#"{{"shapes": [{{"label": "fg", "shape_type": "{kind}", "points": {points}}}]}}"#)
        };
        assert_eq!(
            drawn(&line("linestrip", "[[1.5, 1.5], [4.5, 1.5]]"), 6, 4),
            [".FFFF.", "FFFFFF", ".FFFF.", "......"]
        );
        assert_eq!(drawn(&line("circle", "[[2.5, 1.5], [2.5, 2.6]]"), 6, 4), ["..F...", ".FFF..", "..F...", "......"]);
    }

    #[test]
    fn a_mask_of_labelme_is_a_png_at_its_corner() {
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 2, 2);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[255, 0, 255, 255]).unwrap();
        let text = crate::encode::base64(&png);
        let json = format!(
            r#"{{"shapes": [{{"label": "cat", "shape_type": "mask", "points": [[1, 1], [2, 2]], "mask": "{text}"}}]}}"#
        );
        assert_eq!(drawn(&json, 4, 3), ["....", ".F..", ".FF."]);
        assert_eq!(from_base64(&text), Some(png));
    }

    #[test]
    fn coco_is_read_by_category_and_a_bare_mask_may_be_a_trimap() {
        let json = r#"{"images": [{"id": 1, "file_name": "cat.jpg", "width": 3, "height": 2}],
            "categories": [{"id": 7, "name": "cat"}, {"id": 9, "name": "background"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "segmentation": {"size": [2, 3], "counts": [0, 1, 5]}},
                            {"id": 2, "image_id": 1, "category_id": 9, "segmentation": [[2, 0, 3, 0, 3, 2, 2, 2]]}]}"#;
        assert_eq!(drawn(json, 3, 2), ["F.b", "..b"]);
        let bare = r#"{"size": [2, 3], "counts": [1, 2, 3]}"#;
        assert_eq!(drawn(bare, 3, 2), [".F.", "F.."]);
        let trimap = strokes(bare, 3, 2, Format::Trimap).unwrap();
        assert_eq!((trimap.foreground, trimap.background), (2, 4));
    }

    #[test]
    fn what_does_not_tell_the_object_is_refused() {
        let shapes = |inner: &str| format!(r#"{{"shapes": [{inner}]}}"#);
        let polygon = |label: &str| format!(r#"{{"label": "{label}", "points": [[0, 0], [1, 0], [1, 1]]}}"#);
        for (json, part) in [
            (shapes(&format!("{}, {}", polygon("cat"), polygon("dog"))), "cat, dog"),
            (shapes(r#"{"label": "cat", "points": []}"#), "no point"),
            (shapes(r#"{"label": "cat", "points": [[1, 1]], "shape_type": "cuboid"}"#), "cuboid"),
            (shapes(r#"{"label": "cat", "points": [[1, 1]], "shape_type": "mask", "mask": "?"}"#), "base64"),
            (r#"{"shapes": 3}"#.into(), "no JSON of labelme or COCO"),
            (r#"{"exposure": 3}"#.into(), "neither"),
            (r#"{"imageWidth": 9, "imageHeight": 9, "shapes": []}"#.into(), "9×9"),
            (r#"{"size": [2, 3], "counts": [1, 2, 4]}"#.into(), "runs"),
            (r#"{"size": [2, 3], "counts": [1, 18446744073709551615]}"#.into(), "runs"),
            (r#"{"size": [2, 3], "counts": "~~"}"#.into(), "runs"),
        ] {
            let error = strokes(&json, 3, 2, Format::Auto).unwrap_err().to_string();
            assert!(error.contains(part), "{part} in {error}");
        }
        assert!(strokes(r#"{"shapes": []}"#, 3, 2, Format::Redblue).unwrap_err().to_string().contains("redblue"));
    }

    proptest! {
        #[test]
        fn a_mask_survives_its_runs(inside in prop::collection::vec(any::<bool>(), 35), stripes in 1..9_usize) {
            for (width, height) in [(7, 5), (35, 1), (1, 35)] {
                let shape = Shape::new(width, height);
                let striped: Vec<bool> = (0..35).map(|i| inside[i] && i % stripes == 0).collect();
                let text = crate::encode::packed_runs(shape, &striped);
                prop_assert_eq!(Counts::Packed(text).pixels(shape), Some(striped));
            }
        }

        /// Every pixel by itself: a ray to the left crosses the rings an odd number of times.
        #[test]
        fn filling_agrees_with_asking_every_pixel(ring in prop::collection::vec([-2.0..9.0_f64, -2.0..7.0_f64], 3..8)) {
            let shape = Shape::new(7, 5);
            let twin: Vec<bool> = (0..35).map(|pixel| {
                let (x, y) = ((pixel % 7) as f64 + 0.5, (pixel / 7) as f64 + 0.5);
                let crosses = |(a, b): (&[f64; 2], &[f64; 2])| {
                    (a[1] <= y) != (b[1] <= y) && a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) <= x
                };
                ring.iter().zip(ring.iter().cycle().skip(1)).filter(|&side| crosses(side)).count() % 2 == 1
            }).collect();
            prop_assert_eq!(fill(shape, &[ring]), twin);
        }
    }
}
