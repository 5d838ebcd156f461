//! Strokes as painting programs, annotation tools and phones save them: thirty files of the same two strokes, each read to the same classes or
//! refused with advice that then works.

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage, Rgba, RgbaImage};

use crate::desk::Desk;

const WIDTH: u32 = 120;
const HEIGHT: u32 = 90;

/// How much of a pixel a stroke covers, by 4 × 4 samples: a slanted line across the object or the frame around it.
fn coverage(x: u32, y: u32, is_object: bool) -> f64 {
    let samples =
        (0..16).map(|i| (f64::from(x) + f64::from(i % 4) / 4.0 + 0.125, f64::from(y) + f64::from(i / 4) / 4.0 + 0.125));
    let covers = |(x, y): (f64, f64)| match is_object {
        true => {
            let along = ((x - 40.0) * 40.0 + (y - 35.0) * 17.0) / (40.0 * 40.0 + 17.0 * 17.0);
            (0.0..=1.0).contains(&along) && (x - 40.0 - 40.0 * along).hypot(y - 35.0 - 17.0 * along) <= 3.6
        }
        false => (4.3..=11.6).contains(&x) || (y - 82.3 - x / 40.0).abs() <= 3.1,
    };
    samples.filter(|&point| covers(point)).count() as f64 / 16.0
}

/// Which pixel is of which class, without any softness: 1 object, 2 background.
fn class(x: u32, y: u32) -> u8 {
    if coverage(x, y, true) >= 0.5 {
        1
    } else if coverage(x, y, false) >= 0.5 {
        2
    } else {
        0
    }
}

type Colour = [u8; 3];
const WHITE: Colour = [255; 3];
const RED: Colour = [255, 0, 0];
const BLUE: Colour = [0, 0, 255];

/// Strokes of these colours and this opacity on a plain canvas, with soft edges or without.
fn on_canvas(canvas: Colour, brushes: [Colour; 2], opacity: f64, is_soft: bool) -> RgbImage {
    let photo = RgbImage::from_pixel(WIDTH, HEIGHT, Rgb(canvas));
    on_photo(&photo, brushes, opacity, is_soft)
}

fn on_photo(photo: &RgbImage, brushes: [Colour; 2], opacity: f64, is_soft: bool) -> RgbImage {
    RgbImage::from_fn(WIDTH, HEIGHT, |x, y| {
        let mut colour = photo.get_pixel(x, y).0.map(f64::from);
        for (brush, is_object) in [(brushes[1], false), (brushes[0], true)] {
            let share = coverage(x, y, is_object);
            let share = opacity * if is_soft { share } else { share.round() };
            colour = std::array::from_fn(|i| colour[i] * (1.0 - share) + f64::from(brush[i]) * share);
        }
        Rgb(colour.map(|channel| channel.round() as u8))
    })
}

/// A layer of its own: colour and opacity.
fn layer(brushes: [Colour; 2], opacity: f64, is_soft: bool) -> RgbaImage {
    RgbaImage::from_fn(WIDTH, HEIGHT, |x, y| {
        let shares = [true, false].map(|is_object| coverage(x, y, is_object));
        let (share, brush) = if shares[0] > 0.0 { (shares[0], brushes[0]) } else { (shares[1], brushes[1]) };
        let share = opacity * if is_soft { share } else { share.round() };
        let alpha = (255.0 * share).round() as u8;
        let [r, g, b] = if alpha == 0 { [0; 3] } else { brush };
        Rgba([r, g, b, alpha])
    })
}

/// Grey levels for nothing, object and background.
fn grey(levels: [u8; 3], is_soft: bool) -> GrayImage {
    GrayImage::from_fn(WIDTH, HEIGHT, |x, y| {
        if !is_soft {
            return Luma([levels[usize::from(class(x, y))]]);
        }
        let mut level = f64::from(levels[0]);
        for (value, is_object) in [(levels[2], false), (levels[1], true)] {
            let share = coverage(x, y, is_object);
            level = level * (1.0 - share) + f64::from(value) * share;
        }
        Luma([level.round() as u8])
    })
}

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn jpeg(image: impl Into<DynamicImage>, quality: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(&image.into()).unwrap();
    bytes
}

