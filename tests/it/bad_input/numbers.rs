//! Numbers on the command line and in manifests.

use super::{Case, case, check_all, usage};
use crate::desk::{Desk, bytes};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for option in ["--alpha", "--beta", "--gamma"] {
        for value in ["-1", "nan", "inf", "1e300", "1e999", "1,5", "0x10"] {
            cases.push(usage(&format!("segment disc.png {option} {value}"), option, "at least 0 and at most 1e9"));
        }
    }
    for value in ["-0.001", "nan", "inf", "1e999"] {
        cases.push(usage(&format!("segment disc.png --theta {value}"), "--theta", "at least 0, or auto"));
    }
    for value in ["0", "-1e-5", "nan", "inf"] {
        cases.push(usage(&format!("segment disc.png --tolerance {value}"), "--tolerance", "a number above 0"));
    }
    for (option, value, remedy) in [
        ("--temperature", "0", "1e-6 to 1e6"),
        ("--temperature", "nan", "1e-6 to 1e6"),
        ("--geodesic", "-1", "auto"),
        ("--geodesic", "1e999", "auto"),
        ("--context", "-1", "at least 0"),
        ("--prior-clip", "0.5", "from 0 to 0.49, or auto"),
        ("--prior-clip", "nan", "from 0 to 0.49, or auto"),
        ("--prior-temperature", "0", "from 0.001 to 1000, or auto"),
        ("--prior-colour", "-1", "from 0 to 100, or auto"),
        ("--outlier", "1", "below 1"),
        ("--components", "65", "1..=64"),
        ("--phi", "robust:nan", "robust:0.1"),
        ("--trimap-band", "0.6", "at most 0.5"),
        ("--time-limit", "-3", "such as 2.5"),
        ("--time-limit", "1e300", "longer than anyone can wait"),
        ("--max-iterations", "-1", "--help"),
        ("--max-pixels", "99999999999999999999", "12M"),
        ("--max-memory", "0", "16G"),
        ("--max-memory", "a lot", "16G"),
        ("--threads", "1025", "1..=1024"),
        ("--seed", "-1", "--help"),
        ("--fbp-weight", "nan", "above 0"),
        ("--damping", "1", "below 1"),
    ] {
        let mut case = usage(&format!("segment disc.png {option}"), option, remedy);
        case.arguments.push(value.to_string());
        cases.push(case);
    }
    cases.push(usage("segment disc.png --prior-colour 1", "--prior-colour", "name its file"));
    let nine = "--layer 7,6.5,20 ".repeat(9);
    for command in ["segment", "superpixels"] {
        cases.push(usage(&format!("{command} disc.png {nine}"), "9 layers", "at most 8"));
    }
    let maps = "--superpixels labels.png ".repeat(9);
    cases.push(usage(&format!("segment disc.png {maps}"), "9 layers", "at most 8"));
    for (arguments, option, remedy) in [
        ("batch in --shard 3/2", "--shard", "2/4"),
        ("batch in --shard 0/2", "--shard", "2/4"),
        ("batch in --jobs 0", "--jobs", "1..=1024"),
        ("evaluate in --grid beta=1,-2", "--grid", "at least 0"),
        ("evaluate in --grid delta=1", "--grid", "such as beta=1,10,100"),
    ] {
        cases.push(usage(arguments, option, remedy));
    }
    for (name, problem, remedy) in [
        ("no-column.csv", "no column `image`", "name the columns"),
        ("ragged.csv", "no proper CSV", "check quotes and commas"),
        ("nameless.csv", "line 3 names no image", "fill in `image`"),
        ("binary.csv", "not UTF-8", "save it as UTF-8"),
        ("broken.jsonl", "line 2 is no JSON object", "write one object per line"),
        ("nested.jsonl", "an object under `options`", "give text, a number or a list"),
        ("unknown.csv", "an unknown option `pony`", "one of `paper`, `alpha`"),
        ("value.csv", "beta is -1", "at least 0"),
        ("nine.jsonl", "9 layers", "at most 8"),
        ("missing.csv", "No such file", "check the name"),
        ("/dev/zero", "is larger than 256 MB", "divide it into several lists"),
    ] {
        cases.push(case(&format!("batch --manifest {name}"), name, problem, remedy));
    }
    cases
}

fn desk() -> Desk {
    let desk = Desk::with_strokes();
    desk.put("in/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("in/a.scribbles.png");
    desk.put("no-column.csv", b"photo\na.png\n");
    desk.put("ragged.csv", b"image,beta\ndisc.png,1,2\n");
    desk.put("nameless.csv", b"image,beta\ndisc.png,1\n,2\n");
    desk.put("binary.csv", b"image\n\xff\xfe.png\n");
    desk.put("broken.jsonl", b"{\"image\": \"disc.png\"}\n{\"image\": }\n");
    desk.put("nested.jsonl", b"{\"image\": \"disc.png\", \"options\": {\"beta\": 1}}\n");
    desk.put("unknown.csv", b"image,pony\ndisc.png,1\n");
    desk.put("value.csv", b"image,beta\ndisc.png,-1\n");
    let maps = ["\"labels.png\""; 9].join(", ");
    desk.put("nine.jsonl", format!("{{\"image\": \"disc.png\", \"superpixels\": [{maps}]}}\n").as_bytes());
    desk
}

#[test]
fn numbers_out_of_range_are_usage_errors_that_say_the_range() {
    check_all(&desk(), &cases());
}
