//! What happens to every request: an id, a line in the log, a measurement, compression, CORS, and errors as JSON whatever happens.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use mainstem_core::Code;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate as _};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::decompression::RequestDecompressionLayer;

use crate::access::gate::{self, UsedKey};
use crate::app::App;
use crate::error::{ApiError, Told};
use crate::mcp;
use crate::patience::Manners;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How long an id that a client gives may be.
const LONGEST_ID: usize = 64;

/// Puts everything around the routes. What is added last is met first.
pub fn around(router: Router<Arc<App>>, app: &Arc<App>) -> Router {
    // A stream of results is for reading line by line; a compressor would hold lines back.
    let compressed = DefaultPredicate::new().and(NotForContentType::new("application/x-ndjson"));
    let mut router = router.fallback(nothing_here).layer(RequestDecompressionLayer::new());
    if app.config.compression {
        // An answer is made for one reader: the last tenth of its length is not worth three times the work.
        router = router
            .layer(CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(compressed));
    }
    router = router.layer(CatchPanicLayer::custom(panicked));
    // Before a body is read or unpacked, and behind CORS: a browser asks that without a key.
    router = router.layer(from_fn_with_state(Arc::clone(app), gate::guard));
    if !app.config.cors_origins.0.is_empty() {
        router = router.layer(cors(&app.config.cors_origins.0));
    }
    router.layer(from_fn_with_state(Arc::clone(app), accompany)).with_state(Arc::clone(app))
}

async fn nothing_here() -> ApiError {
    ApiError::of_status(StatusCode::NOT_FOUND)
}

fn panicked(panic: Box<dyn Any + Send>) -> Response<Body> {
    let words = panic.downcast_ref::<&str>().copied();
    let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
    tracing::error!(panic = words, "a handler panicked");
    ApiError::internal().into_response()
}

fn cors(origins: &[String]) -> CorsLayer {
    let allowed = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers(
            [header::AUTHORIZATION, gate::API_KEY, header::CONTENT_TYPE, REQUEST_ID]
                .into_iter()
                .chain(mcp::http::HEADERS)
                .collect::<Vec<_>>(),
        )
        .expose_headers([REQUEST_ID, header::RETRY_AFTER])
}

async fn accompany(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    let manners = request.extensions().get::<Arc<Manners>>().cloned();
    let matched = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = matched.unwrap_or_else(|| "unmatched".to_owned());
    let mut response = if app.is_stopping() && route != "/healthz" {
        app.metrics.refused("stopping");
        stopping()
    } else {
        told(next.run(request).await)
    };
    let crowded = matches!(response.extensions().get::<Told>(), Some(Told(Code::Crowded)));
    if let Some(manners) = manners {
        if crowded { manners.refused(Instant::now()) } else { manners.answered() }
    }
    response.headers_mut().insert(REQUEST_ID, id.clone());
    let (status, took) = (response.status().as_u16(), started.elapsed());
    app.metrics.answered(&route, method_name(&method), status, took);
    let (id, ms) = (id.to_str().unwrap_or_default(), took.as_secs_f64() * 1000.0);
    let key = response.extensions().get::<UsedKey>().map(|UsedKey(key)| &**key);
    if crowded {
        // A line for each would be a flood when there is least room for it; the metrics count all of them.
        tracing::debug!(%method, route, status, ms, request_id = id, key, "request");
        app.crowds.tell(started);
    } else {
        tracing::info!(%method, route, status, ms, request_id = id, key, "request");
    }
    response
}

/// Methods that nobody knows would make metrics without end.
fn method_name(method: &Method) -> &str {
    let known = [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS];
    if known.contains(method) { method.as_str() } else { "other" }
}

fn stopping() -> Response {
    let mut response = ApiError::crowded("the server is stopping").into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// An error that no handler has made gets the body that all errors have.
fn told(response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<Told>().is_some() {
        return response;
    }
    let mut again = ApiError::of_status(status).into_response();
    *again.status_mut() = status;
    for name in [header::ALLOW, header::ACCEPT_ENCODING] {
        if let Some(value) = response.headers().get(&name) {
            again.headers_mut().insert(name, value.clone());
        }
    }
    again
}

/// The id that the client gave, if it is one, else a new one.
fn request_id(request: &Request) -> HeaderValue {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let given = request.headers().get(REQUEST_ID).filter(|id| {
        let fine = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
        (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(fine)
    });
    given.cloned().unwrap_or_else(|| {
        let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
        let id = format!("{micros:x}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed));
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("none"))
    })
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use mainstem::store::EmbeddedStore;

    use super::*;
    use crate::app::Setup;

    async fn panics() -> String {
        panic!("secret words")
    }

    #[tokio::test]
    async fn a_panic_is_an_error_without_details() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::init(folder.path()).unwrap());
        let (settings, pipeline) = (mainstem::query::Settings::default(), serde_json::Map::new());
        let config = crate::config::ServerConfig::default();
        let link = mainstem_core::link::LinkSettings::default();
        let setup =
            Setup { store, settings, pipeline, reranking: None, config, keys: false, asker: None, link };
        let app = App::new(setup).unwrap();
        let service = TowerToHyperService::new(around(Router::new().route("/", get(panics)), &app));
        let response = service.call(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(response.headers().contains_key(REQUEST_ID));
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains("E0901") && !text.contains("secret"), "{text}");
    }
}
