//! Stroke files.

use image::{ImageFormat, Rgba, RgbaImage};
use predicates::str::contains;

use super::forge::encoded;
use super::{Case, case, check_all};
use crate::desk::{Desk, HEIGHT, WIDTH, bytes};

pub(super) fn cases() -> Vec<Case> {
    let with = |name: &str| format!("segment disc.png --scribbles {name}");
    let as_format = |name: &str, format: &str| format!("{} --scribble-format {format}", with(name));
    vec![
        case("segment lonely/disc.png", "lonely/disc.png", "no strokes found", "or name a file with --scribbles"),
        case("segment twice/disc.png", "twice/disc.png", "two stroke files", "choose one with --scribbles"),
        case(&with("missing.png"), "missing.png", "No such file", "check the name"),
        case(&with("folder"), "folder", "directory", "check the name"),
        case(&with("letter.png"), "letter.png", "not an image", "give a PNG"),
        case(&with("cut.scribbles.png"), "cut.scribbles.png", "damaged", "export the file again"),
        case(&with("cut.scribbles.jpg"), "cut.scribbles.jpg", "end-of-image marker", "export the file again"),
        case(&with("small.scribbles.png"), "small.scribbles.png", "is 5×5, the photo is 24×18", "the same size"),
        case(&with("turned.scribbles.png"), "turned.scribbles.png", "is 18×24", "the same size"),
        case(
            &with("none.scribbles.png"),
            "none.scribbles.png",
            "no foreground and no background",
            "paint at least one",
        ),
        case(
            &as_format("fg.scribbles.png", "labels"),
            "fg.scribbles.png",
            "no background stroke",
            "paint at least one",
        ),
        case(&with("bg.scribbles.png"), "bg.scribbles.png", "no foreground stroke", "paint at least one"),
        case(
            &with("three.png"),
            "three.png",
            "0 (216 px), 128 (72 px), 255 (144 px)",
            "--scribble-format labels|trimap",
        ),
        case(&with("two.scribbles.png"), "two.scribbles.png", "0 may be background or unlabelled", "--scribble-format"),
        case(&with("codes.scribbles.png"), "codes.scribbles.png", "without a 3", "--scribble-format grabcut|palette"),
        case(&with("four.scribbles.png"), "four.scribbles.png", "64 (", "--scribble-format trimap"),
        case(&with("soft.scribbles.jpg"), "soft.scribbles.jpg", "JPEG compression adds others", "--scribble-format"),
        case(
            &with("other.scribbles.png"),
            "other.scribbles.png",
            "not the photo painted on",
            "paint red on the object",
        ),
        case(
            &as_format("four.scribbles.png", "labels"),
            "four.scribbles.png",
            "does not read as labels",
            "save without smoothing",
        ),
        case(&as_format("redblue.png", "labels"), "redblue.png", "does not read as labels", "255 (foreground)"),
        case(&as_format("redblue.png", "trimap"), "redblue.png", "does not read as trimap", "save it without colours"),
        case(
            &as_format("four.scribbles.png", "grabcut"),
            "four.scribbles.png",
            "as grabcut",
            "save OpenCV's mask as it is",
        ),
        case(&as_format("four.scribbles.png", "palette"), "four.scribbles.png", "as palette", "an indexed PNG of 1"),
        case(
            &as_format("other.scribbles.png", "diff"),
            "other.scribbles.png",
            "most of it differs",
            "an unchanged copy",
        ),
        case(&as_format("three.png", "redblue"), "three.png", "no foreground and no background", "paint at least one"),
    ]
}

