//! What the written files promise to each other.

use crate::desk::{Desk, HEIGHT, WIDTH, bytes};

#[test]
fn thresholding_the_marginals_at_one_half_gives_the_mask() {
    let desk = Desk::with_strokes();
    // Costs that leave many pixels exactly undecided, where rounding could tip them either way.
    desk.save_array("flat.npy", |x, y| [0.0, -1e-18, 1e-18, -0.5, 0.5][(x + 3 * y) % 5]);
    for (folder, arguments) in [
        ("default", &[][..]),
        ("paper", &["--paper", "--beta", "1", "--gamma", "0.1"]),
        ("early", &["--max-iterations", "2"]),
        ("flat", &["--unary", "flat.npy", "--beta", "0", "--gamma", "0"]),
        ("flat-cut", &["--unary", "flat.npy", "--beta", "1", "--gamma", "0"]),
        ("alone", &["--method", "unary"]),
        ("mean-field", &["--method", "mean-field"]),
        ("bp", &["--method", "bp", "--beta", "1"]),
        ("fbp", &["--method", "fbp", "--unary", "flat.npy"]),
        ("fitted", &["--temperature", "fit"]),
        ("hot", &["--temperature", "1e6"]),
        ("cold", &["--temperature", "1e-6"]),
    ] {
        for map in ["minimal", "maximal"] {
            let mut all = vec!["-q", "--emit", "all", "-o", folder, "--map", map];
            all.extend_from_slice(arguments);
            desk.segment(&all);
            let mask = desk.mask(folder);
            let levels = desk.levels(&format!("{folder}/disc.marginals.png"));
            let p = desk.array(&format!("{folder}/disc.marginals.npy"));
            let s = desk.array(&format!("{folder}/disc.s.npy"));
            for i in 0..mask.len() {
                let what = format!("{folder}, {map}, pixel {i}: s {} p {} level {}", s[i], p[i], levels[i]);
                assert_eq!(levels[i] >= 32768, mask[i], "{what}");
                assert_eq!(p[i] > 0.5, mask[i], "{what}");
                assert_eq!(p[i] >= 0.5, mask[i], "{what}");
                assert_eq!(if map == "minimal" { s[i] < 0.0 } else { s[i] <= 0.0 }, mask[i], "{what}");
                assert!((f64::from(levels[i]) - 65535.0 * p[i]).abs() <= 0.5 + 1e-9, "{what}");
                assert!((p[i] - 1.0 / (1.0 + s[i].exp())).abs() <= 1e-15, "{what}");
            }
        }
    }
}

#[rustfmt::skip]
const PARAMETERS: [&str; 45] = [
    "paper", "detail", "method", "alpha", "beta", "gamma", "theta", "phi", "hop_scale", "seeds", "temperature", "fbp_weight", "damping",
    "components", "outlier", "context", "geodesic", "layer", "unary", "prior", "prior_clip", "prior_temperature", "prior_colour", "superpixels", "scribble_format", "solver",
    "factors", "tolerance", "max_iterations", "time_limit", "strict", "map", "bias", "area", "matte", "matte_width", "trimap_band", "max_pixels", "emit",
    "seed", "reach", "refit", "box", "fg", "bg",
];

