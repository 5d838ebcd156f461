//! Costs, probabilities, label maps and truths.

use image::ImageFormat;
use predicates::str::contains;

use super::forge::{costs_with, encoded, npy, npy_of, tiff};
use super::{Case, case, check_all};
use crate::desk::{Desk, HEIGHT, WIDTH, bytes};

pub(super) fn cases() -> Vec<Case> {
    let unary = |name: &str| format!("segment disc.png --unary {name}");
    let prior = |name: &str| format!("segment disc.png --prior {name}");
    let labels = |name: &str| format!("segment disc.png --superpixels {name}");
    vec![
        case(&unary("missing.npy"), "missing.npy", "No such file", "check the name"),
        case(&unary("folder"), "folder", "directory", "check the name"),
        case(&unary("empty.npy"), "empty.npy", "not an .npy array", "numpy.save"),
        case(&unary("disc.png"), "disc.png", "not an .npy array", "probabilities as an image"),
        case(&unary("bundle.npz"), "bundle.npz", "not an .npy array", "numpy.save"),
        case(&unary("nan.npy"), "nan.npy", "row 3, column 5 (from 0) is NaN", "replace it before saving"),
        case(&unary("inf.npy"), "inf.npy", "row 3, column 5 (from 0) is inf", "replace it before saving"),
        case(&unary("minus-inf.npy"), "minus-inf.npy", "is -inf", "replace it before saving"),
        case(&unary("turned.npy"), "turned.npy", "is 18×24, the photo is 24×18", "the same size"),
        case(&unary("row.npy"), "row.npy", "an array of 1 dimensions [432]", "array.squeeze()"),
        case(&unary("scalar.npy"), "scalar.npy", "an array of 0 dimensions", "array.squeeze()"),
        case(&unary("channels.npy"), "channels.npy", "an array of 3 dimensions [18, 24, 1]", "array.squeeze()"),
        case(&unary("no-pixels.npy"), "no-pixels.npy", "no pixels", "export the file again"),
        case(&unary("huge.npy"), "huge.npy", "pixels allowed", "raise --max-pixels"),
        case(&unary("endless.npy"), "endless.npy", "pixels allowed", "raise --max-pixels"),
        case(&unary("negative.npy"), "negative.npy", "does not describe one array", "export the file again"),
        case(&unary("object.npy"), "object.npy", "Python objects, which are never unpickled", "astype(numpy.float64)"),
        case(&unary("complex.npy"), "complex.npy", "values of type \"<c16\"", "astype(numpy.float64)"),
        case(&unary("text.npy"), "text.npy", "values of type \"<U8\"", "astype(numpy.float64)"),
        case(&unary("long-double.npy"), "long-double.npy", "values of type \"<f16\"", "astype(numpy.float64)"),
        case(&unary("fields.npy"), "fields.npy", "records of several fields", "save a single field"),
        case(&unary("cut.npy"), "cut.npy", "should hold 3456 bytes of values and has 3416", "export the file again"),
        case(&unary("cut-header.npy"), "cut-header.npy", "header is cut short", "export the file again"),
        case(&unary("version.npy"), "version.npy", "unknown version", "export the file again"),
        case(&unary("letter.npy"), "letter.npy", "does not describe one array", "export the file again"),
        case(&prior("unknown.npy"), "unknown.npy", "is NaN", "a probability between 0 and 1"),
        case(&prior("bundle.npz"), "bundle.npz", "damaged", "export the file again"),
        case(&prior("pixels-first.npy"), "pixels-first.npy", "3 dimensions [18, 24, 2]", "array.transpose(2, 0, 1)"),
        case(&prior("classes.npy"), "classes.npy", "3 dimensions [3, 18, 24]", "one class against all others"),
        case(&prior("photos.npy"), "photos.npy", "4 dimensions [1, 2, 18, 24]", "array[0]"),
        case(&prior("sigmoids.npy"), "sigmoids.npy", "do not add up to 1", "save the softmax of the two"),
        case(&unary("sigmoids.npy"), "sigmoids.npy", "3 dimensions [2, 18, 24]", "one number per pixel"),
        case(&prior("above.npy"), "above.npy", "is 1.5", "divide by the largest value"),
        case(&prior("below.npy"), "below.npy", "is -0.25", "give -x as costs"),
        case(&prior("object.npy"), "object.npy", "never unpickled", "astype(numpy.float64)"),
        case(&prior("colour.png"), "colour.png", "has colours", "save it as a grey image"),
        case(&prior("wild.tif"), "wild.tif", "is 7", "divide by the largest value"),
        case(&prior("cut.tif"), "cut.tif", "damaged", "export the file again"),
        case(&prior("small.png"), "small.png", "is 5×5", "the same size"),
        case(&prior("letter.png"), "letter.png", "not an image", "give a PNG"),
        case(&labels("float.npy"), "float.npy", "floating-point numbers, not labels", "astype(numpy.int32)"),
        case(&labels("colour.png"), "colour.png", "has colours", "save it as a grey image"),
        case(&labels("small.png"), "small.png", "is 5×5", "the same size"),
        case(&labels("object.npy"), "object.npy", "never unpickled", "astype(numpy.float64)"),
        case("evaluate endless.csv", "/dev/zero", "a device or a pipe", "check the name"),
        case("evaluate grey", "masks/a.png", "holds grey values", "255 (foreground), 0 (background) and 128"),
        case(
            "batch grey/images --truth grey/masks",
            "masks/a.png",
            "holds grey values",
            "255 (foreground), 0 (background)",
        ),
    ]
}

