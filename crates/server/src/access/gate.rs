//! The gate: every request passes it, before anything is made of the request.
//!
//! It is closed by default. A path that is not on the list of open ones needs a key as soon as the store has keys, whether a handler asks who
//! is calling or not. A file of keys that cannot be read, or is gone, lets nobody in; a server never opens by accident.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use mainstem_core::Code;
use mainstem_core::time::Moment;

use super::file::{KeyFile, Stamp};
use super::key::Key;
use super::{Caller, Scope};
use crate::app::App;
use crate::error::ApiError;

/// What needs no key: whether the server lives, and how it is spoken to.
const OPEN: [&str; 4] = ["/healthz", "/readyz", "/openapi.json", "/docs"];

/// The other header that may bring a key.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What a proxy adds to a request that comes from somewhere else.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// How often the file of keys is looked at, at most.
const LOOK: Duration = Duration::from_millis(500);

/// Longer than any secret; what is longer is not even hashed.
const LONGEST: usize = 256;

/// Who may come in.
#[derive(Debug)]
pub struct Gate {
    /// Where the keys are; nothing where none are asked for.
    file: Option<KeyFile>,
    /// Whether callers of this machine need none.
    open_here: bool,
    known: RwLock<Known>,
    started: Instant,
    /// When the file was last looked at, in milliseconds after the start.
    looked: AtomicU64,
}

#[derive(Clone, Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    /// Nothing while there were never any keys.
    keys: Option<Arc<[Key]>>,
}

/// What a request brings along.
enum Given<'a> {
    Nothing,
    Secret(&'a [u8]),
    /// More than one secret, or something else in their place.
    Nonsense,
}

impl Gate {
    /// A gate for the keys of a store, or for none. Whether callers of this machine need a key is asked only where nobody else can call.
    ///
    /// # Errors
    /// When there are keys that cannot be read.
    pub fn new(file: Option<KeyFile>, open_here: bool) -> Result<Self, ApiError> {
        let known = match &file {
            Some(file) => Known { stamp: file.stamp()?, keys: file.read()?.map(Arc::from) },
            None => Known::default(),
        };
        let (known, started) = (RwLock::new(known), Instant::now());
        Ok(Self { file, open_here, known, started, looked: AtomicU64::new(0) })
    }

    /// Whether keys are asked for.
    pub fn has_keys(&self) -> bool {
        self.keys().is_some()
    }

    fn keys(&self) -> Option<Arc<[Key]>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).keys.clone()
    }

    /// Looks whether the file has changed, unless someone did a moment ago.
    fn look(&self) {
        let Some(file) = &self.file else { return };
        let now = self.started.elapsed().as_millis() as u64;
        let looked = self.looked.load(Ordering::Acquire);
        let due = now.saturating_sub(looked) >= LOOK.as_millis() as u64;
        let mine = || self.looked.compare_exchange(looked, now, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if due && mine() {
            self.follow(file);
        }
    }

    fn follow(&self, file: &KeyFile) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let read = file.stamp().and_then(|stamp| match stamp {
            Some(_) if stamp == known.stamp => Ok(known.clone()),
            None if known.keys.is_none() => Ok(Known::default()),
            _ => Ok(Known { stamp, keys: Some(file.read()?.unwrap_or_default().into()) }),
        });
        let new = read.unwrap_or_else(|error| {
            tracing::error!(%error, "nobody is let in: the keys cannot be read");
            // Without a stamp it is tried again.
            Known { stamp: None, keys: Some(Arc::from([])) }
        });
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = new;
    }

    /// Who is calling.
    ///
    /// # Errors
    /// When a key is needed and none that is valid is there: one answer, whatever is wrong with it.
    pub fn admit(&self, headers: &HeaderMap, uri: &Uri) -> Result<Caller, ApiError> {
        self.look();
        let Some(keys) = self.keys() else { return anybody(headers, uri) };
        match given(headers) {
            Given::Nothing if self.open_here && !is_forwarded(headers) => anybody(headers, uri),
            Given::Secret(secret) => {
                let key = Key::find(&keys, secret).filter(|key| !key.grant.is_expired(&Moment::now()));
                let key = key.ok_or_else(ApiError::unidentified)?;
                Ok(Caller { scope: key.grant.scope(), key: Some(key.name.as_str().into()) })
            }
            _ => Err(ApiError::unidentified()),
        }
    }
}

/// The secret of a request: one, in one of the two headers.
fn given(headers: &HeaderMap) -> Given<'_> {
    let bearers = headers.get_all(header::AUTHORIZATION).iter().map(bearer);
    let plain = headers.get_all(API_KEY).iter().map(|value| Some(value.as_bytes()));
    let mut all = bearers.chain(plain);
    match (all.next(), all.next()) {
        (None, _) => Given::Nothing,
        (Some(Some(secret)), None) if secret.len() <= LONGEST => Given::Secret(secret),
        _ => Given::Nonsense,
    }
}

/// What follows `Bearer`, in letters of any case.
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, secret) = value.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| secret.trim_ascii())
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDED.iter().any(|name| headers.contains_key(*name))
}

/// A caller without a key, who may do everything, unless the name that the server is called by is one of the network: a web page can
/// point its own name at this machine, and have the browser of whoever looks at it ask.
fn anybody(headers: &HeaderMap, uri: &Uri) -> Result<Caller, ApiError> {
    let named = headers.get(header::HOST).map(|host| host.to_str().unwrap_or("."));
    let foreign = [named, uri.authority().map(axum::http::uri::Authority::as_str)]
        .into_iter()
        .flatten()
        .any(is_foreign);
    if foreign {
        let message = "without an access key the server answers to `localhost` and to addresses only";
        let hint = "call it by `127.0.0.1` or `localhost`, or make a key with `mainstem key create`";
        return Err(ApiError::new(Code::Forbidden, message, hint));
    }
    Ok(Caller { scope: Scope::everything(), key: None })
}

