//! The standard streams: one file in, one file out.

use predicates::str::contains;

use super::{Case, case, check_all, usage};
use crate::desk::{Desk, bytes};

pub(super) fn cases() -> Vec<Case> {
    let both = "cannot both come from the standard input";
    let one = "writes exactly one output";
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x18\0\0\0\x12\x08\x02\0\0\0";
    vec![
        usage("segment -", "no strokes lie beside it", "--scribbles"),
        usage("segment - -o -", "no strokes lie beside it", "--scribbles"),
        usage("segment - --scribbles -", both, "give one of them as a file"),
        usage("segment - --prior -", both, "give one of them as a file"),
        usage("segment - --unary - --scribbles disc.scribbles.png", both, "give one of them as a file"),
        usage("segment disc.png --scribbles - --prior -", both, "--scribbles and --prior"),
        usage("segment disc.png --superpixels - --superpixels -", both, "give one of them as a file"),
        usage("segment disc.png -o -", one, "--emit mask"),
        usage("segment disc.png -o - --emit mask,heatmap", one, "asks for 2"),
        usage("segment disc.png -o - --emit all", one, "choose one, as in --emit mask"),
        usage("segment disc.png -o - --emit npy", one, "choose one, as in --emit mask"),
        usage("segment disc.png -o - --emit mask --json", "--json", "leave out one"),
        usage("segment disc.png -o - --json", "--json", "leave out one"),
        usage("segment disc.png -o out.png", "out.png", "-o - --emit mask > FILE"),
        usage("segment disc.png -o new/mask.PNG", "new/mask.PNG", "give a folder"),
        usage("superpixels disc.png -o labels.npy", "labels.npy", "give a folder"),
        usage("batch . -o results.json", "results.json", "give a folder"),
        usage("batch -", "the folder of lfield batch", "give a name"),
        usage("batch . -o -", "-o of lfield batch", "give a name"),
        usage("batch . --scribbles -", "--scribbles of lfield batch", "give a name"),
        usage("batch --manifest -", "--manifest of lfield batch", "give a name"),
        usage("superpixels -", "the photo of lfield superpixels", "give a name"),
        usage("evaluate -", "the folder of lfield evaluate", "give a name"),
        usage("merge -", "the folder of lfield merge", "give a name"),
        case("segment - --scribbles disc.scribbles.png", "- is", "an empty file", "give a PNG"),
        case("segment - --scribbles disc.scribbles.png -q", "- is", "not an image", "give a PNG").fed(b"Dear photo"),
        case("segment - --scribbles disc.scribbles.png -o -  --emit mask", "- is damaged", "ends too early", "export")
            .fed(png),
        case("segment disc.png --scribbles -", "- is", "an empty file", "give a PNG"),
        case("segment disc.png --scribbles - -q", "- is 3×1", "24×18", "same size").fed(b"P5 3 1 255 \xff\x80\x00"),
        case("segment disc.png --prior -", "- is", "an empty file", ""),
    ]
}

#[test]
fn wrong_uses_of_pipes_are_refused_in_one_line() {
    let desk = Desk::with_strokes();
    let cases = cases();
    assert!(cases.len() >= 20);
    check_all(&desk, &cases);
    // The name of a pipe says nothing about its strokes.
    let strokes = bytes(&desk.path("disc.scribbles.png"));
    let ambiguous = || case("segment disc.png --scribbles -", "-", "the name says neither", "--scribble-format labels");
    check_all(&desk, &[ambiguous().fed(&strokes)]);
}

#[test]
fn an_endless_pipe_of_rubbish_is_refused_by_its_first_bytes() {
    let desk = Desk::with_strokes();
    let text = "yes | \"$0\" segment - --scribbles disc.scribbles.png --color never";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", text, env!("CARGO_BIN_EXE_lfield")]).current_dir(desk.path(""));
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("- is not an image"), "{said}");
}

