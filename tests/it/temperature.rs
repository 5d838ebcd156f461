//! The scale of the probabilities, given and fitted.

use predicates::str::contains;

use crate::desk::{Desk, bytes};

const TIGHT: [&str; 4] = ["--tolerance", "1e-12", "--emit", "npy,mask,report"];

#[test]
fn the_solution_at_t_is_the_solution_over_t_and_so_is_its_certificate() {
    let desk = Desk::with_strokes();
    // What reach takes from far pixels is so much that rounding alone keeps the proof above 1e-12.
    let run = |temperature: &str| {
        let mut arguments = vec![
            "-q",
            "--reach",
            "off",
            "--beta",
            "2",
            "--gamma",
            "1",
            "--temperature",
            temperature,
            "-o",
            temperature,
        ];
        arguments.extend(TIGHT);
        desk.segment(&arguments);
        (desk.array(&format!("{temperature}/disc.s.npy")), desk.mask(temperature), desk.report(temperature))
    };
    let (s, mask, report) = run("1");
    for (text, t) in [("0.25", 0.25), ("4", 4.0)] {
        let (scaled, same, other) = run(text);
        assert_eq!(same, mask);
        for (s, scaled) in s.iter().zip(&scaled).filter(|(s, _)| s.abs() < 1e9) {
            assert!((scaled - s / t).abs() < 1e-4 * (1.0 + s.abs() / t), "{scaled} and {s} over {t}");
        }
        let number = |report: &serde_json::Value, object: &str, name: &str| report[object][name].as_f64().unwrap();
        // The energy is that of F/T, and the bounds of log Z are those of the s written.
        let energy = number(&report, "map", "energy");
        assert!((number(&other, "map", "energy") - energy / t).abs() < 1e-9 * (1.0 + energy.abs() / t));
        let constant = free_energy(&s) - number(&report, "bounds", "log_z_upper");
        let upper = free_energy(&scaled) - constant / t;
        assert!((number(&other, "bounds", "log_z_upper") - upper).abs() < 1e-6 * (1.0 + upper.abs()));
        assert!(number(&other, "bounds", "log_z_lower") <= number(&other, "bounds", "log_z_upper"));
        let gap = number(&other, "solve", "gap_per_pixel");
        assert!(gap <= 1e-12, "{gap}");
        assert_eq!(other["parameters"]["temperature"], t);
        assert!(other.get("temperature").is_none() && other["timing"].get("temperature").is_none());
    }
}

/// Σ log(1 + e^−s) over the free pixels: log Z's upper bound but for the constant F(∅).
fn free_energy(s: &[f64]) -> f64 {
    s.iter().filter(|s| s.abs() < 1e9).map(|s| (-s).max(0.0) + (-s.abs()).exp().ln_1p()).sum()
}

#[test]
fn fit_reports_what_it_chose_and_running_with_that_number_gives_the_same_files() {
    let desk = Desk::with_strokes();
    let said = desk.segment(&["--temperature", "fit", "--emit", "npy,mask,report", "-o", "fit"]);
    assert!(said.contains("held-out"), "{said}");
    let report = desk.report("fit");
    let fit = &report["temperature"];
    let t = fit["value"].as_f64().unwrap();
    assert_eq!(report["parameters"]["temperature"], t);
    assert_eq!((&fit["pixels"], &fit["folds"]), (&84.into(), &4.into()));
    assert!(fit["pieces"].as_u64() >= Some(8) && fit["method"].as_str().unwrap().contains("held-out"));
    assert!(fit["log_loss"].as_f64() > Some(0.0) && fit["log_loss"].as_f64() <= fit["log_loss_at_one"].as_f64());
    assert_eq!(fit["slips"], 0.01);
    assert!(report["timing"]["temperature"].is_f64());

    desk.segment(&["-q", "--temperature", &t.to_string(), "--emit", "npy,mask,report", "-o", "given"]);
    for name in ["disc.s.npy", "disc.marginals.npy", "disc.mask.png"] {
        assert_eq!(bytes(&desk.path("fit").join(name)), bytes(&desk.path("given").join(name)), "{name}");
    }
    let certificate = |folder: &str| {
        let report = desk.report(folder);
        [report["solve"]["gap"].clone(), report["bounds"].clone(), report["map"].clone(), report["marginals"].clone()]
    };
    assert_eq!(certificate("fit"), certificate("given"));
}

#[test]
fn strokes_that_contradict_their_neighbours_cool_no_belief() {
    // Costs say the opposite of what the strokes say: whoever holds strokes out finds all claims wrong.
    let desk = Desk::with_strokes();
    desk.save_array("wrong.npy", |x, _| if (10..=13).contains(&x) { 3.0 } else { -3.0 });
    desk.save_array("right.npy", |x, _| if (10..=13).contains(&x) { -3.0 } else { 3.0 });
    let fitted = |costs: &str| {
        let arguments = ["-q", "--unary", costs, "--method", "unary", "--temperature", "fit", "-o", "out"];
        desk.segment(&arguments);
        desk.report("out")["temperature"]["value"].as_f64().unwrap()
    };
    assert_eq!(fitted("wrong.npy"), 1000.0);
    // All right, and none beyond 99 %: 3/T = log 99.
    assert!((fitted("right.npy") - 3.0 / 99.0_f64.ln()).abs() < 1e-3);
}

#[test]
fn fit_without_strokes_to_hold_out_is_refused_with_a_remedy() {
    let desk = Desk::with_photo();
    desk.save_array("costs.npy", |x, _| x as f64 - 11.25);
    let mut command = desk.lfield(&["segment", "disc.png", "--unary", "costs.npy", "--temperature", "fit"]);
    command.assert().code(1).stderr(contains("strokes")).stderr(contains("a number"));
}
