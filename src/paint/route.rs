//! Which address does what.
//!
//! | address | verb | answer |
//! | --- | --- | --- |
//! | `/` and the page's files | GET | the page |
//! | `/api/album` | GET | names of photos, what is written, colours of the heatmap |
//! | `/api/news?after=N` | GET | the state, as soon as it is newer than N |
//! | `/api/photos/N/open`, `/undo`, `/redo` | POST | the generation |
//! | `/api/photos/N/strokes` | POST, GET | adds a stroke; the label of every pixel, one byte each |
//! | `/api/photos/N/save` | POST | begins to write results |
//! | `/api/photos/N/command?bias=L`, or `auto` | GET | the command that writes the same |
//! | `/api/photos/N/picture`, `/thumbnail`, `/tile?column=C&row=R` | GET | pictures |
//! | `/api/photos/N/answer?id=K` | GET | 16-bit log-odds of every pixel, little-endian |

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::guard::Guard;
use super::http::{Head, Response, Service};
use super::studio::{Refusal, Studio};
use super::{page, save};
use crate::encode;
use crate::grid::{Picture, Shape};
use crate::session::Bias;

/// How long a request for news may wait.
const NEWS: Duration = Duration::from_secs(20);
/// How long a picture may take that is being decoded.
const DECODING: Duration = Duration::from_secs(60);
/// The largest thumbnail.
const THUMBNAIL: Shape = Shape { width: 144, height: 96 };

/// The addresses.
pub(super) struct Routes {
    pub(super) studio: Arc<Studio>,
    pub(super) guard: Guard,
    /// One thumbnail at a time: each decodes a whole photo.
    pub(super) thumbnails: Mutex<()>,
}

impl Service for Routes {
    fn admit(&self, head: &Head) -> Result<(), Response> {
        self.guard.admit(head, page::is_page(&head.path))
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Response {
        self.route(head, body).unwrap_or_else(|refusal| refusal)
    }
}

impl Routes {
    fn route(&self, head: &Head, body: &[u8]) -> Result<Response, Response> {
        if let Some(file) = page::file(&head.path) {
            return get(head).map(|()| file);
        }
        let parts: Vec<&str> = head.path.split('/').collect();
        match parts[..] {
            ["", "api", "album"] => get(head).map(|()| Response::json(&self.studio.album())),
            ["", "api", "news"] => {
                get(head)?;
                Ok(Response::json(&self.studio.news(parameter(head, "after")?, NEWS)))
            }
            ["", "api", "photos", n, what] => {
                let n: usize = n.parse().map_err(|_| unknown())?;
                if n >= self.studio.settings.photos.len() {
                    return Err(unknown());
                }
                self.photo(head, n, what, body)
            }
            _ => Err(unknown()),
        }
    }

    fn photo(&self, head: &Head, n: usize, what: &str, body: &[u8]) -> Result<Response, Response> {
        let studio = &self.studio;
        match what {
            "strokes" if head.method == "POST" => {
                Ok(Response::json(&studio.paint(n, json_body(body)?).map_err(refused)?))
            }
            "strokes" if head.method == "GET" => self.strokes(n),
            "strokes" => Err(Response::wrong_verb("GET, POST")),
            "undo" | "redo" => {
                post(head)?;
                Ok(Response::json(&studio.step(n, what == "redo").map_err(refused)?))
            }
            "open" => {
                post(head)?;
                studio.open(n);
                Ok(Response::json(&json!({})))
            }
            "save" => {
                post(head)?;
                let Wish { bias } = json_body(body)?;
                save::save(studio, n, checked(bias)?).map_err(refused)?;
                Ok(Response::json(&json!({})).with_status(202))
            }
            "command" => {
                get(head)?;
                let Size(bias) = parameter(head, "bias")?;
                Ok(Response::json(&json!({ "command": studio.command(n, checked(bias)?) })))
            }
            "picture" => {
                get(head)?;
                let view = studio.wait(Some(DECODING), |table| {
                    let card = &table.cards[n];
                    card.view.clone().map(Ok).or_else(|| card.failure.clone().map(Err))
                });
                match view {
                    Some(Ok(view)) => Ok(Response::new("image/png", encode::photo(view.working()))),
                    Some(Err(why)) => Err(Response::refusal(409, &why)),
                    None => Err(Response::refusal(503, "the photo is not decoded yet")),
                }
            }
            "tile" => {
                get(head)?;
                let view = studio.look().cards[n].view.clone().ok_or_else(unknown)?;
                let tile = view.tile(parameter(head, "column")?, parameter(head, "row")?).ok_or_else(unknown)?;
                Ok(Response::new("image/png", encode::photo(&tile)))
            }
            "thumbnail" => get(head).and_then(|()| self.thumbnail(n)),
            "answer" => {
                get(head)?;
                let id = parameter(head, "id")?;
                let levels = studio.look().answer(n, id);
                // Where there is a newer one, the page will hear of it: no content, and no error in its console.
                Ok(levels.map_or_else(
                    || binary(Vec::new()).with_status(204),
                    |levels| binary(levels.iter().flat_map(|level| level.to_le_bytes()).collect()),
                ))
            }
            _ => Err(unknown()),
        }
    }