#[test]
fn the_report_has_every_field_of_its_schema() {
    let desk = Desk::with_strokes();
    desk.segment(&["--emit", "all"]);
    let report = desk.report("lfield-out");
    let fields = [
        ("tool", &["name", "version"][..]),
        ("input", &["image", "scribbles", "format", "width", "height"]),
        ("scribbles", &["foreground", "background"]),
        ("parameters", &PARAMETERS),
        ("mixtures", &["foreground", "background"]),
        ("model", &["pixels", "free_pixels", "decided_pixels", "layers"]),
        ("detail", &["levels", "free_pixels", "decided_pixels", "conditional"]),
        ("solve", &["solver", "iterations", "converged", "status", "seconds", "gap", "gap_per_pixel"]),
        ("bounds", &["log_z_upper", "log_z_lower", "renyi_infinity_upper"]),
        ("map", &["energy", "lower_bound", "gap", "proved_optimal", "repaired_pixels", "dropped_pixels", "area"]),
        ("marginals", &["min", "max", "mean", "certified_pixels", "error_bound", "error_bound_median"]),
        ("timing", &["load", "unary", "superpixels", "assemble", "solve", "write", "total"]),
    ];
    assert_eq!(report["schema"], "lfield.report/1");
    for (object, names) in fields {
        let mut expected: Vec<&str> = names.to_vec();
        expected.sort_unstable();
        let mut found: Vec<&String> = report[object].as_object().unwrap().keys().collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{object}");
    }
    for class in ["foreground", "background"] {
        let mixture = &report["mixtures"][class];
        let components = mixture["components"].as_u64().unwrap() as usize;
        assert_eq!(mixture["weights"].as_array().unwrap().len(), components);
        assert_eq!(mixture["means"].as_array().unwrap().len(), components);
        assert!(mixture["log_likelihood"].is_f64());
    }
    assert_eq!(report["superpixels"].as_array().unwrap().len(), 2);
    for layer in report["superpixels"].as_array().unwrap() {
        assert!(layer["count"].as_u64() >= Some(1) && layer["largest"].as_u64() >= layer["median_size"].as_u64());
    }
    assert!(report["parameters"]["geodesic"].is_f64(), "a number also with auto");
    assert!(report["warnings"].is_array());
    // Softer probabilities leave something in doubt.
    desk.segment(&["--temperature", "50", "-o", "soft"]);
    let soft = desk.report("soft");
    let suggestion = soft["suggestion"].as_object().expect("a suggestion where something is in doubt");
    assert!(["x", "y", "gain"].iter().all(|name| suggestion[*name].is_number()));
}

#[test]
fn the_report_counts_what_the_files_hold() {
    let desk = Desk::with_strokes();
    desk.segment(&["--emit", "all"]);
    let report = desk.report("lfield-out");
    let mask = desk.mask("lfield-out");
    let p = desk.array("lfield-out/disc.marginals.npy");
    let count = |name: &str| report["scribbles"][name].as_u64().unwrap() as usize;
    assert_eq!(report["map"]["area"], mask.iter().filter(|&&inside| inside).count());
    assert_eq!(report["model"]["pixels"], WIDTH * HEIGHT);
    assert_eq!(report["model"]["free_pixels"], WIDTH * HEIGHT - count("foreground") - count("background"));
    assert_eq!(report["model"]["layers"], 4);
    assert_eq!((count("foreground"), count("background")), (12, 72));
    assert!((report["marginals"]["mean"].as_f64().unwrap() - p.iter().sum::<f64>() / p.len() as f64).abs() < 1e-12);
    assert_eq!(report["marginals"]["max"], 1.0);
    assert_eq!(report["marginals"]["min"], 0.0);
    assert!(report["bounds"]["log_z_lower"].as_f64() <= report["bounds"]["log_z_upper"].as_f64());
    assert!(report["map"]["lower_bound"].as_f64().unwrap() <= report["map"]["energy"].as_f64().unwrap() + 1e-6);
}

#[test]
fn hard_strokes_are_certain_and_soft_ones_are_not() {
    let desk = Desk::with_strokes();
    let at = |folder: &str, x: usize, y: usize| desk.array(&format!("{folder}/disc.marginals.npy"))[y * WIDTH + x];
    desk.segment(&["-q", "--emit", "npy", "-o", "hard"]);
    desk.segment(&["-q", "--emit", "npy", "--strokes", "soft", "-o", "soft"]);
    assert_eq!((at("hard", 11, 9), at("hard", 0, 5)), (1.0, 0.0));
    assert!(at("soft", 11, 9) < 1.0 && at("soft", 0, 5) > 0.0);
}

#[test]
fn costs_from_a_file_take_the_place_of_the_mixtures() {
    let desk = Desk::with_photo();
    desk.save_array("costs.npy", |x, _| x as f64 - 11.25);
    desk.segment(&["--unary", "costs.npy", "--beta", "0", "--gamma", "0", "--emit", "all"]);
    let s = desk.array("lfield-out/disc.s.npy");
    for (i, s) in s.iter().enumerate() {
        assert!((s - ((i % WIDTH) as f64 - 11.25)).abs() < 1e-12, "without coupling s is the cost itself");
    }
    let report = desk.report("lfield-out");
    assert!(report["mixtures"].is_null() && report["input"]["scribbles"].is_null());
    assert_eq!(report["parameters"]["unary"], "costs.npy");
    assert_eq!(report["parameters"]["geodesic"], 0.0);
}

