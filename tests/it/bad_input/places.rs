//! Where results go, and what things are called.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use lfield::read::Input;
use lfield::session::{Event, Options, Session};
use lfield::store;

use super::{Case, case, check_all, listing};
use crate::desk::{Desk, bytes};

pub(super) fn cases() -> Vec<Case> {
    let labels = "--scribble-format labels";
    vec![
        case("segment disc.png -o taken", "taken", "cannot write to the folder", "choose another with -o"),
        case("segment disc.png -o taken/below", "taken/below", "cannot write to the folder", "choose another with -o"),
        case(
            "segment disc.png -o /proc/lfield",
            "/proc/lfield",
            "cannot write to the folder",
            "choose another with -o",
        ),
        case("superpixels disc.png -o taken", "taken", "cannot write to the folder", "choose another with -o"),
        case(
            "superpixels disc.png -o /proc/lfield",
            "/proc/lfield",
            "cannot write to the folder",
            "choose another with -o",
        ),
        case("batch in -o taken", "taken", "cannot write to the folder", "choose another with -o"),
        case("batch in -o /proc/lfield", "/proc/lfield", "cannot write to the folder", "choose another with -o"),
        case("evaluate set -o taken", "taken", "cannot write", "with -o"),
        case("segment disc.png -o blocked", "disc.mask.png", "cannot write", "choose another folder with -o"),
        case(
            &format!("segment disc.png --scribbles disc.mask.png {labels} -o ."),
            "disc.mask.png",
            "would be written over the input",
            "choose another folder with -o",
        ),
        case(
            &format!("segment disc.png --scribbles link.png {labels} -o ."),
            "link.png",
            "would be written over the input",
            "choose another folder with -o",
        ),
        case("segment disc.png -o hard", "hard/disc.mask.png", "would be written over the input", "with -o"),
        case("segment disc.png -o soft", "soft/disc.mask.png", "would be written over the input", "with -o"),
        case("superpixels disc.png -o hard", "hard/disc.means-1.png", "would be written over the input", "with -o"),
        case("superpixels disc.png -o soft", "soft/disc.means-1.png", "would be written over the input", "with -o"),
        case("batch in -o linked", "linked/a.mask.png", "would be written over the input", "with -o"),
        case("batch nowhere", "nowhere", "No such file", "check the name"),
        case("evaluate nowhere", "nowhere", "", "check the name"),
        case("merge nowhere", "nowhere", "", "check the name"),
    ]
}

fn desk() -> Desk {
    let desk = Desk::with_strokes();
    desk.put("taken", b"");
    desk.save_strokes("disc.mask.png");
    std::fs::create_dir_all(desk.path("blocked/disc.mask.png")).unwrap();
    desk.put("in/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("in/a.scribbles.png");
    desk.put("set/images/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("set/scribbles/a.png");
    desk.put_grey("set/masks/a.png", |x, _| if x < 9 { 255 } else { 0 });
    let photo = desk.path("disc.png");
    for folder in ["hard", "soft", "linked"] {
        std::fs::create_dir(desk.path(folder)).unwrap();
    }
    for name in ["disc.mask.png", "disc.means-1.png"] {
        std::fs::hard_link(&photo, desk.path("hard").join(name)).unwrap();
        std::os::unix::fs::symlink(&photo, desk.path("soft").join(name)).unwrap();
    }
    std::os::unix::fs::symlink(desk.path("disc.mask.png"), desk.path("link.png")).unwrap();
    std::fs::hard_link(desk.path("in/a.scribbles.png"), desk.path("linked/a.mask.png")).unwrap();
    desk
}

#[test]
fn folders_that_cannot_be_written_and_inputs_in_the_way_are_refused_in_one_line() {
    let desk = desk();
    let inputs = ["disc.png", "disc.scribbles.png", "disc.mask.png", "in/a.png", "in/a.scribbles.png"];
    let before = inputs.map(|name| bytes(&desk.path(name)));
    check_all(&desk, &cases());
    assert!(before == inputs.map(|name| bytes(&desk.path(name))), "an input was changed");
}

/// A photo with strokes beside it under this stem, however odd.
fn save_as(desk: &Desk, folder: &Path, stem: &OsStr) -> std::path::PathBuf {
    let [photo, strokes] = [".png", ".scribbles.png"].map(|suffix| {
        let mut name = stem.to_os_string();
        name.push(suffix);
        folder.join(name)
    });
    std::fs::create_dir_all(folder).unwrap();
    std::fs::copy(desk.path("disc.png"), &photo).unwrap();
    std::fs::copy(desk.path("disc.scribbles.png"), strokes).unwrap();
    photo
}

/// Names that trip programs up: blanks, quotes, line breaks, options, other alphabets, and bytes that are no text at all.
fn odd_stems() -> Vec<&'static OsStr> {
    use std::os::unix::ffi::OsStrExt;
    let mut stems: Vec<&OsStr> =
        ["a b  c", "it's \"quoted\"", "two\nlines", "-q", "--beta=-1", "猫😀", "a.b.c", "$HOME;ls", "*"]
            .map(OsStr::new)
            .to_vec();
    stems.push(OsStr::from_bytes(b"\xff\xfe not utf-8 \xc3"));
    stems
}

#[test]
fn odd_names_are_just_names() {
    let desk = Desk::with_strokes();
    for stem in odd_stems() {
        let photo = save_as(&desk, &desk.path("odd"), stem);
        let name = photo.file_name().unwrap();
        let out = desk.path("odd-out");
        let mut command = desk.lfield(&["segment", "-q", "-o"]);
        command.current_dir(desk.path("odd")).arg(&out).arg("--").arg(name).assert().success().stderr("");
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 4, "{name:?}");
        std::fs::remove_dir_all(out).unwrap();
    }
    let n_photos = odd_stems().len();
    let mut batch = desk.lfield(&["batch", "odd", "-o", "all", "--max-iterations", "5"]);
    let said = batch.assert().success().get_output().stderr.clone();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains(&format!("{n_photos} segmented")), "{said}");
}

