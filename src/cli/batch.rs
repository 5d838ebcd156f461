//! `lfield batch DIR`: a whole data set.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use lfield::dataset::Budget;
use lfield::dataset::batch::{
    self, Common, Item, Obstacle, Outcome, Pattern, Plan, Selection, Settings, Shard, Sources, Summary, Watch,
};
use lfield::read::{Format, Limits};
use lfield::session::Overlay;

use super::hint::explain;
use super::options::{PriorArgs, RunArgs};
use super::progress::Countdown;
use super::voice::{Voice, plural, printable};
use super::{DONE, FAILED, Global, INTERRUPTED, NO_STDOUT, NOT_CERTIFIED, NOTHING, interrupt, parse, pipe};

/// Segment every photo below a folder: results, one report and a page to look through them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct Batch {
    /// The folder of photos; with --manifest, where its relative paths start [default: the manifest's folder]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "manifest")]
    folder: Option<PathBuf>,

    /// Strokes here, under the photo's path and stem [default: beside each photo, as for segment]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Input")]
    scribbles: Option<PathBuf>,

    /// How the strokes are encoded
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Auto, help_heading = "Input")]
    scribble_format: Format,

    /// Truths here, under the photo's path and stem: score the results on the way
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Input")]
    truth: Option<PathBuf>,

    /// A list instead of a search: CSV, a JSON object per line or an array of them, with image, scribbles, truth and options such as beta
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input",
          conflicts_with_all = ["include", "exclude"])]
    manifest: Option<PathBuf>,

    /// Only photos whose path below DIR matches, such as '*.jpg' or 'day/**'; repeat for more
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    include: Vec<Pattern>,

    /// No photos or folders that match; repeat for more
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<Pattern>,

    /// Costs in nats instead of colour mixtures: .npy files here, under the photo's path and stem
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "prior", help_heading = "Input")]
    unary: Option<PathBuf>,

    /// Probabilities of foreground instead of colour mixtures: .npy, .npz, PNG or TIFF files here, likewise
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Input")]
    prior: Option<PathBuf>,

    /// Refuse larger photos, before they are decoded
    #[arg(long, value_name = "N", value_parser = parse::pixels, default_value_t = Limits::default().max_pixels, help_heading = "Input")]
    max_pixels: u64,

    /// The folder for the results; sub-folders are kept
    #[arg(short, long, value_name = "DIR", value_parser = parse::folder(), value_hint = ValueHint::DirPath, default_value = "lfield-out", help_heading = "Output")]
    output: PathBuf,

    /// Show what would be done, and do nothing
    #[arg(long, help_heading = "Running")]
    dry_run: bool,

    /// Photos at once, sharing --threads [default: as many as threads]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Running")]
    jobs: Option<u16>,

    /// Most memory to use, such as 800M or 16G; photos too big to run side by side run alone [default: most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, help_heading = "Running")]
    max_memory: Option<u64>,

    /// Do again what is done already
    #[arg(long, help_heading = "Running")]
    force: bool,

    /// A photo without strokes, or without its file of costs or probabilities, is a failure: exit code 1
    #[arg(long, help_heading = "Running")]
    fail_on_skip: bool,

    /// Refuse when another batch is at work in the output folder, instead of waiting for its end
    #[arg(long, help_heading = "Running")]
    no_wait: bool,

    /// Do share I of N only, to be joined by `lfield merge`. auto: from a Slurm array or an indexed Kubernetes job; auto/N: of N
    #[arg(long, value_name = "I/N|auto", value_parser = shard, help_heading = "Running")]
    shard: Option<Shard>,

    #[command(flatten)]
    network: PriorArgs,

    #[command(flatten)]
    run: RunArgs,
}

const EXAMPLES: &str = "\
Examples:
  lfield batch photos -o out                       strokes beside the photos
  lfield batch set/images --scribbles set/scribbles --truth set/masks -o out
  lfield batch photos -o out --include '*.jpg' --exclude night --dry-run
  lfield batch --manifest list.csv -o out          image,scribbles,truth,beta,…
  lfield batch photos -o out --jobs 4 --max-memory 8G
  lfield batch photos -o out --shard 2/4           one of four machines, then:
  lfield merge out

Writes for every photo what `lfield segment` would, with sub-folders kept, and
batch.ndjson (a line per photo), summary.json and index.html. Run it again after
an interrupt: what is done is not done again. A photo is done when its report
has the same fingerprint of inputs, options and version, and its files are whole;
--force does it anyway. A batch started twice into one folder waits for the first.
A full disk stops it; what is done is kept.

Left out as photos: strokes, truths and results (cat.scribbles.png, cat.truth.png,
cat.mask.png …), hidden files, and folders called scribbles, masks, trimaps or truth.

Exit codes: 0 done, also when nothing was left to do, 1 at least one photo failed
(the others are written) or was skipped under --fail-on-skip, 3 no photo found,
4 not all certified under --strict, 130 interrupted (what is done is kept).";