fn desk() -> Desk {
    let desk = Desk::with_strokes();
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.put("empty.npy", b"");
    desk.put("bundle.npz", b"PK\x03\x04 and more");
    desk.save_array("float.npy", costs_with(0.5));
    for (name, value) in [
        ("nan", f64::NAN),
        ("inf", f64::INFINITY),
        ("minus-inf", f64::NEG_INFINITY),
        ("unknown", f64::NAN),
        ("above", 1.5),
        ("below", -0.25),
    ] {
        let costs = costs_with(value);
        let is_probability = ["unknown", "above", "below"].contains(&name);
        desk.save_array(&format!("{name}.npy"), |x, y| match (x, y) {
            (5, 3) => value,
            _ if is_probability => 0.5,
            _ => costs(x, y),
        });
    }
    let shaped = |shape: &str| format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let values = vec![0; WIDTH * HEIGHT * 8];
    for (name, shape) in [
        ("turned", "(24, 18)"),
        ("row", "(432,)"),
        ("scalar", "()"),
        ("channels", "(18, 24, 1)"),
        ("no-pixels", "(0, 24)"),
        ("huge", "(4000000000, 4000000000)"),
        ("endless", "(18446744073709551615, 18446744073709551615)"),
        ("negative", "(-18, -24)"),
    ] {
        desk.put(&format!("{name}.npy"), &npy(&shaped(shape), &values));
    }
    for (name, shape, n_values) in [
        ("pixels-first", "(18, 24, 2)", 2),
        ("classes", "(3, 18, 24)", 3),
        ("photos", "(1, 2, 18, 24)", 2),
        ("sigmoids", "(2, 18, 24)", 2),
    ] {
        let values: Vec<u8> = vec![0.25_f64; n_values * WIDTH * HEIGHT].iter().flat_map(|p| p.to_le_bytes()).collect();
        desk.put(&format!("{name}.npy"), &npy(&shaped(shape), &values));
    }
    desk.put("object.npy", &npy_of("'|O'", 8));
    desk.put("complex.npy", &npy_of("'<c16'", 16));
    desk.put("text.npy", &npy_of("'<U8'", 32));
    desk.put("long-double.npy", &npy_of("'<f16'", 16));
    desk.put("fields.npy", &npy_of("[('a', '<f4'), ('b', '<f4')]", 8));
    let whole = npy_of("'<f8'", 8);
    desk.put("cut.npy", &whole[..whole.len() - 40]);
    desk.put("cut-header.npy", &whole[..30]);
    desk.put("version.npy", &[b"\x93NUMPY\x09\0", &whole[8..]].concat());
    desk.put("letter.npy", &npy("Dear array,", &values));
    desk.put("colour.png", &bytes(&desk.path("disc.png")));
    desk.put("letter.png", b"Dear probabilities");
    desk.put("small.png", &encoded(&image::GrayImage::new(5, 5).into(), ImageFormat::Png));
    let floats: Vec<u8> = vec![7.0_f32; WIDTH * HEIGHT].iter().flat_map(|value| value.to_le_bytes()).collect();
    desk.put("wild.tif", &tiff(WIDTH as u32, HEIGHT as u32, 32, true, &floats));
    desk.put("cut.tif", &tiff(WIDTH as u32, HEIGHT as u32, 32, true, &floats[..100]));
    desk.put("endless.csv", b"image,scribbles,truth\ndisc.png,disc.scribbles.png,/dev/zero\n");
    desk.put("grey/images/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("grey/scribbles/a.png");
    desk.put_grey("grey/masks/a.png", |x, _| 10 * x as u8);
    desk
}

#[test]
fn arrays_that_mean_nothing_are_refused_in_one_line() {
    check_all(&desk(), &cases());
}

#[test]
fn byte_order_memory_order_and_type_do_not_matter() {
    let desk = Desk::with_strokes();
    let cost = |x: usize, y: usize| costs_with(-2.0)(x, y);
    desk.save_array("plain.npy", cost);
    let write = |name: &str, descr: &str, fortran: bool, bytes: &dyn Fn(f64) -> Vec<u8>| {
        let order = if fortran { "True" } else { "False" };
        let dictionary = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({HEIGHT}, {WIDTH}), }}");
        let pixels = (0..WIDTH * HEIGHT).map(|i| match fortran {
            true => cost(i / HEIGHT, i % HEIGHT),
            false => cost(i % WIDTH, i / WIDTH),
        });
        desk.put(name, &npy(&dictionary, &pixels.flat_map(bytes).collect::<Vec<u8>>()));
    };
    write("fortran.npy", "<f8", true, &|cost| cost.to_le_bytes().to_vec());
    write("big.npy", ">f8", false, &|cost| cost.to_be_bytes().to_vec());
    write("single.npy", "<f4", false, &|cost| (cost as f32).to_le_bytes().to_vec());
    write("whole.npy", ">i2", false, &|cost| (cost as i16).to_be_bytes().to_vec());
    let marginals = |name: &str| {
        desk.segment(&["-q", "--unary", name]);
        bytes(&desk.path("lfield-out/disc.marginals.png"))
    };
    let expected = marginals("plain.npy");
    for name in ["fortran.npy", "big.npy", "single.npy", "whole.npy"] {
        assert_eq!(marginals(name), expected, "{name}");
    }
}