/// Probabilities of a network as they are.
const AS_GIVEN: [&str; 6] = ["--prior-clip", "0", "--prior-temperature", "1", "--prior-colour", "0"];

#[test]
fn a_network_taken_as_given_is_its_own_costs_and_costs_know_no_network() {
    let desk = Desk::with_photo();
    let p = |x: usize, y: usize| if (8..20).contains(&x) && (5..15).contains(&y) { 0.8 } else { 0.1 };
    desk.save_array("p.npy", p);
    desk.save_array("m.npy", |x, y| (-p(x, y)).ln_1p() - p(x, y).ln());
    let run = |folder: &str, arguments: &[&str]| {
        desk.segment(&[&["-q", "--emit", "all", "-o", folder], arguments].concat());
        ["mask.png", "marginals.npy", "base.npy"].map(|name| bytes(&desk.path(&format!("{folder}/disc.{name}"))))
    };
    let costs = run("costs", &["--unary", "m.npy"]);
    assert!(costs == run("given", &[&["--prior", "p.npy"], &AS_GIVEN[..]].concat()));
    assert!(costs != run("auto", &["--prior", "p.npy"]));
    let parameters = |folder: &str| desk.report(folder)["parameters"].clone();
    let (given, auto) = (parameters("given"), parameters("auto"));
    assert_eq!((&given["prior_clip"], &given["prior_temperature"]), (&0.0.into(), &1.0.into()));
    assert!(auto["prior_clip"].as_f64().unwrap() > 0.0 && parameters("costs")["prior_clip"].is_null());
}

#[test]
fn probabilities_from_a_file_come_back_without_coupling() {
    let desk = Desk::with_photo();
    desk.save_array("p.npy", |x, y| (1 + x + y) as f64 / 50.0);
    desk.segment(&[&["--prior", "p.npy", "--method", "unary", "--emit", "npy"], &AS_GIVEN[..]].concat());
    for (i, p) in desk.array("lfield-out/disc.marginals.npy").iter().enumerate() {
        assert!((p - (1 + i % WIDTH + i / WIDTH) as f64 / 50.0).abs() < 1e-12, "pixel {i}");
    }
}

#[test]
fn stroke_distance_is_added_to_costs_only_on_request() {
    let desk = Desk::with_strokes();
    desk.save_array("zero.npy", |_, _| 0.0);
    let s_at = |folder: &str, x: usize| desk.array(&format!("{folder}/disc.s.npy"))[9 * WIDTH + x];
    let base = ["-q", "--unary", "zero.npy", "--method", "unary", "--emit", "npy"];
    desk.segment(&[&base[..], &["-o", "plain"]].concat());
    desk.segment(&[&base[..], &["-o", "near", "--geodesic", "2"]].concat());
    assert_eq!((s_at("plain", 9), s_at("plain", 3)), (0.0, 0.0));
    assert!(s_at("near", 9) < 0.0 && s_at("near", 3) > 0.0);

    let bare = Desk::with_photo();
    bare.save_array("zero.npy", |_, _| 0.0);
    let mut without_strokes = bare.lfield(&["segment", "disc.png", "--unary", "zero.npy", "--geodesic", "1"]);
    without_strokes.assert().code(1).stderr(predicates::str::contains("without strokes"));
}

#[test]
fn superpixels_written_can_be_given_back() {
    let desk = Desk::with_strokes();
    desk.segment(&["-q", "--emit", "all", "-o", "first"]);
    let given = ["--superpixels", "first/disc.superpixels-1.png", "--superpixels", "first/disc.superpixels-2.png"];
    desk.segment(&[&["-q", "--emit", "all", "-o", "second"], &given[..]].concat());
    for name in ["disc.marginals.npy", "disc.superpixels-1.png", "disc.superpixels-2.png"] {
        let read = |folder: &str| std::fs::read(desk.path(folder).join(name)).unwrap();
        assert_eq!(read("first"), read("second"), "{name}");
    }
}

