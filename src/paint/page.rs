//! The page: HTML, style and modules, as they are in `page/`, inside the program.

use super::http::Response;
use crate::encode;
use crate::grid::{Marginals, Shape};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// Every file of the page: its address, its media type, its content.
const FILES: [(&str, &str, &str); 9] = [
    ("/", HTML, include_str!("page/index.html")),
    ("/style.css", CSS, include_str!("page/style.css")),
    ("/main.js", JS, include_str!("page/main.js")),
    ("/api.js", JS, include_str!("page/api.js")),
    ("/brush.js", JS, include_str!("page/brush.js")),
    ("/camera.js", JS, include_str!("page/camera.js")),
    ("/keys.js", JS, include_str!("page/keys.js")),
    ("/overlay.js", JS, include_str!("page/overlay.js")),
    ("/panel.js", JS, include_str!("page/panel.js")),
];

/// Whether an address is part of the page, which is the same for everybody and needs no token.
pub(super) fn is_page(path: &str) -> bool {
    FILES.iter().any(|(name, ..)| *name == path)
}

/// The file at an address of the page.
pub(super) fn file(path: &str) -> Option<Response> {
    let (_, kind, text) = FILES.iter().find(|(name, ..)| *name == path)?;
    Some(Response::new(kind, *text))
}

/// The colour of each of 256 probabilities, as the heatmap has it.
pub(super) fn heat_table() -> Vec<[u8; 3]> {
    let ramp = (0..256).map(|level| f64::from(level) / 255.0).collect();
    encode::heat(&Marginals::new(Shape::new(256, 1), ramp).expect("probabilities"))
}