/// Whether a host is a name of the network; those have dots.
fn is_foreign(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.trim_end_matches('.');
    let local = name.to_ascii_lowercase().ends_with(".localhost");
    host.trim_end_matches('.').contains('.') && !local && name.parse::<IpAddr>().is_err()
}

/// Lets a request pass with who is calling, or answers it.
pub async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    match app.gate.admit(request.headers(), request.uri()) {
        Ok(caller) => {
            let key = caller.key.clone();
            request.extensions_mut().insert(caller);
            let mut response = next.run(request).await;
            if let Some(key) = key {
                response.extensions_mut().insert(UsedKey(key));
            }
            response
        }
        Err(error) => error.into_response(),
    }
}

/// The name of the key of a request, for the log.
#[derive(Clone, Debug)]
pub struct UsedKey(pub Arc<str>);

#[cfg(test)]
mod tests {
    use super::super::key::Grant;
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn admit(gate: &Gate, pairs: &[(&'static str, &str)]) -> Result<Caller, ApiError> {
        gate.admit(&headers(pairs), &Uri::from_static("/v1/sources"))
    }

    fn added(file: &KeyFile, name: &str, expires_at: Option<Moment>) -> String {
        let grant = Grant { sources: None, write: false, reader: None, expires_at };
        let (key, secret) = Key::new(name, grant, Moment::now()).unwrap();
        file.add(key).unwrap();
        secret
    }

    #[test]
    fn one_key_in_one_header() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        let secret = added(&file, "a", None);
        let old = added(&file, "old", Some(Moment::parse("2020-01-01").unwrap()));
        let gate = Gate::new(Some(file), false).unwrap();
        let bearer = |scheme: &str| format!("{scheme}{secret}");
        for scheme in ["Bearer ", "bearer ", "BEARER  "] {
            assert!(admit(&gate, &[("authorization", &bearer(scheme))]).is_ok(), "{scheme}");
        }
        assert_eq!(admit(&gate, &[("x-api-key", &secret)]).unwrap().key.as_deref(), Some("a"));
        let right = bearer("Bearer ");
        let wrong: [&[(&'static str, &str)]; 11] = [
            &[],
            &[("authorization", &secret)],
            &[("authorization", &bearer("Basic "))],
            &[("authorization", &bearer("Bearer"))],
            &[("authorization", &right), ("authorization", &right)],
            &[("authorization", &right), ("x-api-key", &secret)],
            &[("authorization", "Bearer ms_0"), ("x-api-key", &secret)],
            &[("x-api-key", &old)],
            &[("authorization", "Bearer ")],
            &[("x-api-key", "")],
            &[("x-api-key", &"ms_".repeat(1000))],
        ];
        for pairs in wrong {
            let error = admit(&gate, pairs).unwrap_err();
            assert_eq!(
                (error.code, error.message),
                (Code::Unidentified, ApiError::unidentified().message),
                "{pairs:?}"
            );
        }
    }

    #[test]
    fn changes_of_the_file_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        let gate = Gate::new(Some(file.clone()), false).unwrap();
        assert!(admit(&gate, &[]).is_ok() && !gate.has_keys());
        let secret = added(&file, "a", None);
        gate.follow(&file);
        assert!(admit(&gate, &[]).is_err() && admit(&gate, &[("x-api-key", &secret)]).is_ok());
        file.remove("a").unwrap();
        gate.follow(&file);
        assert!(admit(&gate, &[]).is_err() && admit(&gate, &[("x-api-key", &secret)]).is_err());
        let secret = added(&file, "b", None);
        gate.follow(&file);
        assert!(admit(&gate, &[("x-api-key", &secret)]).is_ok());
    }

    #[test]
    fn a_file_that_is_gone_or_broken_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        let secret = added(&file, "a", None);
        let path = folder.path().join(super::super::file::NAME);
        let kept = std::fs::read(&path).unwrap();
        let gate = Gate::new(Some(file.clone()), false).unwrap();
        for broken in [None, Some("{")] {
            match broken {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            gate.follow(&file);
            assert!(gate.has_keys() && admit(&gate, &[]).is_err(), "{broken:?}");
            assert!(admit(&gate, &[("x-api-key", &secret)]).is_err(), "{broken:?}");
        }
        assert!(
            Gate::new(Some(file.clone()), false).is_err(),
            "a server does not start with keys that it cannot read"
        );
        std::fs::write(&path, kept).unwrap();
        gate.follow(&file);
        assert!(admit(&gate, &[("x-api-key", &secret)]).is_ok());
    }

    #[test]
    fn this_machine_is_let_in_where_that_is_configured() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        added(&file, "a", None);
        let gate = Gate::new(Some(file), true).unwrap();
        assert_eq!(admit(&gate, &[]).unwrap().scope, Scope::everything());
        assert!(admit(&gate, &[("x-api-key", "ms_wrong")]).is_err());
        for name in FORWARDED {
            assert!(admit(&gate, &[(name, "127.0.0.1")]).is_err(), "{name}");
        }
        assert!(admit(&gate, &[("host", "evil.example:7700")]).is_err());
    }

    #[test]
    fn names_of_the_network_are_foreign() {
        for host in [
            "127.0.0.1:7700",
            "localhost:7700",
            "localhost",
            "[::1]:7700",
            "box",
            "app.localhost",
            "localhost.",
        ] {
            assert!(!is_foreign(host), "{host}");
        }
        for host in ["evil.example", "evil.example:7700", "127.0.0.1.evil.example", "a.b.", "."] {
            assert_eq!(is_foreign(host), host != ".", "{host}");
        }
    }
}