#[test]
fn bytes_behind_an_array_are_mentioned() {
    let desk = Desk::with_strokes();
    desk.save_array("two.npy", costs_with(1.0));
    let twice = bytes(&desk.path("two.npy")).repeat(2);
    desk.put("two.npy", &twice);
    let mut command = desk.lfield(&["segment", "disc.png", "--unary", "two.npy"]);
    command.assert().success().stderr(contains("two.npy: only the first array"));
}

#[test]
fn two_classes_and_archives_say_what_one_array_says() {
    let desk = Desk::with_photo();
    let p = |x: usize, _: usize| 0.1 + 0.03 * x as f64;
    desk.save_array("p.npy", p);
    let plane = |of: &dyn Fn(f64) -> f64| -> Vec<u8> {
        (0..HEIGHT * WIDTH).flat_map(|i| of(p(i % WIDTH, i / WIDTH)).to_le_bytes()).collect()
    };
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': (2, {HEIGHT}, {WIDTH}), }}");
    desk.put("softmax.npy", &npy(&header, &[plane(&|p| 1.0 - p), plane(&|p| p)].concat()));
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("arr_0.npy", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, &bytes(&desk.path("p.npy"))).unwrap();
    desk.put("p.npz", archive.finish().unwrap().get_ref());
    let marginals = |name: &str| {
        desk.segment(&["-q", "--prior", name, "--emit", "marginals.npy"]);
        bytes(&desk.path("lfield-out/disc.marginals.npy"))
    };
    let expected = marginals("p.npy");
    assert!(expected == marginals("softmax.npy") && expected == marginals("p.npz"));
}