fn shard(text: &str) -> lfield::Result<Shard> {
    let count = match text.strip_prefix("auto") {
        Some("") => None,
        Some(rest) => match rest.strip_prefix('/').and_then(|count| count.parse().ok()) {
            Some(count) => Some(count),
            None => return text.parse(),
        },
        None => return text.parse(),
    };
    Shard::from_environment(count, |name| std::env::var(name).ok())
}

impl Batch {
    pub(super) fn run(&self, global: &Global, voice: &Voice) -> Result<u8> {
        interrupt::listen_and_say(*voice, "interrupted; what was done is kept");
        pipe::refuse(
            "lfield batch",
            &[
                ("the folder", self.folder.as_deref()),
                ("-o", Some(&*self.output)),
                ("--scribbles", self.scribbles.as_deref()),
                ("--manifest", self.manifest.as_deref()),
                ("--truth", self.truth.as_deref()),
                ("--unary", self.unary.as_deref()),
                ("--prior", self.prior.as_deref()),
            ],
        )?;
        let common = self.common(global.seed)?;
        let sources = Sources {
            root: self.folder.clone(),
            manifest: self.manifest.clone(),
            selection: Selection { include: self.include.clone(), exclude: self.exclude.clone() },
            scribbles: self.scribbles.clone(),
            truth: self.truth.clone(),
            unary: self.unary.clone(),
            prior: self.prior.clone(),
        };
        let plan = Plan::make(&sources, &self.output, &common)?;
        let threads = rayon::current_num_threads();
        let settings = Settings {
            out: self.output.clone(),
            shard: self.shard,
            force: self.force,
            budget: Budget { jobs: self.jobs.map_or(threads, usize::from), threads, max_memory: self.max_memory },
            explain,
        };
        if self.dry_run {
            show(&plan, &settings).context(NO_STDOUT)?;
            return Ok(DONE);
        }
        if plan.items.is_empty() {
            voice.say(format_args!("no photos found in {}", self.place().display()));
            return Ok(NOTHING);
        }
        let out = self.output.display();
        let lock = batch::lock(&settings, || match self.no_wait {
            true => Err(lfield::Error::Busy { path: self.output.clone() }),
            false => {
                voice.say(format_args!("another batch is running here: waiting until it has ended in {out}"));
                Ok(())
            }
        })?;
        interrupt::writing()?;
        let follower = Follower { voice: *voice, bar: OnceLock::new(), n_failed: AtomicUsize::new(0) };
        let summary = batch::run(&plan, &settings, &lock, &follower)?;
        drop(follower);
        self.tell(*voice, &summary);
        Ok(self.code(&summary))
    }

    /// What the command line says about every photo.
    fn common(&self, seed: u64) -> Result<Common, clap::Error> {
        let has_costs = self.unary.is_some() || self.prior.is_some();
        let overlay = self.run.overlay(self.max_pixels, seed, has_costs)?.with(self.network.overlay());
        let overlay = Overlay { scribble_format: Some(self.scribble_format), ..overlay };
        Ok(Common { overlay, strict: self.run.solver.strict(), explain })
    }

    fn place(&self) -> &Path {
        self.manifest.as_deref().or(self.folder.as_deref()).unwrap_or(Path::new("."))
    }

    fn tell(&self, voice: Voice, summary: &Summary) {
        let counts = &summary.counts;
        let line = |label: &str, text: String| voice.fact(label, text);
        let share = self.shard.map(|shard| format!("shard {shard}")).unwrap_or_default();
        voice.say_of(&voice.bold(&self.place().display().to_string()), share);
        let mut parts = vec![format!("{} segmented", summary.run.segmented)];
        for (n, what) in [
            (summary.run.resumed, "done before"),
            (counts.failed, "failed"),
            (counts.skipped, "skipped"),
            (counts.pending, "not begun or abandoned"),
            (counts.not_converged, "not converged"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {what}"));
            }
        }
        line("photos", format!("{} of {}", parts.join(", "), counts.images));
        if let Some((label, text)) = standstill(summary) {
            line(label, text.to_string());
        }
        if let Some(scores) = &summary.scores {
            let mean = &scores.unlabelled.mean;
            let show = |value: Option<f64>| value.map_or("–".to_string(), |value| format!("{value:.4}"));
            let photos = plural(scores.photos, "photo");
            line("scores", format!("mean AUC {}, IoU {} over {photos}", show(mean.auc), show(mean.iou)));
        } else if self.truth.is_some() && counts.done > 0 {
            line("scores", "none: no photo has a truth under its path and stem".to_string());
        }
        let rate =
            summary.run.images_per_second.map(|rate| format!(", {rate:.2} photos per second")).unwrap_or_default();
        line("seconds", format!("{:.2}{rate}", summary.run.seconds));
        let report = match self.shard {
            Some(shard) => {
                format!("summary.{}.json; join all shards with `lfield merge {}`", shard.label(), self.output.display())
            }
            None => "index.html".to_string(),
        };
        line("report", format!("{}", self.output.join(report).display()));
    }