#[test]
fn odd_names_in_messages_stay_on_one_line_and_send_no_commands_to_the_terminal() {
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::with_photo();
    for (name, shown) in [
        (&b"two\nlines.png"[..], "two\\nlines.png"),
        (b"\x1b[31mred.png", "[31mred.png"),
        (b"\xff.png", "\u{fffd}.png"),
        (b"\x07bell.png", "bell.png"),
        ("turned \u{202e}gnp.exe".as_bytes(), "turned \\u{202e}gnp.exe"),
        ("iso\u{2066}lated\u{200f}.png".as_bytes(), "iso\\u{2066}lated\\u{200f}.png"),
    ] {
        let output = desk.lfield(&["segment"]).arg(OsStr::from_bytes(name)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.lines().count() == 1 && said.contains(shown), "{said:?}");
        assert!(!said.trim_end().contains(char::is_control), "{said:?}");
    }
}

#[test]
fn odd_names_send_no_commands_from_a_batch_either() {
    let desk = Desk::with_strokes();
    let mut names = vec!["in/\x1b[31mgood\nname.png", "in/\x1b[31mbad\nname.png", "in/\x1b[31mlonely\nname.png"];
    desk.put(names[0], &bytes(&desk.path("disc.png")));
    desk.put(names[1], b"Dear photo");
    desk.put(names[2], &bytes(&desk.path("disc.png")));
    names.truncate(2);
    for name in names {
        desk.save_strokes(&name.replace(".png", ".scribbles.png"));
    }
    for arguments in [&["--dry-run"][..], &["-v"], &["-v"]] {
        let output = desk.lfield(&["batch", "in"]).args(arguments).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        for part in ["good\\nname", "bad\\nname", "lonely\\nname"] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(!said.contains('\x1b') && said.lines().all(|line| !line.starts_with("name")), "{said:?}");
    }
}

#[test]
fn a_photo_from_a_pipe_is_refused_and_strokes_from_a_pipe_are_read() {
    let desk = Desk::with_strokes();
    assert!(Command::new("mkfifo").arg(desk.path("pipe.png")).status().unwrap().success());
    check_all(&desk, &[case("segment pipe.png --prior disc.png", "pipe.png", "is a pipe", "save the photo in a file")]);
    let mut command = desk.lfield(&["segment", "disc.png", "-q", "--scribble-format", "labels"]);
    let strokes = bytes(&desk.path("disc.scribbles.png"));
    command.args(["--scribbles", "/dev/stdin"]).write_stdin(strokes).assert().success();
}

