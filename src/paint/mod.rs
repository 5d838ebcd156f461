//! `lfield paint`: a page on the loopback address, in which strokes are drawn and answered.
//!
//! ```text
//! browser ─ http ─ guard ─ route ─► studio { photos, strokes, answers } ◄─ worker { sessions }
//!                                      └─► photo (strokes on disk)          save (as segment)
//! ```
//!
//! A request changes strokes and returns; the worker answers them from a warm session and publishes pictures; a request for news
//! waits until there are any. The page itself is in `page/` and holds no state that the program does not have.

mod guard;
mod http;
mod page;
mod photo;
mod route;
mod save;
mod server;
mod sheet;
mod stroke;
mod studio;
mod table;
mod view;
mod worker;

use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub use photo::Photo;

use crate::Error;
use crate::read::Recorded;
use crate::session::{Bias, Options};
use guard::Guard;
use route::Routes;
use server::Stop;
use studio::Studio;

/// The photo that is opened when none is named.
pub const SAMPLE: (&str, &[u8]) = ("beetle.png", include_bytes!("../../data/beetle.png"));

/// What is painted on, and how strokes are answered.
pub struct Settings {
    /// At least one photo.
    pub photos: Vec<Photo>,
    /// The options of every answer; those of the results, but for the bias.
    pub options: Options,
    /// Where the size slider starts; none: at the bias that fits, with every answer.
    pub bias: Option<f64>,
    /// Most memory for a save, if not what is free.
    pub max_memory: Option<u64>,
    /// What the command line said beyond options.
    pub recorded: Recorded,
    /// The port to try first.
    pub port: u16,
    /// The sentence of an error.
    pub explain: fn(&Error) -> String,
    /// The command that does what a save does.
    pub command: Box<dyn Fn(&Run<'_>) -> String + Send + Sync>,
}

/// A run of `segment` that writes what a save writes.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The photo.
    pub image: &'a Path,
    /// Its strokes.
    pub scribbles: &'a Path,
    /// The folder of results.
    pub output: &'a Path,
    /// The position of the size slider.
    pub bias: Bias,
}

/// A server that is bound to its port and not answering yet.
pub struct Server {
    listener: TcpListener,
    studio: Arc<Studio>,
    token: String,
    stop: Stop,
}

/// Ends a [`Server`] from another thread.
#[derive(Clone)]
pub struct Handle {
    studio: Arc<Studio>,
    stop: Stop,
}

impl Server {
    /// Binds the port, or the next that is free.
    ///
    /// # Panics
    /// When there is no photo.
    pub fn bind(settings: Settings) -> std::io::Result<Self> {
        assert!(!settings.photos.is_empty(), "a photo to paint on");
        let listener = server::bind(settings.port)?;
        let (token, stop) = (Guard::token()?, Stop::new(&listener)?);
        Ok(Self { listener, studio: Arc::new(Studio::new(settings)), token, stop })
    }

    /// The address to open, with the token that every request needs.
    pub fn address(&self) -> std::io::Result<String> {
        Ok(format!("http://{}/#{}", self.listener.local_addr()?, self.token))
    }

    /// What ends it.
    pub fn handle(&self) -> Handle {
        Handle { studio: Arc::clone(&self.studio), stop: self.stop.clone() }
    }

    /// Answers until it is told to end; then nothing is half-written.
    pub fn run(self) -> std::io::Result<()> {
        let Self { listener, studio, token, stop } = self;
        let guard = Guard::new(listener.local_addr()?.port(), token);
        let routes = Arc::new(Routes { studio: Arc::clone(&studio), guard, thumbnails: Mutex::default() });
        let worker = std::thread::Builder::new().name("worker".into()).spawn({
            let studio = Arc::clone(&studio);
            move || worker::work(&studio)
        })?;
        server::serve(&listener, &routes, &stop);
        let _ = worker.join();
        studio.settle();
        Ok(())
    }
}

impl Handle {
    /// Ends the server: what is being computed is given up, what is being written is finished or taken back.
    pub fn stop(&self) {
        self.studio.change(|table| table.is_stopping = true);
        self.stop.request();
    }
}
