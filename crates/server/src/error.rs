//! Errors as a client sees them: `{"error": {"code", "message", "hint"}}`, with the status of the project's table of codes.

use std::borrow::Cow;
use std::fmt;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mainstem_core::{Code, Diagnostic, Failure, Place};
use schemars::JsonSchema;
use serde::Serialize;

/// How many seconds a client waits before it tries again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// What went wrong with a request.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// The kind of error, which decides the status.
    pub code: Code,
    /// One sentence: expected and received.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The body of every answer that is an error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetails,
}

/// The error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDetails {
    /// The code, such as `E0204`.
    pub code: String,
    /// One sentence: what was expected and what was received.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// Marks a response whose body is an [`ErrorBody`] already, and says of which kind.
#[derive(Clone, Copy, Debug)]
pub struct Told(pub Code);

impl ApiError {
    /// An error of any kind.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }

    /// A value that is outside its range.
    pub fn value(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::Value, message, hint)
    }

    /// Something that is not there, or that the caller may not know about.
    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message, hint)
    }

    /// More than the server takes on.
    pub fn crowded(what: &str) -> Self {
        Self::new(Code::Crowded, what, "try again after the seconds in `Retry-After`")
    }

    /// A key is needed, and none that is valid was given. Which of the two, and why it is not valid, is nobody's business.
    pub fn unidentified() -> Self {
        let hint = "send `Authorization: Bearer` with a key; `mainstem key create` makes one";
        Self::new(Code::Unidentified, "a key is needed, and none that is valid was given", hint)
    }

    /// A bug. What it was is in the log and nowhere else.
    pub fn internal() -> Self {
        let hint = "the server's log has the details under the id in `x-request-id`";
        Self::new(Code::Internal, "something went wrong inside the server", hint)
    }

    /// What a reader of JSON says.
    pub fn json(error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let text = said.rfind(" at line ").map_or(said.as_str(), |at| &said[..at]);
        let parsed = mainstem_core::error::from_deserialiser(text, None);
        let place = format!("line {} column {}", error.line(), error.column());
        let default = if error.is_data() { "see `/docs` for what this takes" } else { "this must be JSON" };
        let hint = parsed.hint().map_or_else(|| default.to_owned(), Cow::into_owned);
        Self::new(parsed.code(), format!("{place}: {parsed}"), hint)
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The body.
    pub fn body(&self) -> ErrorBody {
        let (code, message, hint) = (self.code.as_str().to_owned(), self.message.clone(), self.hint.clone());
        ErrorBody { error: ErrorDetails { code, message, hint } }
    }

    /// What a bare status means, for errors that no handler has made.
    pub fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            404 => Self::not_found("there is nothing at this address", "`/docs` lists what there is"),
            405 => Self::new(
                Code::Method,
                "this address does not take this method",
                "the header `Allow` has those that it takes",
            ),
            413 => Self::new(Code::TooLarge, "the body is too long", "send less at once"),
            415 => Self::new(
                Code::MediaType,
                "the body has an encoding that is not taken here",
                "send it plain or with `Content-Encoding: gzip`",
            ),
            408 => Self::new(Code::Slow, "the request did not arrive in time", "send it faster"),
            503 => Self::crowded("the server is not ready"),
            400..=499 => Self::new(Code::Syntax, "the request is malformed", "see `/docs`"),
            _ => Self::internal(),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl Diagnostic for ApiError {
    fn code(&self) -> Code {
        self.code
    }

    fn place(&self) -> Option<&Place> {
        None
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(self.hint.as_str().into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let bytes = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        if self.code == Code::Unidentified {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Told(self.code));
        response
    }
}

impl From<&dyn Diagnostic> for ApiError {
    fn from(error: &dyn Diagnostic) -> Self {
        let code = error.code();
        if code == Code::Internal {
            tracing::error!(error = %error, "a promise was broken");
            return Self::internal();
        }
        let hint = error.hint().map_or_else(|| "see `/docs` for what this takes".to_owned(), Cow::into_owned);
        let number = |name: &str, number: Option<u64>| number.map(|at| format!("{name} {at}"));
        let place = error.place().filter(|place| place.file.is_none());
        let place = place.map(|place| [number("line", place.line), number("column", place.column)]);
        let place: Vec<String> = place.into_iter().flatten().flatten().collect();
        let place = if place.is_empty() { String::new() } else { place.join(" ") + ": " };
        Self::new(code, format!("{place}{error}"), hint)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self::from(&*failure as &dyn Diagnostic)
    }
}

impl From<mainstem::Error> for ApiError {
    fn from(error: mainstem::Error) -> Self {
        Self::from(&error as &dyn Diagnostic)
    }
}

impl From<mainstem_core::Error> for ApiError {
    fn from(error: mainstem_core::Error) -> Self {
        Self::from(&error as &dyn Diagnostic)
    }
}
