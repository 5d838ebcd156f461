//! The mask as polygons, run lengths or a drawing: `STEM.labelme.json`, `STEM.coco.json`, `STEM.svg`.
//!
//! Rings run along the sides of pixels, so that nothing is lost: inside is on the right of every side, an outer ring has positive area
//! ½ Σ (xᵢyᵢ₊₁ − xᵢ₊₁yᵢ) and a hole negative. Where two rings meet at a corner each turns right, so pixels that touch at a corner only stay
//! apart. labelme has no holes: they are polygons called `background` that lie over the ones around them.

use serde_json::{Value, json};

use crate::grid::{Mask, Shape};

/// A closed line along the sides of pixels: its corners as (x, y), and twice its signed area.
struct Ring {
    corners: Vec<[usize; 2]>,
    area: i64,
}

/// The polygons in the format of labelme, the larger ones first.
pub fn labelme(mask: &Mask, image: Option<&str>) -> Vec<u8> {
    let Shape { width, height } = mask.shape();
    let mut rings = rings(mask);
    rings.sort_by_key(|ring| std::cmp::Reverse(ring.area.abs()));
    let shape = |ring: &Ring| {
        let label = if ring.area > 0 { "foreground" } else { "background" };
        json!({"label": label, "points": ring.corners, "group_id": null, "description": "", "shape_type": "polygon", "flags": {}})
    };
    let shapes: Vec<Value> = rings.iter().map(shape).collect();
    super::json(&json!({
        "version": "5.2.1", "flags": {}, "shapes": shapes, "imagePath": image, "imageData": null,
        "imageHeight": height, "imageWidth": width,
    }))
}

/// The mask as one annotation of a COCO file.
pub fn coco(mask: &Mask, image: Option<&str>) -> Vec<u8> {
    let (shape, inside) = (mask.shape(), mask.as_slice());
    let area = inside.iter().filter(|&&inside| inside).count();
    let range = |n: usize, is_met: &dyn Fn(usize) -> bool| {
        let first = (0..n).find(|&i| is_met(i)).unwrap_or(0);
        let behind = (0..n).rfind(|&i| is_met(i)).map_or(0, |last| last + 1);
        (first, behind - first)
    };
    let (left, width) = range(shape.width, &|x| (0..shape.height).any(|y| inside[y * shape.width + x]));
    let (top, height) = range(shape.height, &|y| inside[y * shape.width..(y + 1) * shape.width].contains(&true));
    super::json(&json!({
        "images": [{"id": 1, "width": shape.width, "height": shape.height, "file_name": image}],
        "categories": [{"id": 1, "name": "foreground"}],
        "annotations": [{
            "id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": area, "bbox": [left, top, width, height],
            "segmentation": {"size": [shape.height, shape.width], "counts": packed_runs(shape, inside)},
        }],
    }))
}

/// The outline as one path.
pub fn svg(mask: &Mask) -> Vec<u8> {
    let Shape { width, height } = mask.shape();
    let mut path = String::new();
    for Ring { corners, .. } in rings(mask) {
        path += &format!("M{} {}", corners[0][0], corners[0][1]);
        for pair in corners.windows(2) {
            path += &match pair[0][1] == pair[1][1] {
                true => format!("H{}", pair[1][0]),
                false => format!("V{}", pair[1][1]),
            };
        }
        path.push('Z');
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <path fill-rule=\"evenodd\" d=\"{path}\"/>\n</svg>\n"
    )
    .into_bytes()
}

/// Lengths of runs down the columns, outside first, packed as COCO's tools do: from the fourth on the difference to the run before the last,
/// five bits a letter, lowest first.
pub fn packed_runs(shape: Shape, inside: &[bool]) -> String {
    let mut runs: Vec<i64> = vec![0];
    for place in 0..shape.n_pixels() {
        let is_inside = inside[place % shape.height * shape.width + place / shape.height];
        if is_inside != runs.len().is_multiple_of(2) {
            runs.push(0);
        }
        *runs.last_mut().expect("there is a first run") += 1;
    }
    let mut text = String::new();
    for i in 0..runs.len() {
        let mut value = runs[i] - if i > 2 { runs[i - 2] } else { 0 };
        loop {
            let bits = (value & 0x1f) as u8;
            value >>= 5;
            let is_last = value == if bits & 0x10 == 0 { 0 } else { -1 };
            text.push(char::from(48 + bits + if is_last { 0 } else { 0x20 }));
            if is_last {
                break;
            }
        }
    }
    text
}

/// Ways along the sides: east, south, west, north; the next one is a turn to the right.
const WAYS: [[isize; 2]; 4] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

