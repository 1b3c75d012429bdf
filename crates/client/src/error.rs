//! What can go wrong between a client and its server.

use std::borrow::Cow;

use mainstem_core::{Code, Diagnostic, Failure, Place};
use serde_json::Value;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The code; the server's own where it refused.
    pub code: Code,
    /// One sentence: expected and received.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
}

impl Error {
    fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into(), status: None }
    }

    pub(crate) fn address(url: &str) -> Self {
        let message = format!("expected the URL of a server, received `{url}`");
        Self::new(Code::Value, message, "such as `http://127.0.0.1:7700`")
    }

    pub(crate) fn key() -> Self {
        let message = "the key has characters that no key has, expected letters and digits";
        Self::new(Code::Value, message, "check the key")
    }

    pub(crate) fn unreachable(url: &str, error: &ureq::Error) -> Self {
        let hint = "`mainstem serve` starts a server; check the address";
        Self::new(Code::Unavailable, format!("the server `{url}` does not answer: {error}"), hint)
    }

    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        let message = format!("the server's answer cannot be read: {error}");
        Self::new(Code::Syntax, message, "client and server may be of different versions")
    }

    pub(crate) fn broken_off() -> Self {
        let message = "the server's answer broke off, expected a last line that says that all is done";
        Self::new(Code::Unavailable, message, "send the same again; what is there already costs little")
    }

    /// An answer that broke off before its end.
    pub fn cut_short() -> Self {
        let message = "the server's answer broke off, expected an event `done` at its end";
        Self::new(Code::Unavailable, message, "ask again; what came is incomplete")
    }

    /// What a server said when it refused, or its status alone where somebody else answered.
    pub fn refused(status: u16, body: &[u8]) -> Self {
        let told: Option<Self> =
            serde_json::from_slice(body).ok().and_then(|body: Value| Self::told(body.get("error")?));
        let error = told.unwrap_or_else(|| {
            let message = format!("the server answered with status {status}, and with nothing that says why");
            Self::new(Code::Unavailable, message, "check that the address is the one of a Mainstem server")
        });
        Self { status: Some(status), ..error }
    }

    /// An error as the server writes it.
    pub(crate) fn told(error: &Value) -> Option<Self> {
        let text = |name: &str| error.get(name)?.as_str();
        let code = Code::ALL.iter().find(|code| Some(code.as_str()) == text("code"));
        Some(Self::new(*code.unwrap_or(&Code::Unavailable), text("message")?, text("hint")?))
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Diagnostic for Error {
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

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Box::new(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_the_words_of_the_server() {
        let body = br#"{"error":{"code":"E0204","message":"unknown source `x`","hint":"h"}}"#;
        let error = Error::refused(400, body);
        assert_eq!((error.code, error.status), (Code::Unknown, Some(400)));
        assert_eq!((error.message.as_str(), error.hint.as_str()), ("unknown source `x`", "h"));
        for strange in ["", "<html>", "{}", r#"{"error":5}"#] {
            let error = Error::refused(502, strange.as_bytes());
            assert!(error.message.contains("502"), "{error}");
        }
    }
}
