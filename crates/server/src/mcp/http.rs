//! `/mcp`: the tools over streamable HTTP.
//!
//! There are no sessions: every request stands for itself, shows its own key, and is answered with one piece of JSON. What would have to be
//! remembered between two requests could be mistaken for somebody else's.
//!
//! A web page must not reach a server on the reader's own machine, neither by its own origin nor by a name that it points there (DNS
//! rebinding). A request with an `Origin` that is not configured is refused; so is one to a server of this machine by any other name.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, Request, State};
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use http_body_util::Full;
use mainstem_core::Code;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::{Here, Tools};
use crate::access::Access;
use crate::app::App;
use crate::body::JsonBytes;
use crate::config::ServerConfig;
use crate::error::{ApiError, Told};

/// Where the tools are.
pub const PATH: &str = "/mcp";

/// The headers of the protocol that web pages may send, where their origin may call at all.
pub const HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
];

/// The route; the tools ask `routes`.
pub fn routes(routes: Router<Arc<App>>) -> Router<Arc<App>> {
    let answer = move |State(app): State<Arc<App>>, _: Access, request: Request| {
        let routes = routes.clone();
        async move { answer(&app, routes, request).await.unwrap_or_else(ApiError::into_response) }
    };
    Router::new().route(PATH, any(answer))
}

async fn answer(app: &Arc<App>, routes: Router<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let request = read(app, request).await?;
    let tools = Tools::new(Arc::new(Here::inside(routes, app)));
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, config(&app.config));
    let mut response = service.handle(request).await.map(Body::new);
    // An error of the protocol has a body that its clients read; one in plain words gets that of all errors.
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json {
        response.extensions_mut().insert(Told);
    }
    match (is_json, response.status()) {
        (false, StatusCode::FORBIDDEN) => Err(ApiError::new(
            Code::Forbidden,
            "the tools are not for web pages of this origin, nor for a server by this name",
            "call the server by `127.0.0.1` or `localhost`; `cors_origins` lists the origins that may call",
        )),
        (
            false,
            StatusCode::NOT_ACCEPTABLE | StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::BAD_REQUEST,
        ) => {
            let hint = "send a message of the Model Context Protocol, with `Accept: application/json, text/event-stream`";
            Err(ApiError::new(Code::Syntax, "this is no request that clients of the tools make", hint))
        }
        _ => Ok(response),
    }
}

/// The whole request, within the limits of all bodies.
async fn read(app: &Arc<App>, request: Request) -> Result<axum::http::Request<Full<Bytes>>, ApiError> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        return Ok(axum::http::Request::from_parts(parts, Full::default()));
    }
    let whole = Request::from_parts(parts.clone(), body);
    let JsonBytes(bytes) = JsonBytes::from_request(whole, app).await?;
    Ok(axum::http::Request::from_parts(parts, Full::new(bytes)))
}

fn config(server: &ServerConfig) -> StreamableHttpServerConfig {
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::try_from(server.body_limit.0).unwrap_or(usize::MAX));
    if server.address.ip().is_loopback() {
        config.allowed_hosts.push(server.address.ip().to_string());
    } else {
        // Others reach it by names that are not known here, and only with a key, which a page does not have.
        config = config.disable_allowed_hosts();
    }
    let origins = &server.cors_origins.0;
    if origins.iter().any(|origin| origin == "*") {
        return config;
    }
    config.with_allowed_origins(origins.iter().map(|origin| with_port(origin))).enforce_origin_validation()
}

/// An origin without a port is at that of its scheme.
fn with_port(origin: &str) -> String {
    let (scheme, host) = origin.split_once("://").unwrap_or(("https", origin));
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "http" { 80 } else { 443 };
    if has_port { origin.to_owned() } else { format!("{origin}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_the_port_of_their_scheme() {
        for (given, expected) in [
            ("https://a.example", "https://a.example:443"),
            ("http://a.example", "http://a.example:80"),
            ("http://localhost:3000", "http://localhost:3000"),
        ] {
            assert_eq!(with_port(given), expected);
        }
    }
}
