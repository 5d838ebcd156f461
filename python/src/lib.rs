//! `lfield._lfield`: the library for Python, arrays in and arrays out.
//!
//! Here is what needs Rust: conversion of arrays, the solve with the interpreter lock released, Ctrl-C. What arguments mean and what is
//! wrong with them is said in Python, in the package around this module.

mod answer;
mod array;
mod model;
mod run;
mod session;

use std::ffi::OsString;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    lfield,
    Error,
    PyValueError,
    "An input that lfield cannot use; the sentence says why and what would help."
);

/// What the library says, as an exception.
fn refuse(error: lfield::Error) -> PyErr {
    Error::new_err(error.to_string())
}

/// Runs the program on a command line without its first word and returns the exit code. Once in a process.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let words: Vec<OsString> = std::iter::once("lfield".into()).chain(arguments).collect();
    py.detach(|| lfield::cli::main(&words))
}

#[pymodule]
mod _lfield {
    #[pymodule_export]
    use super::Error;
    #[pymodule_export]
    use super::answer::Answer;
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::model::{Model, Solution, tv_prox};
    #[pymodule_export]
    use super::session::{Session, superpixels};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("OPTIONS", lfield::session::Overlay::NAMES)
    }
}