/// An indexed PNG; `order` says which index nothing, object and background have.
fn indexed(palette: [Colour; 3], order: [u8; 3]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    let mut sorted = [[0; 3]; 3];
    (0..3).for_each(|i| sorted[usize::from(order[i])] = palette[i]);
    encoder.set_palette(sorted.as_flattened().to_vec());
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| order[usize::from(class(x, y))]));
    encoder.write_header().unwrap().write_image_data(&pixels.collect::<Vec<u8>>()).unwrap();
    bytes
}

/// The photo: a warm object on a cool, grainy ground.
fn photo() -> RgbImage {
    RgbImage::from_fn(WIDTH, HEIGHT, |x, y| {
        let grain = ((x * 7919 + y * 104_729 + x * y * 31) % 23) as u8;
        let is_object = (f64::from(x) - 60.0).hypot(1.4 * (f64::from(y) - 44.0)) < 36.0;
        Rgb(if is_object { [170 + grain, 140 + grain, 60] } else { [50, 100 + grain, 110 + grain] })
    })
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    use ImageFormat::{Bmp, Png, Tiff, WebP};
    let (pure, paint, dark) = ([RED, BLUE], [[237, 28, 36], [63, 72, 204]], [[180, 0, 10], [10, 0, 150]]);
    let photo = photo();
    let labelme = r#"{"version": "5.2.1", "flags": {}, "imagePath": "photo.png", "imageData": null, "imageHeight": 90, "imageWidth": 120,
        "shapes": [{"label": "background", "points": [[11.6, 90], [4.3, 0]], "shape_type": "rectangle"},
                   {"label": "background", "points": [[0, 79.2], [120, 82.2], [120, 88.4], [0, 85.4]], "shape_type": "polygon"},
                   {"label": "plate", "points": [[38.59, 38.31], [41.41, 31.69], [81.41, 48.69], [78.59, 55.31]]},
                   {"label": "plate", "points": [[44, 36.7], [60, 43.5], [76, 50.3]], "shape_type": "linestrip"},
                   {"label": "background", "points": [[8, 40], [8, 60]], "shape_type": "line"},
                   {"label": "plate", "points": [[60, 43.5]], "shape_type": "point"}]}"#;
    let coco = {
        let runs = |wanted: u8| {
            let mut runs = vec![0];
            for place in 0..WIDTH * HEIGHT {
                let is_inside = class(place / HEIGHT, place % HEIGHT) == wanted;
                if is_inside != runs.len().is_multiple_of(2) {
                    runs.push(0);
                }
                *runs.last_mut().unwrap() += 1;
            }
            runs
        };
        let annotation = |id: u8| {
            let segmentation = serde_json::json!({"size": [HEIGHT, WIDTH], "counts": runs(id)});
            serde_json::json!({"id": id, "image_id": 3, "category_id": id, "segmentation": segmentation})
        };
        serde_json::json!({
            "images": [{"id": 3, "width": WIDTH, "height": HEIGHT, "file_name": "photo.png"}],
            "categories": [{"id": 1, "name": "plate"}, {"id": 2, "name": "background"}],
            "annotations": [annotation(1), annotation(2)],
        })
    };
    vec![
        ("gimp-hard.scribbles.png", encoded(on_canvas(WHITE, pure, 1.0, false), Png)),
        ("gimp-soft.scribbles.png", encoded(on_canvas(WHITE, pure, 1.0, true), Png)),
        ("gimp-soft-on-black.scribbles.png", encoded(on_canvas([0; 3], pure, 1.0, true), Png)),
        ("gimp-soft-on-grey.scribbles.png", encoded(on_canvas([128; 3], pure, 1.0, true), Png)),
        ("gimp-layer.scribbles.png", encoded(layer(pure, 1.0, false), Png)),
        ("gimp-layer-soft.scribbles.png", encoded(layer(pure, 1.0, true), Png)),
        ("gimp-indexed.scribbles.png", indexed([WHITE, RED, BLUE], [0, 1, 2])),
        ("gimp-indexed-red-first.scribbles.png", indexed([WHITE, RED, BLUE], [2, 0, 1])),
        ("gimp-indexed-canvas-last.scribbles.png", indexed([[0; 3], RED, BLUE], [1, 2, 0])),
        ("gimp-indexed-swapped.scribbles.png", indexed([WHITE, RED, BLUE], [0, 2, 1])),
        ("krita-layer-40.scribbles.png", encoded(layer(pure, 0.4, true), Png)),
        ("krita-layer-70.scribbles.webp", encoded(layer(pure, 0.7, true), WebP)),
        ("krita-glaze.scribbles.png", encoded(on_canvas(WHITE, pure, 0.5, true), Png)),
        ("krita-painted-copy.scribbles.png", encoded(on_photo(&photo, pure, 1.0, true), Png)),
        ("krita-glazed-copy.scribbles.png", encoded(on_photo(&photo, pure, 0.5, true), Png)),
        ("photoshop-soft.scribbles.tif", encoded(on_canvas(WHITE, pure, 1.0, true), Tiff)),
        ("photoshop-layer.scribbles.tif", encoded(layer(pure, 1.0, true), Tiff)),
        ("photoshop-90.scribbles.jpg", jpeg(on_canvas(WHITE, pure, 1.0, true), 90)),
        ("photoshop-75.scribbles.jpg", jpeg(on_canvas(WHITE, pure, 1.0, true), 75)),
        ("photoshop-dark.scribbles.png", encoded(on_canvas(WHITE, dark, 1.0, true), Png)),
        ("paint.scribbles.png", encoded(on_canvas(WHITE, paint, 1.0, false), Png)),
        ("paint.scribbles.bmp", encoded(on_canvas(WHITE, paint, 1.0, true), Bmp)),
        ("paint.scribbles.jpg", jpeg(on_canvas(WHITE, paint, 1.0, true), 85)),
        ("paint-copy.scribbles.png", encoded(on_photo(&photo, paint, 1.0, false), Png)),
        ("labels.scribbles.png", encoded(grey([0, 255, 128], false), Png)),
        ("labels-soft.scribbles.png", encoded(grey([0, 255, 128], true), Png)),
        ("labels.scribbles.jpg", jpeg(grey([0, 255, 128], true), 90)),
        ("grey-three.png", encoded(grey([0, 255, 128], false), Png)),
        ("codes.scribbles.png", encoded(grey([2, 1, 0], false), Png)),
        ("labelme.scribbles.json", labelme.as_bytes().to_vec()),
        ("coco.scribbles.json", coco.to_string().into_bytes()),
        ("tablet-60.scribbles.jpg", jpeg(on_canvas(WHITE, pure, 1.0, true), 60)),
        ("tablet-glaze.scribbles.png", encoded(on_canvas(WHITE, pure, 0.35, true), Png)),
    ]
}