#[test]
fn a_name_too_long_for_its_results_is_refused_before_the_work() {
    let desk = Desk::with_strokes();
    // The mask would just fit, the heat map would not.
    let name = format!("{}.png", "x".repeat(245));
    desk.put(&format!("long/{name}"), &bytes(&desk.path("disc.png")));
    let before = listing(&desk);
    for out in ["out", "long"] {
        let mut command = desk.lfield(&["segment", "--scribbles", "disc.scribbles.png", "-o", out]);
        let output = command.arg(format!("long/{name}")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        for part in ["xxx.heatmap.png", "too long", "shorter name"] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert_eq!(listing(&desk), before, "{said}");
    }
    let endless = "y".repeat(300);
    let output = desk.lfield(&["segment", &format!("{endless}.png")]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("too long"));
}

#[test]
fn a_folder_that_vanishes_is_made_again_or_missed_by_name() {
    let desk = Desk::with_strokes();
    let input = Input { image: desk.path("disc.png"), ..Input::default() };
    let (options, out) = (Options::default(), desk.path("out"));
    let remove = || std::fs::remove_dir_all(desk.path("out")).unwrap();
    std::fs::create_dir(&out).unwrap();
    let session = Session::read(&input, options, &|| Ok(())).unwrap();
    let answer = session
        .into_answer(&mut |event| {
            if matches!(event, Event::Solved) {
                remove();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    store::write(&answer, &out, &|| ControlFlow::Continue(())).unwrap();
    assert_eq!(desk.names("out").len(), 4);
    let vanished = store::write(&answer, &out, &|| {
        remove();
        ControlFlow::Continue(())
    });
    let said = vanished.unwrap_err().to_string();
    assert!(said.contains("disc."), "{said}");
    assert!(!out.exists());
}

/// A file system of so many kilobytes, unmounted when dropped; nothing where that is not allowed.
pub(crate) struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    pub(crate) fn mount(folder: &'a Path, kilobytes: u32) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).status();
        assert!(mounted.is_ok_and(|status| status.success()), "only root may mount");
        Self(folder)
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
#[ignore = "needs root, to mount a small file system"]
fn a_full_disk_keeps_the_old_results_and_takes_no_half_of_the_new() {
    let desk = Desk::enlarged(8);
    let folder = desk.path("disk");
    let _disk = SmallDisk::mount(&folder, 256);
    desk.segment(&["-q", "-o", "disk/out", "--emit", "mask,report"]);
    let old = bytes(&desk.path("disk/out/disc.mask.png"));
    let before = desk.names("disk/out");
    let output = desk.lfield(&["segment", "disc.png", "-o", "disk/out", "--emit", "all"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["disk/out/disc.", "No space left", "make room there"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(desk.names("disk/out"), before);
    assert_eq!(bytes(&desk.path("disk/out/disc.mask.png")), old);

    for command in [&["superpixels", "disc.png", "-o", "disk/full"][..], &["batch", "in", "-o", "disk/full"]] {
        desk.put("in/a.png", &bytes(&desk.path("disc.png")));
        desk.put("in/a.scribbles.png", &bytes(&desk.path("disc.scribbles.png")));
        std::fs::write(desk.path("disk/ballast"), vec![1; 200 << 10]).ok();
        let output = desk.lfield(command).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("No space left") && said.contains("disk/full"), "{said}");
        let left = walk_files(&desk.path("disk/full"));
        assert!(left.iter().all(|name| !name.ends_with(".part")), "{left:?}");
    }
}

#[test]
#[ignore = "needs root, to mount a small file system"]
fn the_first_full_disk_stops_a_batch_and_the_same_command_goes_on_when_there_is_room() {
    let desk = Desk::enlarged(8);
    for i in 0..12 {
        desk.put(&format!("in/{i:02}.png"), &bytes(&desk.path("disc.png")));
        desk.put(&format!("in/{i:02}.scribbles.png"), &bytes(&desk.path("disc.scribbles.png")));
    }
    let folder = desk.path("disk");
    let _disk = SmallDisk::mount(&folder, 640);
    std::fs::write(desk.path("disk/ballast"), vec![1; 300 << 10]).unwrap();
    let run = |code: i32| {
        let output = desk.lfield(&["batch", "in", "-o", "disk/out", "--threads", "1"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    };
    let said = run(1);
    assert_eq!(said.matches("No space left").count(), 1 + usize::from(!said.contains("the disk is full")), "{said}");
    let n_done = walk_files(&folder).iter().filter(|name| name.ends_with(".report.json")).count();
    assert!(n_done < 12, "{said}");
    std::fs::remove_file(desk.path("disk/ballast")).unwrap();
    let said = run(0);
    assert!(said.contains(&format!("{} segmented", 12 - n_done)), "{n_done} done before: {said}");
}

fn walk_files(folder: &Path) -> Vec<String> {
    if !folder.exists() {
        return Vec::new();
    }
    super::walk(folder).iter().map(|path| path.display().to_string()).collect()
}
