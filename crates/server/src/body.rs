//! Bodies of requests: read in time, within limits, and as JSON; and what stands behind the `?`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use mainstem_core::Code;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize as _, Deserializer};

use crate::app::App;
use crate::error::ApiError;

/// A body of JSON.
#[derive(Debug)]
pub struct Json<T>(pub T);

/// A body of JSON as it was sent.
#[derive(Debug)]
pub struct JsonBytes(pub Bytes);

/// What stands behind the `?`.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, app).await?;
        // The reader would take a list for an object without names.
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(ApiError::new(Code::Syntax, "the body is a list, expected an object", "see `/docs`"));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|error| ApiError::json(&error))
    }
}

impl FromRequest<Arc<App>> for JsonBytes {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        if !is_of(request.headers(), &["application/json"]) {
            let hint = "send JSON with `Content-Type: application/json`";
            return Err(ApiError::new(Code::MediaType, "expected a body of JSON", hint));
        }
        let reading = read(request.into_body(), app.config.body_limit.0);
        let read = tokio::time::timeout(app.config.body_timeout.0, reading).await;
        let bytes = read.map_err(|_| slow())??;
        check_depth(&bytes, app.config.json_depth)?;
        Ok(Self(bytes))
    }
}

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let refused = |rejection: axum::extract::rejection::QueryRejection| {
            let said = rejection.body_text();
            let text = said.rsplit_once("query string: ").map_or(said.as_str(), |(_, text)| text);
            let parsed = mainstem_core::error::from_deserialiser(text, None);
            ApiError::from(parsed)
        };
        Query::try_from_uri(&parts.uri).map(|Query(value)| Self(value)).map_err(refused)
    }
}

/// Reads a parameter that says something where it is given.
///
/// # Errors
/// When it is empty.
pub fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match String::deserialize(deserializer)? {
        text if text.trim().is_empty() => Err(D::Error::custom("a parameter is empty, expected some text")),
        text => Ok(Some(text)),
    }
}

/// A body that did not arrive in time.
pub fn slow() -> ApiError {
    ApiError::new(Code::Slow, "the body did not arrive in time", "send it faster, or less at once")
}

/// Whether the body is of one of these types; a body of no type may be any.
pub fn is_of(headers: &HeaderMap, types: &[&str]) -> bool {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return true };
    let given = given.to_str().unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    types.iter().any(|known| essence.eq_ignore_ascii_case(known))
}

async fn read(mut body: Body, limit: u64) -> Result<Bytes, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| broken())?;
        let Ok(data) = frame.into_data() else { continue };
        if (bytes.len() + data.len()) as u64 > limit {
            return Err(too_large("the body", limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

/// A body that ended before its end, or is not what its encoding says.
pub fn broken() -> ApiError {
    ApiError::new(Code::Syntax, "the body broke off, or is not of its encoding", "send it again")
}

/// Something that is longer than its limit.
pub fn too_large(what: &str, limit: u64) -> ApiError {
    let message = format!("{what} is longer than {limit} bytes, expected at most that");
    ApiError::new(Code::TooLarge, message, "send less at once")
}

/// Refuses JSON that is nested too deep, before anything is made of it.
///
/// # Errors
/// When it is.
pub fn check_depth(json: &[u8], limit: usize) -> Result<(), ApiError> {
    let (mut depth, mut text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'{' | b'[' if !text => depth += 1,
            b'}' | b']' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            let message = format!("the JSON is nested deeper than {limit}, expected at most that");
            return Err(ApiError::value(message, "send flatter JSON"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_texts() {
        assert!(check_depth(br#"{"a":[1,{"b":"]]}}\"{{{{"}]}"#, 3).is_ok());
        assert!(check_depth(br#"{"a":[1,{"b":1}]}"#, 2).is_err());
        assert!(check_depth(&b"[".repeat(100_000), 64).is_err());
    }

    #[test]
    fn types_may_have_parameters() {
        let mut headers = HeaderMap::new();
        assert!(is_of(&headers, &["application/json"]));
        headers.insert(header::CONTENT_TYPE, "Application/JSON; charset=utf-8".parse().unwrap());
        assert!(is_of(&headers, &["application/json"]));
        assert!(!is_of(&headers, &["application/x-ndjson"]));
    }
}