/// The classes that a run takes its strokes for, row by row, or why it is refused.
fn classes(desk: &Desk, name: &str, format: &str) -> Result<Vec<u8>, String> {
    let mut command = desk.lfield(&["segment", "photo.png", "--scribbles", name, "--scribble-format", format]);
    let output = command.args(["-o", "out", "--emit", "s.npy", "--max-iterations", "1"]).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    let s: ndarray::Array2<f64> = ndarray_npy::read_npy(desk.path("out/photo.s.npy")).unwrap();
    // Strokes are facts: s is beyond any cost.
    let class = |&s: &f64| match s {
        _ if s.abs() < 1e8 => 0,
        _ if s < 0.0 => 1,
        _ => 2,
    };
    Ok(s.iter().map(class).collect())
}

/// How classes differ from the strokes drawn, if they do: a stroke where none was drawn, or less than three quarters of what was.
fn fault(classes: &[u8]) -> Option<String> {
    let place = |i: usize| (i as u32 % WIDTH, i as u32 / WIDTH);
    for (i, &found) in classes.iter().enumerate().filter(|(_, found)| **found != 0) {
        let (x, y) = place(i);
        if coverage(x, y, found == 1) == 0.0 {
            return Some(format!("class {found} at {x}, {y}"));
        }
    }
    for wanted in [1, 2] {
        let drawn: Vec<u8> = (0..classes.len()).map(|i| class(place(i).0, place(i).1)).collect();
        let n_drawn = drawn.iter().filter(|&&class| class == wanted).count();
        let n_found = drawn.iter().zip(classes).filter(|(drawn, found)| **drawn == wanted && **found == wanted).count();
        if 4 * n_found < 3 * n_drawn {
            return Some(format!("{n_found} of {n_drawn} pixels of class {wanted}"));
        }
    }
    None
}

