//! Mean field and belief propagation in the program.

use image::RgbImage;
use ndarray::Array2;
use ndarray_npy::{read_npy, write_npy};

use crate::desk::{Desk, bytes, in_disc};

const RIVALS: [&str; 3] = ["mean-field", "bp", "fbp"];

#[test]
fn every_rival_finds_the_disc_and_proves_nothing() {
    let desk = Desk::with_strokes();
    for method in RIVALS {
        desk.segment(&["-q", "--method", method, "--beta", "1", "--gamma", "0.1", "--emit", "all", "-o", method]);
        let mask = desk.mask(method);
        let wrong = (0..mask.len() as u32).filter(|&i| mask[i as usize] != in_disc(i % 24, i / 24)).count();
        assert!(wrong <= 8, "{method}: {wrong} of 432 pixels are wrong");

        let report = desk.report(method);
        assert_eq!((&report["parameters"]["method"], &report["solve"]["solver"]), (&method.into(), &method.into()));
        let rival = &report["rival"];
        assert_eq!(rival["method"], method);
        assert_eq!(rival["converged"], true);
        assert!(rival["iterations"].as_u64().unwrap() <= 30 && rival["residual"].as_f64().unwrap() <= 1e-5);
        assert!(rival["log_z"].is_f64());
        for (object, name) in
            [("solve", "gap"), ("bounds", "log_z_upper"), ("map", "lower_bound"), ("marginals", "error_bound")]
        {
            assert!(report[object][name].is_null(), "{method}: {object}.{name}");
        }
        assert_eq!(report["map"]["proved_optimal"], false);
        // The strokes are beyond doubt, nothing else is.
        assert_eq!(report["marginals"]["certified_pixels"], 84);
        let trimap = image::open(desk.path(method).join("disc.trimap.png")).unwrap().into_luma8().into_raw();
        assert!(trimap.iter().filter(|&&level| level != 128).count() > 84, "the band alone decides");
    }
    // Mean field's value is a bound; belief propagation's is none.
    let mean_field = desk.report("mean-field");
    assert_eq!(mean_field["bounds"]["log_z_lower"], mean_field["rival"]["log_z"]);
    assert_eq!(mean_field["rival"]["log_z_is"], "lower bound");
    assert!(desk.report("bp")["bounds"]["log_z_lower"].is_null());
    assert_eq!(desk.report("bp")["rival"]["log_z_is"], "estimate");
}

#[test]
fn propagation_says_that_it_leaves_the_superpixels_out() {
    let desk = Desk::with_strokes();
    let said = desk.segment(&["--method", "bp", "--beta", "1", "--gamma", "3", "-o", "with"]);
    assert!(said.contains("γ = 3") && said.contains("left out"), "{said}");
    let report = desk.report("with");
    assert_eq!((&report["parameters"]["gamma"], &report["model"]["layers"]), (&0.0.into(), &2.into()));
    assert!(report["warnings"][0].as_str().unwrap().contains("cut only"));
    let said = desk.segment(&["--method", "bp", "--beta", "1", "--gamma", "0", "-o", "without"]);
    assert!(!said.contains("left out"), "{said}");
    let levels = |folder: &str| desk.levels(&format!("{folder}/disc.marginals.png"));
    assert_eq!(levels("with"), levels("without"));
    // Mean field does look at them.
    desk.segment(&["-q", "--method", "mean-field", "--beta", "1", "--gamma", "3", "-o", "mf"]);
    assert_eq!(desk.report("mf")["model"]["layers"], 4);
}

#[test]
fn fractional_propagation_of_weight_one_is_belief_propagation() {
    let desk = Desk::with_strokes();
    let run = |folder: &str, arguments: &[&str]| {
        let mut all = vec!["-q", "--beta", "2", "--gamma", "0", "--emit", "npy,report", "-o", folder];
        all.extend_from_slice(arguments);
        desk.segment(&all);
        bytes(&desk.path(folder).join("disc.s.npy"))
    };
    let plain = run("bp", &["--method", "bp"]);
    assert_eq!(plain, run("one", &["--method", "fbp", "--fbp-weight", "1"]));
    assert_ne!(plain, run("half", &["--method", "fbp"]));
    assert_eq!(desk.report("half")["parameters"]["fbp_weight"], 0.5);
    assert!(desk.report("bp")["parameters"]["fbp_weight"].is_null());
}

#[test]
fn belief_propagation_is_exact_on_a_photo_of_one_row() {
    let desk = Desk::with_photo();
    let colour = |x: u32| [(40 * x % 251) as u8, (91 * x % 253) as u8, 100];
    RgbImage::from_fn(10, 1, |x, _| image::Rgb(colour(x))).save(desk.path("row.png")).unwrap();
    let costs: Vec<f64> = (0..10).map(|x| f64::from((x * 37) % 11) / 3.0 - 1.6).collect();
    write_npy(desk.path("costs.npy"), &Array2::from_shape_vec((1, 10), costs.clone()).unwrap()).unwrap();
    let arguments = ["segment", "row.png", "--unary", "costs.npy", "--method", "bp", "--beta", "1.5", "--gamma", "0"];
    desk.lfield(&arguments).args(["--theta", "1e-5", "--emit", "npy,report", "-q"]).assert().success();

    let weight = |x: u32| {
        let (a, b) = (colour(x), colour(x + 1));
        let squared: f64 = (0..3).map(|c| (f64::from(a[c]) - f64::from(b[c])).powi(2)).sum();
        1.5 * (-1e-5 * squared).exp()
    };
    let energy = |set: u32| {
        let own: f64 = (0..10).filter(|x| set >> x & 1 == 1).map(|x| costs[x]).sum();
        own + (0..9).filter(|x| (set >> x ^ set >> (x + 1)) & 1 == 1).map(weight).sum::<f64>()
    };
    let z: f64 = (0..1 << 10).map(|set| (-energy(set)).exp()).sum();
    let written: Array2<f64> = read_npy(desk.path("lfield-out/row.marginals.npy")).unwrap();
    for (x, p) in written.iter().enumerate() {
        let inside: f64 = (0..1 << 10).filter(|set| set >> x & 1 == 1).map(|set| (-energy(set)).exp()).sum();
        assert!((p - inside / z).abs() < 1e-9, "pixel {x}: {p} against {}", inside / z);
    }
    let text = std::fs::read_to_string(desk.path("lfield-out/row.report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!((report["rival"]["log_z"].as_f64().unwrap() - z.ln()).abs() < 1e-9);
}

#[test]
fn rivals_give_the_same_bytes_at_any_number_of_threads() {
    let desk = Desk::enlarged(6);
    for method in RIVALS {
        let run = |threads: &str| {
            desk.segment(&["-q", "--method", method, "--threads", threads, "--emit", "npy,mask", "-o", threads]);
            desk.names(threads).iter().map(|name| bytes(&desk.path(threads).join(name))).collect::<Vec<_>>()
        };
        assert!(run("1") == run("3"), "{method}");
    }
}

#[test]
fn a_rival_that_has_not_settled_says_so() {
    let desk = Desk::with_strokes();
    let said = desk.segment(&["--method", "bp", "--alpha", "0.02", "--beta", "1", "--max-iterations", "1"]);
    assert!(said.contains("--max-iterations") && said.contains("--damping"), "{said}");
    let report = desk.report("lfield-out");
    assert_eq!((&report["rival"]["converged"], &report["rival"]["iterations"]), (&false.into(), &1.into()));
    assert_eq!(report["solve"]["status"], "iteration-limit");
    assert_eq!(report["parameters"]["max_iterations"], 1);
}