    /// The label of every pixel of the working size: 0 none, 1 background, 2 object.
    fn strokes(&self, n: usize) -> Result<Response, Response> {
        let mut table = self.studio.look();
        let card = &mut table.cards[n];
        let (Some(view), Some(sheet)) = (card.view.clone(), card.sheet.as_mut()) else {
            return Err(Response::refusal(409, "the photo is not open yet"));
        };
        let seeds = sheet.seeds();
        drop(table);
        let seeds = view.working_seeds(seeds);
        Ok(binary(seeds.labels().iter().map(|&seed| seed as u8).collect()))
    }

    fn thumbnail(&self, n: usize) -> Result<Response, Response> {
        let known = || self.studio.look().cards[n].thumbnail.clone();
        let bytes = match known() {
            Some(bytes) => bytes,
            None => {
                let _one = self.thumbnails.lock().unwrap_or_else(PoisonError::into_inner);
                let (photo, settings) = (self.studio.photo(n), &self.studio.settings);
                match known() {
                    Some(bytes) => bytes,
                    None => {
                        let picture = Picture::read(&photo.path, &settings.options.limits)
                            .map_err(|error| Response::refusal(409, &(settings.explain)(&error)))?;
                        let bytes = Arc::new(encode::thumbnail(&picture.value, THUMBNAIL));
                        self.studio.look().cards[n].thumbnail = Some(Arc::clone(&bytes));
                        bytes
                    }
                }
            }
        };
        Ok(Response::new("image/jpeg", bytes.to_vec()))
    }
}

/// What a save is to be like.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// `null` for the bias that fits.
    bias: Option<f64>,
}

/// A bias, or `auto` for the one that fits.
struct Size(Option<f64>);

impl std::str::FromStr for Size {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" { Ok(Self(None)) } else { text.parse().map(|bias| Self(Some(bias))) }
    }
}

fn checked(bias: Option<f64>) -> Result<Bias, Response> {
    match bias {
        None => Ok(Bias::Auto),
        // Minus zero is zero, also in a report.
        Some(bias) if bias.is_finite() => Ok(Bias::Fixed(bias + 0.0)),
        Some(_) => Err(Response::refusal(400, "the bias is no number")),
    }
}

fn binary(bytes: Vec<u8>) -> Response {
    Response::new("application/octet-stream", bytes)
}

fn get(head: &Head) -> Result<(), Response> {
    if head.method == "GET" { Ok(()) } else { Err(Response::wrong_verb("GET")) }
}

fn post(head: &Head) -> Result<(), Response> {
    if head.method == "POST" { Ok(()) } else { Err(Response::wrong_verb("POST")) }
}

fn unknown() -> Response {
    Response::refusal(404, "there is nothing at this address")
}

fn refused((status, why): Refusal) -> Response {
    Response::refusal(status, &why)
}

fn json_body<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, Response> {
    serde_json::from_slice(body).map_err(|error| Response::refusal(400, &format!("the body does not read: {error}")))
}

/// A number behind the question mark.
fn parameter<T: std::str::FromStr>(head: &Head, name: &str) -> Result<T, Response> {
    let value = head.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let wrong = || Response::refusal(400, &format!("{name} is missing or no number"));
    value.and_then(|value| value.parse().ok()).ok_or_else(wrong)
}
