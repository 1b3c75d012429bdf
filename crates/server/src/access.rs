//! Who may do what.
//!
//! A request passes the [`gate`], which finds its [`key`](key::Key) in the [`file`](mod@file) of the store and says who is calling. Every handler takes an
//! [`Access`] and passes its [`Scope`] on: to the filter of a search, to the list of sources, to writes. Without keys, whoever reaches the
//! server may do everything; hence [`check_bind`]: then only this machine reaches it.

pub mod file;
pub mod gate;
pub mod key;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mainstem_core::Code;
use mainstem_core::contract::Filter;

use crate::app::App;
use crate::error::ApiError;

/// Which sources a caller may know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// All of them.
    All,
    /// These alone; others do not exist for the caller.
    Only(BTreeSet<String>),
}

/// What a caller may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Which sources it may know about.
    pub sources: Sources,
    /// Which reader it is; a caller that is none may ask as any reader, or see everything.
    pub reader: Option<String>,
    /// Whether it may write.
    pub write: bool,
}

impl Scope {
    /// Everything.
    pub fn everything() -> Self {
        Self { sources: Sources::All, reader: None, write: true }
    }

    /// Whether nothing is hidden from the caller.
    pub fn sees_all(&self) -> bool {
        self.sources == Sources::All && self.reader.is_none()
    }

    /// Refuses callers from whom anything is hidden.
    ///
    /// # Errors
    /// When something is.
    pub fn must_see_all(&self) -> Result<(), ApiError> {
        if self.sees_all() {
            return Ok(());
        }
        let hint = "use a key that is for all sources and for no reader";
        Err(ApiError::new(Code::Forbidden, "this key may not see what all sources have in common", hint))
    }

    /// Whether a source exists for the caller.
    pub fn sees(&self, source: &str) -> bool {
        match &self.sources {
            Sources::All => true,
            Sources::Only(sources) => sources.contains(source),
        }
    }

    /// Whether a document exists for the caller.
    pub fn reads(&self, source: &str, readers: Option<&[String]>) -> bool {
        let named = |reader: &String| readers.is_none_or(|readers| readers.contains(reader));
        self.sees(source) && self.reader.as_ref().is_none_or(named)
    }

    /// Refuses callers that may not write at all.
    ///
    /// # Errors
    /// When the caller may not.
    pub fn must_write(&self) -> Result<(), ApiError> {
        if self.write {
            return Ok(());
        }
        let hint = "use a key that was made with `--write`";
        Err(ApiError::new(Code::Forbidden, "this key may read only", hint))
    }

    /// Refuses writes that are not allowed, whether the source is there or not.
    ///
    /// # Errors
    /// When the caller may not write to this source.
    pub fn may_write(&self, source: &str) -> Result<(), ApiError> {
        self.must_write()?;
        if self.sees(source) {
            return Ok(());
        }
        let hint = "use a key that may write to this source";
        Err(ApiError::new(Code::Forbidden, "this key may not write to this source", hint))
    }

    /// Keeps a filter within the scope. A source outside of it is as unknown as one that is not there.
    ///
    /// # Errors
    /// When a source is named that the caller may not know about, or another reader.
    pub fn narrow(&self, filter: &mut Filter) -> Result<(), ApiError> {
        if let Some(own) = &self.reader {
            let other = filter.reader.as_ref().filter(|asked| *asked != own);
            if other.is_some() {
                let hint = "leave `reader` out";
                return Err(ApiError::new(Code::Forbidden, "this key may not read as another reader", hint));
            }
            filter.reader = Some(own.clone());
        }
        let Sources::Only(seen) = &self.sources else { return Ok(()) };
        if let Some(name) = filter.sources.iter().flatten().find(|name| !seen.contains(*name)) {
            let known = seen.iter().map(String::as_str);
            return Err(mainstem_core::Error::unknown("source", name, known).into());
        }
        filter.scope = Some(seen.iter().cloned().collect());
        Ok(())
    }
}

/// Who is calling.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What it may do.
    pub scope: Scope,
    /// The name of its key.
    pub key: Option<Arc<str>>,
}

/// What the caller of a request may do.
#[derive(Clone, Debug)]
pub struct Access(pub Scope);

impl FromRequestParts<Arc<App>> for Access {
    type Rejection = ApiError;

    /// A request that has not passed the gate is nobody's.
    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Caller>();
        caller.map(|caller| Self(caller.scope.clone())).ok_or_else(ApiError::unidentified)
    }
}

/// Refuses an address that others can reach while there are no keys.
///
/// # Errors
/// When the address is not of this machine alone and there are no keys.
pub fn check_bind(address: SocketAddr, keys: bool) -> Result<(), ApiError> {
    if address.ip().is_loopback() || keys {
        return Ok(());
    }
    let message = format!("`address` is `{address}`, expected one of this machine, such as `127.0.0.1:7700`");
    let hint = "without access keys anybody who reaches the server may read and write everything; `mainstem key create` makes one";
    Err(ApiError::new(Code::Conflict, message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &[&str]) -> Scope {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Scope { sources: Sources::Only(names), reader: Some("ann".to_owned()), write: false }
    }

    #[test]
    fn without_keys_only_this_machine_reaches_the_server() {
        assert!(check_bind("127.0.0.1:0".parse().unwrap(), false).is_ok());
        assert!(check_bind("[::1]:7700".parse().unwrap(), false).is_ok());
        assert!(check_bind("0.0.0.0:7700".parse().unwrap(), false).is_err());
        assert!(check_bind("0.0.0.0:7700".parse().unwrap(), true).is_ok());
    }

    #[test]
    fn a_filter_never_leaves_the_scope() {
        let scope = only(&["wiki"]);
        let mut filter = Filter::default();
        scope.narrow(&mut filter).unwrap();
        assert_eq!(
            (filter.scope.unwrap(), filter.reader.unwrap()),
            (vec!["wiki".to_owned()], "ann".to_owned())
        );
        let mut outside = Filter { sources: Some(vec!["hr".to_owned()]), ..Filter::default() };
        let error = scope.narrow(&mut outside).unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (Code::Unknown, "unknown source `hr`, expected one of `wiki`")
        );
        let mut other = Filter { reader: Some("bob".to_owned()), ..Filter::default() };
        assert_eq!(scope.narrow(&mut other).unwrap_err().code, Code::Forbidden);
    }

    #[test]
    fn what_is_outside_is_neither_read_nor_written() {
        let scope = only(&["wiki"]);
        assert!(scope.reads("wiki", None) && !scope.reads("hr", None));
        assert!(!scope.reads("wiki", Some(&["bob".to_owned()])));
        assert!(scope.may_write("wiki").is_err() && Scope::everything().may_write("wiki").is_ok());
    }
}
