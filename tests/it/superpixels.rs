//! What `lfield superpixels` writes, and that `segment` takes it back.

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::desk::{Desk, HEIGHT, WIDTH, bytes, in_disc};

fn summary(desk: &Desk, folder: &str) -> Value {
    serde_json::from_slice(&bytes(&desk.path(folder).join("disc.superpixels.json"))).unwrap()
}

#[test]
fn every_layer_gets_a_label_map_outlines_means_and_a_line_in_the_summary() {
    let desk = Desk::with_photo();
    let layers = ["--layer", "3,4,1", "--layer", "7,20,40"];
    let said =
        desk.lfield(&["superpixels", "disc.png"]).args(layers).assert().success().stdout("").get_output().clone();
    let expected = [
        "disc.means-1.png",
        "disc.means-2.png",
        "disc.outlines-1.png",
        "disc.outlines-2.png",
        "disc.superpixels-1.png",
        "disc.superpixels-2.png",
        "disc.superpixels.json",
    ];
    assert_eq!(desk.names("lfield-out"), expected);
    let summary = summary(&desk, "lfield-out");
    assert_eq!(summary["schema"], "lfield.superpixels/1");
    assert_eq!(summary["input"]["width"], WIDTH);
    assert_eq!(summary["input"]["height"], HEIGHT);
    let mut outputs: Vec<&str> = summary["outputs"].as_array().unwrap().iter().map(|o| o.as_str().unwrap()).collect();
    outputs.sort_unstable();
    assert_eq!(outputs, expected);
    for (index, m) in [1, 40].into_iter().enumerate() {
        let layer = &summary["layers"][index];
        let labels = desk.levels(&format!("lfield-out/{}", layer["labels"].as_str().unwrap()));
        let count = usize::from(*labels.iter().max().unwrap()) + 1;
        let mut sizes = vec![0; count];
        labels.iter().for_each(|&label| sizes[usize::from(label)] += 1);
        sizes.sort_unstable();
        assert_eq!(layer["count"], count);
        assert_eq!(layer["min_size"], m);
        assert_eq!(layer["sizes"]["min"], sizes[0]);
        assert_eq!(layer["sizes"]["median"], sizes[count / 2]);
        assert_eq!(layer["sizes"]["max"], sizes[count - 1]);
        assert!(sizes[0] >= m && layer["seconds"].as_f64().unwrap() >= 0.0);
        assert!(String::from_utf8_lossy(&said.stderr).contains(&format!("{count} regions")));
    }
}

#[test]
fn the_coarse_layer_of_the_disc_is_the_disc_and_segment_takes_it_back() {
    let desk = Desk::with_strokes();
    desk.lfield(&["superpixels", "disc.png", "--layer", "7,20,40", "-o", "sp", "-q"]).assert().success().stderr("");
    let labels = desk.levels("sp/disc.superpixels-1.png");
    let disc = (0..labels.len() as u32).map(|i| u16::from(in_disc(i % WIDTH as u32, i / WIDTH as u32)));
    assert_eq!(labels, disc.collect::<Vec<u16>>());
    desk.segment(&["-o", "cut", "--layer", "7,20,40", "--emit", "superpixels,s.npy"]);
    desk.segment(&["-o", "given", "--superpixels", "sp/disc.superpixels-1.png", "--emit", "superpixels,s.npy"]);
    assert_eq!(bytes(&desk.path("cut/disc.superpixels-1.png")), bytes(&desk.path("sp/disc.superpixels-1.png")));
    for name in ["disc.superpixels-1.png", "disc.s.npy"] {
        assert_eq!(bytes(&desk.path("cut").join(name)), bytes(&desk.path("given").join(name)), "{name}");
    }
}

#[test]
fn files_are_the_same_for_any_number_of_threads() {
    let desk = Desk::with_photo();
    for threads in ["1", "2", "7"] {
        desk.lfield(&["superpixels", "disc.png", "-o", threads, "--threads", threads]).assert().success();
    }
    for name in desk.names("1").iter().filter(|name| name.ends_with(".png")) {
        let one = bytes(&desk.path("1").join(name));
        assert!(one == bytes(&desk.path("2").join(name)) && one == bytes(&desk.path("7").join(name)), "{name}");
    }
}

#[test]
fn layers_that_mean_nothing_are_usage_errors_that_say_what_would_be_right() {
    let desk = Desk::with_strokes();
    for (layer, remedy) in [
        ("7,6.5", "hs,hr,min"),
        ("0,6.5,20", "at most 100"),
        ("101,6.5,20", "at most 100"),
        ("-3,6.5,20", "at most 100"),
        ("7,nan,20", "finite"),
        ("7,-1,20", "finite"),
        ("7,6.5,0", "at least 1"),
    ] {
        for command in ["superpixels", "segment"] {
            let failure = desk.lfield(&[command, "disc.png", &format!("--layer={layer}")]).assert().code(2);
            failure.stderr(contains(remedy).and(contains("--layer")));
        }
    }
    assert!(!desk.path("lfield-out").exists());
}

#[test]
fn a_missing_photo_is_named_and_a_photo_is_not_overwritten() {
    let desk = Desk::with_photo();
    desk.lfield(&["superpixels", "nothing.png"]).assert().code(1).stderr(contains("nothing.png"));
    let photo = bytes(&desk.path("disc.png"));
    std::fs::hard_link(desk.path("disc.png"), desk.path("disc.means-2.png")).unwrap();
    desk.lfield(&["superpixels", "disc.png", "-o", "."]).assert().code(1).stderr(contains("disc.means-2.png"));
    assert_eq!(bytes(&desk.path("disc.png")), photo);
}
