//! What is already known: one file per photo and set of parameters, one line per finished task.
//!
//! The name of the file holds a digest of the three input files and of every parameter the figures depend on, so that a change of either
//! starts a new one. Lines are appended as tasks finish; a line cut short by an interrupt is not a line.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::read::Digest;
use crate::{Error, Result};

/// The finished tasks of one photo, and the answers to each.
pub(super) struct Journal<T> {
    path: PathBuf,
    done: BTreeMap<String, Vec<T>>,
    /// Whether the file's last line has no end.
    torn: bool,
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    task: String,
    judgements: Vec<T>,
}

impl<T: Clone + Serialize + DeserializeOwned> Journal<T> {
    /// The journal of a photo called `name` with these inputs and parameters; empty when there is none yet.
    pub(super) fn open(folder: &Path, name: &str, inputs: Digest) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|source| Error::OutputFolder { path: folder.to_path_buf(), source })?;
        let path = folder.join(format!("{name}-{inputs}.jsonl"));
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(Error::Unreadable { path, source }),
        };
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line<T>>(line).ok());
        let done = lines.map(|line| (line.task, line.judgements)).collect();
        Ok(Self { path, done, torn: !text.is_empty() && !text.ends_with('\n') })
    }

    /// The answers to a task, if they are known.
    pub(super) fn get(&self, task: &impl Serialize) -> Option<Vec<T>> {
        self.done.get(&key(task)).cloned()
    }

    /// Writes down a finished task.
    pub(super) fn add(&mut self, task: &impl Serialize, judgements: &[T]) -> Result<()> {
        let line = Line { task: key(task), judgements: judgements.to_vec() };
        let mut text = serde_json::to_string(&line).expect("figures are finite or absent");
        text.push('\n');
        if std::mem::take(&mut self.torn) {
            text.insert(0, '\n');
        }
        let write =
            || std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?.write_all(text.as_bytes());
        write().map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

fn key(task: &impl Serialize) -> String {
    serde_json::to_string(task).expect("settings are finite")
}

#[cfg(test)]
mod tests {
    use super::super::grid::{Contender, Grid, plan};
    use super::*;
    use crate::metric::Judgement;

    fn judgement(auc: f64) -> Judgement {
        use crate::grid::{Marginals, Mask, Shape, Truth};
        let shape = Shape::new(2, 1);
        let truth = Truth::new(shape, vec![Some(true), Some(false)]);
        let marginals = Marginals::new(shape, vec![auc, 0.1 + 0.2]).unwrap();
        let judge = crate::metric::Judge::new(&truth, None, &[1]);
        judge.judge(marginals.as_slice(), &marginals, &Mask::new(shape, vec![true, false]))
    }

    #[test]
    fn what_was_written_is_known_again_bit_by_bit_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let of = |inputs: &str| Digest::of(inputs.as_bytes());
        let tasks = plan(Contender::Hop, &Grid::paper().settings(Contender::Hop));
        let [task] = &tasks[..] else { panic!("one task for the superpixels alone") };
        let unary = &plan(Contender::Unary, &Grid::paper().settings(Contender::Unary))[0];
        let answers: Vec<Judgement> = (0..20).map(|i| judgement(f64::from(i) / 30.0)).collect();

        let mut journal = Journal::<Judgement>::open(folder.path(), "a", of("7")).unwrap();
        assert!(journal.get(task).is_none());
        journal.add(task, &answers).unwrap();
        let again = Journal::<Judgement>::open(folder.path(), "a", of("7")).unwrap();
        assert_eq!(again.get(task), Some(answers.clone()));
        assert!(again.get(unary).is_none());
        assert!(Journal::<Judgement>::open(folder.path(), "a", of("8")).unwrap().get(task).is_none());

        let path = again.path.clone();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let mut torn = Journal::<Judgement>::open(folder.path(), "a", of("7")).unwrap();
        assert!(torn.get(task).is_none());
        torn.add(unary, &answers[..4]).unwrap();
        torn.add(task, &answers).unwrap();
        let mended = Journal::<Judgement>::open(folder.path(), "a", of("7")).unwrap();
        assert_eq!((mended.get(unary), mended.get(task)), (Some(answers[..4].to_vec()), Some(answers)));
    }
}
