//! The web page, which is part of the program: plain files, no build step, and no request to anybody but this server.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;

/// A file of the page.
struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! assets {
    ($($path:literal = $file:literal, $kind:expr;)*) => {
        &[$(Asset { path: $path, kind: $kind, text: include_str!(concat!("web/", $file)) },)*]
    };
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

const ASSETS: &[Asset] = assets! {
    "/" = "index.html", HTML;
    "/web/icon.svg" = "icon.svg", IMAGE;
    "/web/base.css" = "base.css", STYLE;
    "/web/parts.css" = "parts.css", STYLE;
    "/web/app.js" = "app.js", SCRIPT;
    "/web/answer.js" = "answer.js", SCRIPT;
    "/web/api.js" = "api.js", SCRIPT;
    "/web/charts.js" = "charts.js", SCRIPT;
    "/web/dom.js" = "dom.js", SCRIPT;
    "/web/evaluation.js" = "evaluation.js", SCRIPT;
    "/web/hits.js" = "hits.js", SCRIPT;
    "/web/keys.js" = "keys.js", SCRIPT;
    "/web/ledger.js" = "ledger.js", SCRIPT;
    "/web/links.js" = "links.js", SCRIPT;
    "/web/place.js" = "place.js", SCRIPT;
    "/web/prose.js" = "prose.js", SCRIPT;
    "/web/related.js" = "related.js", SCRIPT;
    "/web/sources.js" = "sources.js", SCRIPT;
    "/web/status.js" = "status.js", SCRIPT;
    "/web/tones.js" = "tones.js", SCRIPT;
    "/web/whatif.js" = "whatif.js", SCRIPT;
    "/web/words.js" = "words.js", SCRIPT;
};

/// Only what this server gives, and no markup made of text: a document cannot become a script, whatever it says.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // A new version of the program has a new page: ask each time whether it is the same.
    (header::CACHE_CONTROL, "no-cache"),
];

/// Whether a path is a file of the page. These hold nothing that is anybody's: who has no key yet needs them to give one.
pub fn has(path: &str) -> bool {
    ASSETS.iter().any(|asset| asset.path == path)
}

/// The routes.
pub fn routes() -> Router<Arc<App>> {
    ASSETS.iter().fold(Router::new(), |router, asset| {
        let mark = mark(asset.text);
        router.route(asset.path, get(move |headers: HeaderMap| async move { give(asset, &mark, &headers) }))
    })
}

fn give(asset: &'static Asset, mark: &str, asked: &HeaderMap) -> Response {
    let known = asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == mark.as_bytes());
    let mut response =
        if known { StatusCode::NOT_MODIFIED.into_response() } else { asset.text.into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    if let Ok(mark) = HeaderValue::from_str(mark) {
        headers.insert(header::ETAG, mark);
    }
    response
}

/// Two texts have two marks: FNV-1a, 64 bits. It is weak, because the same text may come compressed.
fn mark(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("W/\"{:016x}\"", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