#[test]
fn superpixels_are_cut_only_when_they_are_used_or_wanted() {
    let desk = Desk::with_strokes();
    desk.segment(&["-q", "--gamma", "0", "-o", "unused"]);
    assert_eq!(desk.report("unused")["superpixels"].as_array().unwrap().len(), 0);
    desk.segment(&["-q", "--gamma", "0", "--layer", "5,5,10", "--emit", "superpixels,report", "-o", "wanted"]);
    assert_eq!(desk.names("wanted"), ["disc.report.json", "disc.superpixels-1.png"]);
    assert_eq!(desk.report("wanted")["model"]["layers"], 2);
}

#[test]
fn the_cutout_has_the_mask_or_the_probability_along_its_border_as_alpha() {
    let desk = Desk::with_strokes();
    for (matte, is_soft) in [("hard", false), ("soft", true)] {
        // Warm enough that the border is in doubt.
        let more = ["--temperature", "20", "--matte", matte, "-o", matte];
        desk.segment(&[&["-q", "--emit", "cutout,mask,npy"], &more[..]].concat());
        let cutout = image::open(desk.path(matte).join("disc.cutout.png")).unwrap();
        assert_eq!(cutout.color(), image::ColorType::Rgba8);
        let photo = image::open(desk.path("disc.png")).unwrap().into_rgb8();
        let p = desk.array(&format!("{matte}/disc.marginals.npy"));
        let mask = desk.mask(matte);
        let (width, height) = (photo.width() as usize, photo.height() as usize);
        let other_side_within = |i: usize, reach: usize| {
            let (x, y) = (i % width, i / width);
            let around = (0..width * height).filter(|j| (j % width).abs_diff(x) + (j / width).abs_diff(y) <= reach);
            around.into_iter().any(|j| mask[j] != mask[i])
        };
        let mut n_soft = 0;
        for (i, (pixel, photo)) in cutout.into_rgba8().pixels().zip(photo.pixels()).enumerate() {
            let [r, g, b, alpha] = pixel.0;
            if is_soft && other_side_within(i, 1) {
                assert_eq!(alpha, (255.0 * p[i]).round() as u8);
                n_soft += usize::from((1..255).contains(&alpha));
            } else if !is_soft || !other_side_within(i, 3) {
                assert_eq!(alpha, 255 * u8::from(mask[i]));
            }
            match alpha {
                0 => assert_eq!([r, g, b], [0; 3]),
                255 => assert_eq!([r, g, b], photo.0),
                _ => {}
            }
        }
        assert_eq!(n_soft > 10, is_soft, "{n_soft}");
    }
}

#[test]
fn the_trimap_decides_only_what_is_sure() {
    let desk = Desk::with_photo();
    desk.save_array("p.npy", |x, _| [0.01, 0.2, 0.5, 0.8, 0.99][x % 5]);
    desk.segment(
        &[&["-q", "--prior", "p.npy", "--method", "unary", "--emit", "trimap", "-o", "narrow"], &AS_GIVEN[..]].concat(),
    );
    desk.segment(&[
        "-q",
        "--prior-clip",
        "0",
        "--prior-temperature",
        "1",
        "--prior-colour",
        "0",
        "--prior",
        "p.npy",
        "--method",
        "unary",
        "--emit",
        "trimap",
        "--trimap-band",
        "0.3",
        "-o",
        "wide",
    ]);
    let levels = |folder: &str| image::open(desk.path(folder).join("disc.trimap.png")).unwrap().into_luma8().into_raw();
    assert_eq!(levels("narrow")[..5], [0, 128, 128, 128, 255]);
    assert_eq!(levels("wide")[..5], [0, 0, 128, 255, 255]);
}

#[test]
fn the_trace_ends_at_the_gap_of_the_report() {
    let desk = Desk::with_strokes();
    desk.segment(&["-q", "--emit", "trace,report"]);
    let text = std::fs::read_to_string(desk.path("lfield-out/disc.trace.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("sweep,seconds,gap,gap_per_pixel,log_z_upper,map_lower_bound"));
    let last: Vec<f64> = lines.next_back().unwrap().split(',').map(|field| field.parse().unwrap()).collect();
    let report = desk.report("lfield-out");
    assert_eq!(last[0], report["solve"]["iterations"].as_f64().unwrap());
    assert_eq!(report["map"]["repaired_pixels"], 0);
    let gap = report["solve"]["gap"].as_f64().unwrap();
    // The report counts the rounding in.
    assert!(last[2] <= gap && gap - last[2] <= 1e-10, "{} and {gap}", last[2]);
}