#[test]
fn what_goes_through_pipes_is_what_lies_in_files() {
    let desk = Desk::with_strokes();
    desk.save_array("prior.npy", |x, _| if (6..18).contains(&x) { 0.9 } else { 0.2 });
    for output in ["mask", "heatmap", "marginals", "marginals.npy", "cutout", "overlay", "trimap"] {
        desk.segment(&["-q", "-o", "files", "--emit", output]);
        let [name] = &desk.names("files")[..] else { panic!("one file") };
        let file = bytes(&desk.path("files").join(name));
        std::fs::remove_dir_all(desk.path("files")).unwrap();
        let to_stdout = ["-o", "-", "--emit", output];
        let photo = ["segment", "-", "--scribbles", "disc.scribbles.png"];
        let from_photo =
            desk.lfield(&photo).args(to_stdout).write_stdin(bytes(&desk.path("disc.png"))).output().unwrap();
        assert_eq!(from_photo.stdout, file, "{output}");
        assert!(String::from_utf8(from_photo.stderr).unwrap().contains("to the standard output"));
        let strokes = ["segment", "disc.png", "--scribbles", "-", "--scribble-format", "labels"];
        let mut from_strokes = desk.lfield(&strokes);
        from_strokes.args(to_stdout).write_stdin(bytes(&desk.path("disc.scribbles.png")));
        assert!(from_strokes.output().unwrap().stdout == file, "{output}");
    }
    let prior =
        desk.lfield(&["segment", "disc.png", "--prior", "prior.npy", "-o", "-", "--emit", "mask"]).output().unwrap();
    let mut piped = desk.lfield(&["segment", "disc.png", "--prior", "-", "-o", "-", "--emit", "mask"]);
    assert_eq!(piped.write_stdin(bytes(&desk.path("prior.npy"))).output().unwrap().stdout, prior.stdout);
    assert!(prior.stdout.starts_with(b"\x89PNG"));
    assert!(!desk.path("lfield-out").exists());

    let photo = ["segment", "-", "--scribbles", "disc.scribbles.png", "-o", "named"];
    desk.lfield(&photo).write_stdin(bytes(&desk.path("disc.png"))).assert().success().stderr(contains("named/stdin.{"));
    assert_eq!(desk.names("named").len(), 4);
}

#[test]
fn a_piped_photo_needs_no_strokes_where_it_is_marked() {
    let desk = Desk::with_strokes();
    for marks in [&["--box", "2,2,20,14"][..], &["--fg", "12,8", "--bg", "1,1"]] {
        let run = |photo| {
            let mut command = desk.lfield(&["segment", photo, "-o", "-", "--emit", "mask"]);
            command.args(marks).write_stdin(bytes(&desk.path("disc.png"))).output().unwrap()
        };
        let piped = run("-");
        assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
        assert!(piped.stdout.starts_with(b"\x89PNG"));
        std::fs::copy(desk.path("disc.png"), desk.path("alone.png")).unwrap();
        assert_eq!(piped.stdout, run("alone.png").stdout, "{marks:?}");
    }
}

#[test]
fn the_report_goes_to_stdout_where_it_is_asked_for() {
    let desk = Desk::with_strokes();
    let mut command = desk.lfield(&["segment", "disc.png", "-o", "out", "--json", "--emit", "mask,report"]);
    let output = command.assert().success().get_output().clone();
    assert_eq!(output.stdout, bytes(&desk.path("out/disc.report.json")));
    let alone = desk.lfield(&["segment", "disc.png", "-q", "-o", "-", "--emit", "report"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&alone.stdout).unwrap();
    assert_eq!((&report["schema"], &report["outputs"]), (&"lfield.report/1".into(), &serde_json::json!([])));
    let quiet = desk.lfield(&["segment", "disc.png", "-q", "-o", "out", "--json", "--emit", "mask"]).output().unwrap();
    assert!(quiet.stderr.is_empty() && quiet.stdout.starts_with(b"{"));
}