fn desk() -> Desk {
    let desk = Desk::with_strokes();
    for folder in ["lonely", "twice"] {
        desk.put(&format!("{folder}/disc.png"), &bytes(&desk.path("disc.png")));
    }
    desk.save_strokes("twice/disc.scribbles.png");
    desk.save_strokes("twice/disc_scribbles.png");
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.put("letter.png", b"Dear strokes");
    let whole = bytes(&desk.path("disc.scribbles.png"));
    desk.put("cut.scribbles.png", &whole[..whole.len() / 2]);
    let painted = RgbaImage::from_fn(WIDTH as u32, HEIGHT as u32, |x, _| match x {
        0..=3 => Rgba([255, 0, 0, 255]),
        20.. => Rgba([0, 0, 255, 255]),
        _ => Rgba([0; 4]),
    });
    desk.put("redblue.png", &encoded(&painted.clone().into(), ImageFormat::Png));
    let photo = image::DynamicImage::from(painted).into_rgb8();
    let jpeg = encoded(&photo.into(), ImageFormat::Jpeg);
    desk.put("cut.scribbles.jpg", &jpeg[..jpeg.len() - 2]);
    for (name, width, height) in [("small", 5, 5), ("turned", HEIGHT as u32, WIDTH as u32)] {
        let blank = image::GrayImage::new(width, height);
        desk.put(&format!("{name}.scribbles.png"), &encoded(&blank.into(), ImageFormat::Png));
    }
    desk.put_grey("none.scribbles.png", |_, _| 0);
    desk.put_grey("fg.scribbles.png", |x, _| if x < 9 { 255 } else { 0 });
    desk.put_grey("bg.scribbles.png", |x, _| if x < 9 { 128 } else { 0 });
    let stripes = |values: [u8; 3]| move |x: u32, _| values[if x < 8 { 0 } else { usize::from(x < 12) + 1 }];
    desk.put_grey("three.png", |x, _| {
        if x < 8 {
            255
        } else if x < 12 {
            128
        } else {
            0
        }
    });
    desk.put_grey("two.scribbles.png", stripes([0, 255, 0]));
    desk.put_grey("codes.scribbles.png", stripes([0, 1, 2]));
    desk.put_grey("four.scribbles.png", |x, _| [0, 64, 128, 255][x as usize / 6]);
    let soft = image::open(desk.path("three.png")).unwrap().blur(4.0);
    desk.put("soft.scribbles.jpg", &encoded(&soft.into_luma8().into(), ImageFormat::Jpeg));
    let mut other = image::open(desk.path("disc.png")).unwrap();
    other.invert();
    desk.put("other.scribbles.png", &encoded(&other, ImageFormat::Png));
    desk
}

#[test]
fn strokes_that_say_nothing_or_two_things_are_refused_in_one_line() {
    check_all(&desk(), &cases());
}

#[test]
fn strokes_over_every_pixel_leave_nothing_to_decide_and_are_obeyed() {
    let desk = Desk::with_photo();
    desk.put_grey("all.scribbles.png", |x, _| if x < 9 { 255 } else { 128 });
    let mut command = desk.lfield(&["segment", "disc.png", "--scribbles", "all.scribbles.png"]);
    command.assert().success().stderr(contains("all.scribbles.png: the strokes cover every pixel"));
    let mask = desk.mask("lfield-out");
    assert!((0..mask.len()).all(|pixel| mask[pixel] == (pixel % WIDTH < 9)));
}

#[test]
fn strokes_that_contradict_each_other_and_the_photo_still_give_numbers() {
    let desk = Desk::with_photo();
    let flat = image::RgbImage::from_pixel(WIDTH as u32, HEIGHT as u32, image::Rgb([7, 7, 7]));
    desk.put("disc.png", &encoded(&flat.into(), ImageFormat::Png));
    // Every other pixel is claimed by the other class, all of one colour.
    desk.put_grey("disc.scribbles.png", |x, y| {
        if y > 9 {
            0
        } else if (x + y) % 2 == 0 {
            255
        } else {
            128
        }
    });
    for arguments in [&["-q"][..], &["-q", "--paper"], &["-q", "--temperature", "fit"], &["-q", "--outlier", "0"]] {
        let mut command = desk.lfield(&["segment", "disc.png", "--emit", "npy,report"]);
        command.args(arguments).assert().success();
        assert!(desk.array("lfield-out/disc.marginals.npy").iter().all(|p| (0.0..=1.0).contains(p)));
    }
}
