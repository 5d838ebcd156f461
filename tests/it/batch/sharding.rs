//! Shards, schedulers and merging.

use predicates::str::contains;

use super::{contents, data_set, summary};

#[test]
fn shards_and_merge_are_the_whole() {
    let names: Vec<String> = (0..12).map(|i| format!("d{}/p{i}.png", i % 2)).collect();
    let desk = data_set(&names.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::write(desk.path("in/d0/broken.jpg"), "no photo").unwrap();
    desk.lfield(&["batch", "in", "-o", "whole", "--truth", "in"]).assert().code(1);
    desk.lfield(&["merge", "whole"]).assert().code(3);
    let mut n_done = 0;
    for index in [2, 4, 1, 3] {
        desk.lfield(&["merge", "parts"]).assert().code(1);
        let shard = format!("{index}/4");
        let run = desk.lfield(&["batch", "in", "-o", "parts", "--truth", "in", "--shard", &shard]).assert();
        assert!([0, 1].contains(&run.get_output().status.code().unwrap()));
        let summary = summary(&desk, &format!("parts/summary.{index}-of-4.json"));
        n_done += summary["counts"]["done"].as_u64().unwrap();
    }
    assert_eq!(n_done, 12);
    desk.lfield(&["merge", "parts"]).assert().success().stderr(contains("13 photos, 12 done, 1 failed"));
    let (whole, mut parts) = (contents(&desk.path("whole")), contents(&desk.path("parts")));
    let n_shard_files = parts.keys().filter(|name| name.contains("-of-") && !name.starts_with(".lfield/")).count();
    assert_eq!(n_shard_files, 8);
    parts.retain(|name, _| !name.contains("-of-"));
    assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>());
    for (name, content) in &whole {
        assert!(parts[name] == *content, "{name} differs");
    }

    desk.lfield(&["batch", "in", "-o", "parts", "--shard", "2/4", "--beta", "1", "-q"]).output().unwrap();
    desk.lfield(&["merge", "parts"]).assert().code(1).stderr(contains("different plans"));
    std::fs::remove_file(desk.path("parts/summary.2-of-4.json")).unwrap();
    desk.lfield(&["merge", "parts"]).assert().code(1).stderr(contains("no report of shard 2/4"));
    desk.lfield(&["merge", "nowhere"]).assert().code(1).stderr(contains("nowhere"));
}

#[test]
fn a_scheduler_says_which_shard_it_is() {
    let desk = data_set(&["x.png"]);
    let run = |variables: &[(&str, &str)], shard: &str| {
        let mut command = desk.lfield(&["batch", "in", "-o", "out", "--dry-run", "--shard", shard]);
        command.env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
        command.envs(variables.iter().copied()).assert()
    };
    let owner = (1..=3).find(|i| {
        let output = run(&[], &format!("{i}/3")).success().get_output().stdout.clone();
        String::from_utf8(output).unwrap().contains("x.png")
    });
    let owner = owner.unwrap();
    let (from_one, from_zero) = (owner.to_string(), (owner - 1).to_string());
    let slurm = [("SLURM_ARRAY_TASK_ID", &*from_one), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_COUNT", "3")];
    run(&slurm, "auto").success().stdout(contains("x.png"));
    run(&[("JOB_COMPLETION_INDEX", &from_zero), ("JOB_COMPLETIONS", "3")], "auto").success().stdout(contains("x.png"));
    run(&[("JOB_COMPLETION_INDEX", &from_zero)], "auto/3").success().stdout(contains("x.png"));
    run(&[], "auto").code(2).stderr(contains("SLURM_ARRAY_TASK_ID"));
    for nonsense in ["0/3", "4/3", "auto/", "autumn", "1"] {
        run(&slurm, nonsense).code(2).stderr(contains("2/4"));
    }
}