/// Every ring, in the order of its first side from the top.
fn rings(mask: &Mask) -> Vec<Ring> {
    let Shape { width, height } = mask.shape();
    let inside = |x: usize, y: usize| {
        // Coordinates left of and above the photo wrap to numbers beyond it.
        x < width && y < height && mask.as_slice()[y * width + x]
    };
    // A side that leaves a corner to the east has its inside below, and so on around.
    let is_side = |[x, y]: [usize; 2], way: usize| {
        let (left, up) = (x.wrapping_sub(1), y.wrapping_sub(1));
        match way {
            0 => inside(x, y) && !inside(x, up),
            1 => inside(left, y) && !inside(x, y),
            2 => inside(left, up) && !inside(left, y),
            _ => inside(x, up) && !inside(left, up),
        }
    };
    let mut is_seen = vec![false; width * height];
    let mut rings = Vec::new();
    for start in (0..width * height).map(|pixel| [pixel % width, pixel / width]) {
        if is_seen[start[1] * width + start[0]] || !is_side(start, 0) {
            continue;
        }
        let (mut corners, mut at, mut way) = (Vec::new(), start, 0);
        loop {
            if way == 0 {
                is_seen[at[1] * width + at[0]] = true;
            }
            at = std::array::from_fn(|i| at[i].wrapping_add_signed(WAYS[way][i]));
            let turned = [1, 0, 3].map(|turn| (way + turn) % 4);
            let next = turned.into_iter().find(|&next| is_side(at, next)).expect("every side has a next one");
            if next != way {
                corners.push(at);
            }
            way = next;
            if at == start && way == 0 {
                break;
            }
        }
        let cross = |a: [usize; 2], b: [usize; 2]| a[0] as i64 * b[1] as i64 - b[0] as i64 * a[1] as i64;
        let area = (0..corners.len()).map(|i| cross(corners[i], corners[(i + 1) % corners.len()])).sum();
        rings.push(Ring { corners, area });
    }
    rings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Picture, Seed};
    use crate::read::{Format, Limits, Strokes};
    use proptest::prelude::*;

    fn mask(rows: &[&str]) -> Mask {
        let inside = rows.concat().chars().map(|c| c == '#').collect();
        Mask::new(Shape::new(rows[0].len(), rows.len()), inside)
    }

    #[test]
    fn rings_go_around_objects_and_holes_and_keep_corners_apart() {
        let found = rings(&mask(&[".###", ".#.#", ".###", "#..."]));
        let areas: Vec<i64> = found.iter().map(|ring| ring.area / 2).collect();
        assert_eq!(areas, [9, -1, 1]);
        assert_eq!(found[2].corners, [[1, 3], [1, 4], [0, 4], [0, 3]]);
        assert!(rings(&mask(&["..", ".."])).is_empty());
        let text = String::from_utf8(svg(&mask(&["#."]))).unwrap();
        assert!(text.contains("viewBox=\"0 0 2 1\"") && text.contains("M1 0V1H0V0Z"), "{text}");
    }

    #[test]
    fn the_box_of_a_coco_annotation_holds_the_mask() {
        let value: Value = serde_json::from_slice(&coco(&mask(&["....", ".##.", ".#.."]), Some("cat.jpg"))).unwrap();
        let annotation = &value["annotations"][0];
        assert_eq!(annotation["bbox"], json!([1, 1, 2, 2]));
        assert_eq!((&annotation["area"], &value["images"][0]["file_name"]), (&json!(3), &json!("cat.jpg")));
        let nothing: Value = serde_json::from_slice(&coco(&mask(&["...."]), None)).unwrap();
        assert_eq!(nothing["annotations"][0]["bbox"], json!([0, 0, 0, 0]));
    }

    proptest! {
        /// What is written as labelme or COCO reads back as the same mask.
        #[test]
        fn a_mask_survives_both_formats(inside in prop::collection::vec(any::<bool>(), 42)) {
            let shape = Shape::new(7, 6);
            let photo = Picture::new(shape, vec![[90, 120, 60]; 42]);
            let mask = Mask::new(shape, inside.clone());
            let folder = tempfile::tempdir().unwrap();
            for bytes in [labelme(&mask, None), coco(&mask, None)] {
                let path = folder.path().join("cat.json");
                std::fs::write(&path, bytes).unwrap();
                let strokes = Strokes::read(&path, &photo, Format::Auto, &Limits::default()).unwrap();
                let read: Vec<bool> = strokes.seeds.labels().iter().map(|&seed| seed == Seed::Foreground).collect();
                prop_assert_eq!(&read, &inside);
            }
        }
    }
}
