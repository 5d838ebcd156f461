//! What the program promises at its borders.

use predicates::prelude::*;
use predicates::str::contains;

use crate::desk::{Desk, HEIGHT, bytes, in_disc, without_column, without_seconds};

const DEFAULT_FILES: [&str; 4] = ["disc.heatmap.png", "disc.marginals.png", "disc.mask.png", "disc.report.json"];

const ALL_FILES: [&str; 18] = [
    "disc.base.npy",
    "disc.bound.npy",
    "disc.coco.json",
    "disc.cutout.png",
    "disc.heatmap.png",
    "disc.labelme.json",
    "disc.marginals.npy",
    "disc.marginals.png",
    "disc.mask.png",
    "disc.overlay.png",
    "disc.path.csv",
    "disc.report.json",
    "disc.s.npy",
    "disc.superpixels-1.png",
    "disc.superpixels-2.png",
    "disc.svg",
    "disc.trace.csv",
    "disc.trimap.png",
];

#[test]
fn a_sidecar_stroke_file_is_found_and_the_disc_too() {
    let desk = Desk::with_strokes();
    let said = desk.segment(&["--beta", "1", "--gamma", "0.1"]);
    assert_eq!(desk.names("lfield-out"), DEFAULT_FILES);
    for part in
        ["disc.scribbles.png", "labels", "12 foreground", "72 background", "converged", "mask.png", "lfield-out"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let mask = desk.mask("lfield-out");
    let wrong = (0..mask.len() as u32).filter(|&i| mask[i as usize] != in_disc(i % 24, i / 24)).count();
    assert!(wrong <= 8, "{wrong} of 432 pixels are wrong");
}

#[test]
fn strokes_in_a_scribbles_folder_and_strokes_by_name_give_the_same_result() {
    let (beside, folder, named) = (Desk::with_strokes(), Desk::with_photo(), Desk::with_photo());
    folder.save_strokes("scribbles/disc.png");
    named.save_strokes("elsewhere/my scribbles.png");
    beside.segment(&["-q"]);
    folder.segment(&["-q"]);
    named.segment(&["-q", "--scribbles", "elsewhere/my scribbles.png"]);
    let marginals = |desk: &Desk| bytes(&desk.path("lfield-out/disc.marginals.png"));
    assert_eq!(marginals(&beside), marginals(&folder));
    assert_eq!(marginals(&beside), marginals(&named));
}

#[test]
fn without_strokes_it_exits_1_and_lists_the_names_it_looked_for() {
    let desk = Desk::with_photo();
    let failure = desk.lfield(&["segment", "disc.png", "--beta", "1"]).assert().code(1).stdout("");
    failure.stderr(
        contains("disc.scribbles.png")
            .and(contains("disc_scribbles.png"))
            .and(contains("disc-scribbles.png"))
            .and(contains("disc.scribble.png"))
            .and(contains("disc_scribble.png"))
            .and(contains("scribbles/disc.png"))
            .and(contains("--scribbles")),
    );
    assert!(!desk.path("lfield-out").exists());
}

#[test]
fn two_stroke_files_are_both_named() {
    let desk = Desk::with_strokes();
    desk.save_strokes("disc_scribbles.png");
    let failure = desk.lfield(&["segment", "disc.png"]).assert().code(1);
    failure.stderr(contains("disc.scribbles.png").and(contains("disc_scribbles.png")));
}

#[test]
fn a_missing_photo_is_named_on_one_line() {
    let desk = Desk::with_photo();
    let output = desk.lfield(&["segment", "nothing.jpg"]).assert().code(1).get_output().clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: ") && said.contains("nothing.jpg"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}

#[test]
fn command_lines_that_make_no_sense_exit_2_and_say_what_would() {
    let desk = Desk::with_strokes();
    for (arguments, hint) in [
        (&["--beta", "-1"][..], "at least 0"),
        (&["--beta", "many"], "at least 0"),
        (&["--beta", "1e300"], "at most 1e9"),
        (&["--gamma", "nan"], "at least 0"),
        (&["--tolerance", "0"], "above 0"),
        (&["--temperature", "0"], "1e-6 to 1e6"),
        (&["--temperature", "hot"], "fit"),
        (&["--method", "belief"], "mean-field"),
        (&["--method", "fbp", "--fbp-weight", "0"], "above 0"),
        (&["--method", "bp", "--damping", "1"], "below 1"),
        (&["--method", "bp", "--strict"], "certificate"),
        (&["--method", "mean-field", "--temperature", "fit"], "a number"),
        (&["--outlier", "1"], "below 1"),
        (&["--geodesic", "-2"], "auto"),
        (&["--theta", "x"], "auto"),
        (&["--phi", "robust:0.7"], "robust:0.1"),
        (&["--components", "0"], "1..=64"),
        (&["--layer", "7,6.5"], "hs,hr,min"),
        (&["--emit", "mask,pony"], "heatmap"),
        (&["--time-limit", "0"], "seconds"),
        (&["--max-pixels", "0"], "12M"),
        (&["--threads", "0"], "1..=1024"),
        (&["--seeds", "wet"], "hard"),
        (&["--map", "middle"], "minimal"),
        (&["--unary", "a.npy", "--prior", "b.npy"], "--prior"),
        (&["--unary", "a.npy", "--geodesic", "auto"], "a number"),
        (&["-q", "-v"], "--verbose"),
        (&["--pony"], "--pony"),
    ] {
        let mut command = desk.lfield(&["segment", "disc.png"]);
        command.args(arguments).assert().code(2).stdout("").stderr(contains(hint));
    }
    desk.lfield(&[]).assert().code(2);
    desk.lfield(&["segment"]).assert().code(2).stderr(contains("IMAGE"));
    desk.lfield(&["segmnet", "disc.png"]).assert().code(2).stderr(contains("segment"));
    assert!(!desk.path("lfield-out").exists());
}

#[test]
fn emit_all_writes_every_file_and_nothing_else() {
    let desk = Desk::with_strokes();
    let said = desk.segment(&["--emit", "all", "-o", "a/new/folder"]);
    assert_eq!(desk.names("a/new/folder"), ALL_FILES);
    for name in ALL_FILES {
        let suffix = name.strip_prefix("disc.").unwrap();
        assert!(said.contains(suffix), "{suffix} in {said}");
        assert!(!bytes(&desk.path("a/new/folder").join(name)).is_empty(), "{name}");
    }
    let mut listed: Vec<String> =
        desk.report("a/new/folder")["outputs"].as_array().unwrap().iter().map(|n| n.as_str().unwrap().into()).collect();
    listed.sort();
    assert_eq!(listed, ALL_FILES);
}

#[test]
fn emit_takes_names_of_outputs_and_of_files() {
    let desk = Desk::with_strokes();
    desk.segment(&["--emit", "s,overlay.png", "--emit", "trace"]);
    assert_eq!(desk.names("lfield-out"), ["disc.overlay.png", "disc.s.npy", "disc.trace.csv"]);
}

#[test]
fn outputs_are_the_same_bytes_at_any_number_of_threads_without_wide_vectors_and_from_run_to_run() {
    // Large enough for several blocks of every stage that works in blocks.
    let desk = Desk::enlarged(6);
    let runs = [("one", "1", ""), ("two", "2", ""), ("seven", "7", ""), ("again", "7", ""), ("narrow", "2", "off")];
    for (folder, threads, vectors) in runs {
        let mut command =
            desk.lfield(&["segment", "disc.png", "-q", "--emit", "all", "--threads", threads, "-o", folder]);
        command.env("LFIELD_VECTORS", vectors).assert().success();
    }
    for name in ALL_FILES {
        let read = |folder: &str| match name {
            // These two hold seconds; everything else in them must agree.
            "disc.report.json" => without_seconds(desk.report(folder)),
            "disc.trace.csv" => without_column(&bytes(&desk.path(folder).join(name)), 1),
            _ => bytes(&desk.path(folder).join(name)),
        };
        for (folder, ..) in &runs[1..] {
            assert!(read("one") == read(folder), "{name} differs between one and {folder}");
        }
    }
}

#[test]
fn not_converging_is_an_error_only_under_strict() {
    let desk = Desk::with_strokes();
    let hard = ["--beta", "0.1", "--gamma", "0", "--max-iterations", "1", "--tolerance", "1e-300"];
    let said = desk.segment(&hard);
    assert!(said.contains("--max-iterations"), "{said}");
    let report = desk.report("lfield-out");
    assert_eq!(report["solve"]["converged"], false);
    assert_eq!(report["solve"]["status"], "iteration-limit");
    assert!(report["warnings"].to_string().contains("tolerance"), "{}", report["warnings"]);

    let mut strict = desk.lfield(&["segment", "disc.png", "--strict", "-o", "strict"]);
    strict.args(hard).assert().code(4);
    assert_eq!(desk.names("strict"), DEFAULT_FILES);
    desk.segment(&["--strict"]);
}

#[test]
fn costs_too_large_for_arithmetic_decide_their_pixels() {
    let desk = Desk::with_photo();
    desk.save_array("absurd.npy", |x, _| if x < 9 { -1e200 } else { 1e200 });
    desk.segment(&["--strict", "--unary", "absurd.npy"]);
    let report = desk.report("lfield-out");
    assert_eq!((&report["model"]["free_pixels"], &report["map"]["area"]), (&0.into(), &(9 * HEIGHT).into()));
    assert_eq!(report["marginals"]["certified_pixels"], report["model"]["pixels"]);
}

#[test]
fn the_solver_by_cuts_and_the_default_reach_the_same_marginals() {
    let desk = Desk::with_strokes();
    let marginals = |solver: &str| {
        desk.segment(&[
            "-q",
            "--gamma",
            "0",
            "--solver",
            solver,
            "--tolerance",
            "1e-14",
            "--emit",
            "npy",
            "-o",
            solver,
        ]);
        desk.array(&format!("{solver}/disc.marginals.npy"))
    };
    for (a, b) in marginals("accelerated").iter().zip(marginals("divide-conquer")) {
        assert!((a - b).abs() < 1e-6, "{a} and {b}");
    }
}

#[test]
fn a_time_limit_ends_the_solve_with_what_there_is() {
    let desk = Desk::with_strokes();
    desk.segment(&["--beta", "0.1", "--gamma", "0", "--time-limit", "1e-9", "--tolerance", "1e-300"]);
    let report = desk.report("lfield-out");
    assert_eq!(report["solve"]["status"], "time-limit");
    assert_eq!(desk.names("lfield-out"), DEFAULT_FILES);
}

#[test]
fn quiet_means_silent_and_verbose_means_more() {
    let desk = Desk::with_strokes();
    assert_eq!(desk.segment(&["-q"]), "");
    let (plain, more) = (desk.segment(&[]), desk.segment(&["-v"]));
    assert!(more.lines().count() > plain.lines().count());
    assert!(!plain.contains('\x1b') && desk.segment(&["--color", "always"]).contains('\x1b'));
}

#[test]
fn an_input_is_never_overwritten_under_any_name() {
    let desk = Desk::with_photo();
    desk.save_strokes("disc.trimap.png");
    let before = bytes(&desk.path("disc.trimap.png"));
    let common = ["segment", "disc.png", "--scribble-format", "labels", "--emit", "trimap,mask"];
    let refused = |extra: &[&str]| {
        let mut command = desk.lfield(&common);
        command.args(extra).assert().code(1).stderr(contains("disc.trimap.png").and(contains("-o")));
        assert_eq!(bytes(&desk.path("disc.trimap.png")), before);
        assert!(!desk.path("disc.mask.png").exists());
    };
    refused(&["--scribbles", "disc.trimap.png", "-o", "."]);

    #[cfg(unix)]
    {
        std::fs::create_dir(desk.path("out")).unwrap();
        std::fs::hard_link(desk.path("disc.trimap.png"), desk.path("out/disc.trimap.png")).unwrap();
        refused(&["--scribbles", "disc.trimap.png", "-o", "out"]);
        std::os::unix::fs::symlink(desk.path("disc.trimap.png"), desk.path("link.png")).unwrap();
        refused(&["--scribbles", "link.png", "-o", "."]);
    }
}

#[test]
fn old_results_are_replaced_and_old_ones_survive_a_failure() {
    let desk = Desk::with_strokes();
    desk.segment(&["-q"]);
    let first = bytes(&desk.path("lfield-out/disc.marginals.png"));
    desk.segment(&["-q", "--temperature", "30"]);
    let second = bytes(&desk.path("lfield-out/disc.marginals.png"));
    assert_ne!(first, second);

    // One output that cannot be put in place leaves all of them as they were.
    std::fs::remove_file(desk.path("lfield-out/disc.mask.png")).unwrap();
    std::fs::create_dir(desk.path("lfield-out/disc.mask.png")).unwrap();
    desk.lfield(&["segment", "disc.png"]).assert().code(1).stderr(contains("disc.mask.png"));
    assert_eq!(bytes(&desk.path("lfield-out/disc.marginals.png")), second);
    assert_eq!(desk.names("lfield-out"), DEFAULT_FILES);
}

#[test]
fn a_file_where_the_output_folder_should_be_is_named() {
    let desk = Desk::with_strokes();
    std::fs::write(desk.path("taken"), "").unwrap();
    desk.lfield(&["segment", "disc.png", "-o", "taken"]).assert().code(1).stderr(contains("taken").and(contains("-o")));
}

#[test]
fn photos_above_the_limit_are_refused() {
    let desk = Desk::with_strokes();
    desk.lfield(&["segment", "disc.png", "--max-pixels", "431"]).assert().code(1).stderr(contains("--max-pixels"));
    desk.segment(&["--max-pixels", "432"]);
}

#[test]
fn help_has_examples_and_headings() {
    let desk = Desk::with_photo();
    desk.lfield(&["--help"]).assert().success().stdout(contains("Examples:").and(contains("Exit codes:")));
    let help = desk.lfield(&["segment", "--help"]).assert().success();
    help.stdout(
        contains("Examples:")
            .and(contains("Model:"))
            .and(contains("Solver:"))
            .and(contains("Output:"))
            .and(contains("Input:")),
    );
    desk.lfield(&["--version"]).assert().success().stdout(contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_the_manual_come_from_the_same_definition() {
    let desk = Desk::with_photo();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        desk.lfield(&["completions", shell]).assert().success().stdout(contains("hop-scale"));
    }
    desk.lfield(&["man"]).assert().success().stdout(contains(".TH lfield").and(contains("hop\\-scale")));
    desk.lfield(&["man", "merge"])
        .assert()
        .success()
        .stdout(contains(".TH lfield-merge").and(contains("hop\\-scale").not()));
    desk.lfield(&["man", "merg"]).assert().code(2).stderr(contains("segment, batch, merge"));
}

#[cfg(unix)]
#[test]
fn a_reader_that_hangs_up_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_lfield")).arg("man").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn an_interrupt_exits_130_and_leaves_nothing_behind() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let desk = Desk::enlarged(60);
    let mut child = Command::new(env!("CARGO_BIN_EXE_lfield"))
        .args(["segment", "disc.png", "--tolerance", "1e-300", "-v"])
        .current_dir(desk.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has begun when it says what it needs; 1.5 million pixels are far from done then.
    let mut said = BufReader::new(child.stderr.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!desk.path("lfield-out").exists());
}