    fn code(&self, summary: &Summary) -> u8 {
        let counts = &summary.counts;
        if counts.pending > 0 && !summary.run.disk_full {
            INTERRUPTED
        } else if counts.failed > 0 || self.fail_on_skip && counts.skipped > 0 {
            FAILED
        } else if self.run.solver.strict() && counts.not_converged > 0 {
            NOT_CERTIFIED
        } else {
            0
        }
    }
}

/// Why photos were not segmented, where that is no fault of theirs.
fn standstill(summary: &Summary) -> Option<(&'static str, &'static str)> {
    let counts = &summary.counts;
    if summary.run.disk_full {
        Some(("stopped", "the disk is full; what was done is kept; make room and give the same command"))
    } else if counts.pending > 0 {
        Some(("stopped", "what was done is kept; the same command goes on from here"))
    } else if summary.run.segmented + counts.failed > 0 {
        None
    } else if counts.images == 0 {
        Some(("done", "no photo falls to this shard"))
    } else if counts.done == 0 {
        Some(("done", "nothing could be done: every photo was skipped"))
    } else {
        Some(("done", "nothing was left to do"))
    }
}

/// The plan, a line per photo.
fn show(plan: &Plan, settings: &Settings) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut counts = [(0, "to segment"), (0, "done"), (0, "to skip"), (0, "to fail")];
    for item in plan.items.iter().filter(|item| settings.shard.is_none_or(|shard| shard.owns(item.key))) {
        let (kind, what) = match &item.obstacle {
            None if batch::is_done(item, settings) => (1, "done"),
            None => (0, "segment"),
            Some(Obstacle::Skipped(_)) => (2, "skip"),
            Some(Obstacle::Failed(_)) => (3, "fail"),
        };
        counts[kind].0 += 1;
        match &item.obstacle {
            Some(Obstacle::Skipped(reason) | Obstacle::Failed(reason)) => {
                writeln!(out, "{what:<8} {}", printable(&format!("{}: {reason}", item.name)))?;
            }
            None => {
                let from = |label: &str, file: Option<&Path>| match file {
                    Some(file) => format!("  {label} {}", file.display()),
                    None => String::new(),
                };
                let strokes = from("strokes", item.input.scribbles.as_deref());
                let truth = from("truth", item.truth.as_deref());
                let results = settings.out.join(item.results());
                let line = format!("{}{strokes}{truth}  to {}.*", item.name, results.display());
                writeln!(out, "{what:<8} {}", printable(&line))?;
            }
        }
    }
    let n: usize = counts.iter().map(|(n, _)| n).sum();
    let parts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    let aside = plural(plan.n_sidecars, "file");
    writeln!(out, "{}{colon}{}; {aside} beside photos left out", plural(n, "photo"), parts.join(", "))?;
    out.flush()
}

/// Shows a batch at work.
struct Follower {
    voice: Voice,
    bar: OnceLock<Countdown>,
    n_failed: AtomicUsize,
}

impl Watch for Follower {
    fn begin(&self, to_do: usize) {
        let bar = Countdown::new(self.voice, "photos");
        bar.expect(to_do);
        let _ = self.bar.set(bar);
    }

    fn end(&self, item: &Item, outcome: &Outcome) {
        let voice = self.voice;
        let speak = || match outcome {
            Outcome::Failed(reason) => {
                // Most reasons name the file in full, which says more than the name in the plan.
                let full = item.input.image.display().to_string();
                let known = reason.contains(&full);
                voice.error(&if known { anyhow::anyhow!("{reason}") } else { anyhow::anyhow!("{full}: {reason}") });
            }
            Outcome::Skipped(reason) => voice.say_of(&voice.dim("skipped"), format_args!("{}: {reason}", item.name)),
            Outcome::Done { before: false, converged, seconds } if voice.is_verbose() => {
                let note = if *converged { "" } else { ", not converged" };
                voice.say_of(&voice.dim("done   "), format_args!("{} {seconds:.2} s{note}", item.name));
            }
            Outcome::Done { before: true, .. } if voice.is_verbose() => {
                voice.say_of(&voice.dim("before "), &item.name);
            }
            Outcome::Done { .. } | Outcome::Pending => {}
        };
        let is_new = !matches!(outcome, Outcome::Done { before: true, .. } | Outcome::Skipped(_) | Outcome::Pending)
            && item.obstacle.is_none();
        if matches!(outcome, Outcome::Failed(_)) {
            self.n_failed.fetch_add(1, Ordering::Relaxed);
        }
        match self.bar.get() {
            Some(bar) => {
                bar.aside(speak);
                match self.n_failed.load(Ordering::Relaxed) {
                    0 => {}
                    n_failed => bar.caption(format!("photos, {n_failed} failed")),
                }
                bar.advance(usize::from(is_new));
            }
            None => speak(),
        }
    }

    fn proceed(&self) -> ControlFlow<()> {
        interrupt::requested()
    }
}