#[test]
fn thirty_stroke_files_are_read_to_the_same_classes_or_refused_with_advice_that_works() {
    let desk = Desk::with_photo();
    photo().save(desk.path("photo.png")).unwrap();
    let files = files();
    assert!(files.len() >= 30);
    let (mut faults, mut n_refused) = (Vec::new(), 0);
    for (name, bytes) in &files {
        std::fs::write(desk.path(name), bytes).unwrap();
        match classes(&desk, name, "auto") {
            Ok(classes) => faults.extend(fault(&classes).map(|fault| format!("{name}: {fault}"))),
            Err(said) => {
                n_refused += 1;
                // Every way that is named has to work, and one of them has to lead to what was drawn.
                let ways = said.trim().rsplit_once("--scribble-format ").map_or("", |(_, ways)| ways).split('|');
                let read: Vec<Result<Vec<u8>, String>> = ways.map(|way| classes(&desk, name, way)).collect();
                let is_met = read.iter().flatten().any(|classes| fault(classes).is_none());
                if !is_met || read.iter().any(Result::is_err) {
                    faults.push(format!("{name}: {said}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), files.len(), faults.join("\n"));
    assert!(n_refused <= 3, "{n_refused} refused");
}

#[test]
fn strokes_are_found_beside_the_photo_in_every_format() {
    for (name, bytes) in [
        ("photo.scribbles.webp", encoded(on_canvas(WHITE, [RED, BLUE], 1.0, true), ImageFormat::WebP)),
        ("photo_scribbles.tif", encoded(on_canvas(WHITE, [RED, BLUE], 1.0, true), ImageFormat::Tiff)),
        ("photo-scribbles.jpg", jpeg(on_canvas(WHITE, [RED, BLUE], 1.0, true), 90)),
        ("scribbles/photo.jpeg", jpeg(on_canvas(WHITE, [RED, BLUE], 1.0, true), 90)),
        ("photo.scribble.json", files().into_iter().find(|(name, _)| name.starts_with("labelme")).unwrap().1),
        ("photo.json", files().into_iter().find(|(name, _)| name.starts_with("coco")).unwrap().1),
    ] {
        let desk = Desk::with_photo();
        photo().save(desk.path("photo.png")).unwrap();
        let path = desk.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        let output = desk.lfield(&["segment", "photo.png", "--max-iterations", "1"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(name), "{name}: {said}");
    }
    // JSON of any other program is not taken for strokes.
    let desk = Desk::with_photo();
    std::fs::write(desk.path("disc.json"), r#"{"exposure": 3}"#).unwrap();
    desk.lfield(&["segment", "disc.png"]).assert().code(1).stderr(predicates::str::contains("no strokes found"));
}
