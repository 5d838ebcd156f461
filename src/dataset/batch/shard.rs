//! One share of the work of a batch: which photos this machine takes.
//!
//! A photo belongs to share h mod N, where h is a fixed hash of its path below the folder: no machine has to talk to another, a
//! photo that is added moves no other, and any machine can be started again.

use std::fmt;
use std::str::FromStr;

use crate::read::Digest;
use crate::{Error, Result};

/// Share `index` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// Share `index` of `count`; 1 ≤ index ≤ count.
    pub fn new(index: usize, count: usize) -> Result<Self> {
        if (1..=count).contains(&index) {
            return Ok(Self { index, count });
        }
        Err(refusal(format!("{index}/{count}")))
    }

    /// Which share this is, from 1.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many shares there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether the photo with this hash of its path is part of the share.
    pub fn owns(self, key: Digest) -> bool {
        key.share(self.count) == self.index - 1
    }

    /// `1-of-4`, for file names.
    pub fn label(self) -> String {
        format!("{}-of-{}", self.index, self.count)
    }

    /// The share that a label names.
    pub fn from_label(label: &str) -> Option<Self> {
        let (index, count) = label.split_once("-of-")?;
        Self::new(index.parse().ok()?, count.parse().ok()?).ok()
    }

    /// What the scheduler says: a task of a Slurm array (`SLURM_ARRAY_TASK_ID`, `_MIN`, `_STEP`, `_COUNT`), or a pod of an indexed
    /// Kubernetes job (`JOB_COMPLETION_INDEX`, from 0; the job has to pass on its completions as `JOB_COMPLETIONS`).
    ///
    /// With `count` given, a Slurm array is numbered from 1, so that one task can be submitted again alone.
    pub fn from_environment(count: Option<usize>, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => text.trim().parse::<usize>().map(Some).map_err(|_| {
                Error::parameter(name, format!("{text:?}"), "a whole number: give the shard as I/N instead of auto")
            }),
        };
        let missing = |name: &str| {
            Error::parameter(
                "the shard",
                format!("auto, but {name} is not set"),
                "auto/N with the number of shares, or I/N",
            )
        };
        if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
            if let Some(count) = count {
                return Self::new(id, count);
            }
            let first = number("SLURM_ARRAY_TASK_MIN")?.ok_or_else(|| missing("SLURM_ARRAY_TASK_MIN"))?;
            let count = number("SLURM_ARRAY_TASK_COUNT")?.ok_or_else(|| missing("SLURM_ARRAY_TASK_COUNT"))?;
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
            return Self::new(id.saturating_sub(first) / step + 1, count);
        }
        if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            let count = match count {
                Some(count) => count,
                None => number("JOB_COMPLETIONS")?.ok_or_else(|| missing("JOB_COMPLETIONS"))?,
            };
            return Self::new(index.saturating_add(1), count);
        }
        Err(missing("neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) => Self::new(index, count),
            None => Err(refusal(text.to_string())),
        }
    }
}

fn refusal(value: String) -> Error {
    Error::parameter("the shard", value, "I/N with 1 ≤ I ≤ N, such as 2/4, or auto")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_photo_belongs_to_exactly_one_share_and_shares_are_even() {
        let keys: Vec<Digest> = (0..4000).map(|i| Digest::of(format!("a/photo-{i}.jpg").as_bytes())).collect();
        for count in [1, 2, 4, 7] {
            let sizes: Vec<usize> = (1..=count)
                .map(|index| keys.iter().filter(|&&key| Shard::new(index, count).unwrap().owns(key)).count())
                .collect();
            assert_eq!(sizes.iter().sum::<usize>(), keys.len());
            let even = keys.len() / count;
            assert!(sizes.iter().all(|size| size.abs_diff(even) < even / 5), "{sizes:?}");
        }
    }

    /// Shares that another version of the program began must stay the same.
    #[test]
    fn the_assignment_is_fixed() {
        let share = |path: &str| Digest::of(path.as_bytes()).share(4);
        assert_eq!(["a.png", "b.png", "sub/c.jpg", "sub/d.jpg"].map(share), [3, 3, 1, 0]);
    }

    #[test]
    fn text_is_read_and_nonsense_refused() {
        assert_eq!("2/4".parse::<Shard>().unwrap(), Shard::new(2, 4).unwrap());
        assert_eq!(Shard::from_label("2-of-4"), Shard::new(2, 4).ok());
        assert_eq!(Shard::new(3, 9).unwrap().label(), "3-of-9");
        for text in ["0/4", "5/4", "1/0", "1", "a/b", "", "-1/4"] {
            assert!(text.parse::<Shard>().unwrap_err().to_string().contains("2/4"), "{text}");
        }
        assert_eq!(Shard::from_label("5-of-4"), None);
    }

    #[test]
    fn schedulers_number_their_tasks_in_their_own_ways() {
        let ask = |count: Option<usize>, variables: &[(&str, &str)]| {
            Shard::from_environment(count, |name| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
            })
        };
        let slurm = |id: &'static str, min: &'static str, step: &'static str, count: &'static str| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_STEP", step),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ]
        };
        let shard = |index, count| Shard::new(index, count).unwrap();
        assert_eq!(ask(None, &slurm("1", "1", "1", "4")).unwrap(), shard(1, 4));
        assert_eq!(ask(None, &slurm("3", "0", "1", "4")).unwrap(), shard(4, 4));
        assert_eq!(ask(None, &slurm("30", "10", "10", "3")).unwrap(), shard(3, 3));
        assert_eq!(ask(Some(8), &slurm("3", "3", "1", "1")).unwrap(), shard(3, 8), "a task submitted again alone");
        assert!(ask(Some(8), &slurm("0", "0", "1", "8")).is_err());
        assert_eq!(ask(None, &[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "5")]).unwrap(), shard(1, 5));
        assert_eq!(ask(Some(5), &[("JOB_COMPLETION_INDEX", "4")]).unwrap(), shard(5, 5));
        assert!(ask(None, &[("JOB_COMPLETION_INDEX", "4")]).unwrap_err().to_string().contains("JOB_COMPLETIONS"));
        assert!(ask(None, &[]).unwrap_err().to_string().contains("SLURM_ARRAY_TASK_ID"));
        assert!(ask(None, &[("SLURM_ARRAY_TASK_ID", "x")]).is_err());
    }
}
