//! Access keys.
//!
//! A secret is 256 bits of the operating system, so that nobody guesses it, and a plain hash of it says nothing about it. It is shown
//! once; what is kept is the hash.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use blake3::Hash;
use mainstem_core::Code;
use mainstem_core::time::Moment;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Scope, Sources};
use crate::error::ApiError;

/// What every secret begins with, so that people and scanners know one when they see it.
pub const PREFIX: &str = "ms_";

/// The random part of a secret.
const BYTES: usize = 32;

/// How long the names of keys and readers may be, in characters.
const LONGEST_NAME: usize = 64;

/// What a key allows. In the file nothing may be left out: what is missing must not mean that everything is allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The sources that it is for; all of them when there is no list.
    #[serde(deserialize_with = "Option::deserialize")]
    pub sources: Option<BTreeSet<String>>,
    /// Whether it may write, too.
    pub write: bool,
    /// Whose key it is: then it sees only the documents that this reader may read.
    #[serde(deserialize_with = "Option::deserialize")]
    pub reader: Option<String>,
    /// When it stops being one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub expires_at: Option<Moment>,
}

/// One key, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its name, by which it is revoked.
    pub name: String,
    #[serde(serialize_with = "write_hash", deserialize_with = "read_hash")]
    hash: Hash,
    /// When it was made.
    pub created_at: Moment,
    /// What it allows.
    pub grant: Grant,
}

impl Grant {
    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// When a name is empty or too long, or a reader may write.
    pub fn check(&self) -> Result<(), ApiError> {
        let empty = self.sources.as_ref().is_some_and(BTreeSet::is_empty);
        if empty {
            return Err(ApiError::value(
                "a key for no source, expected one at least",
                "leave `--source` out for all",
            ));
        }
        for source in self.sources.iter().flatten() {
            check_name("the name of a source", source)?;
        }
        let Some(reader) = &self.reader else { return Ok(()) };
        check_name("the name of a reader", reader)?;
        if self.write {
            // Writing over a document tells whether it is there.
            let message = "`--write` and `--reader`: expected one of them, received both";
            let hint = "make two keys: one that writes, and one that reads as this reader";
            return Err(ApiError::new(Code::Conflict, message, hint));
        }
        Ok(())
    }

    /// The scope of a caller that has the key.
    pub fn scope(&self) -> Scope {
        let sources = self.sources.clone().map_or(Sources::All, Sources::Only);
        Scope { sources, reader: self.reader.clone(), write: self.write }
    }

    /// Whether its time is over.
    pub fn is_expired(&self, now: &Moment) -> bool {
        self.expires_at.as_ref().is_some_and(|end| end.age_days(now) >= 0.0)
    }
}

/// Refuses names that nobody could type or read.
fn check_name(what: &str, name: &str) -> Result<(), ApiError> {
    let length = name.chars().count();
    let fine =
        (1..=LONGEST_NAME).contains(&length) && name.trim() == name && !name.contains(char::is_control);
    if fine {
        return Ok(());
    }
    let shown: String = name.chars().take(LONGEST_NAME).flat_map(char::escape_debug).collect();
    let message =
        format!("{what} is `{shown}`, expected 1 to {LONGEST_NAME} characters without spaces around them");
    Err(ApiError::value(message, "choose another name"))
}

impl Key {
    /// A new key, and its secret, which is nowhere else.
    ///
    /// # Errors
    /// When the name or the grant makes no sense, or the system has no random bytes.
    pub fn new(name: &str, grant: Grant, now: Moment) -> Result<(Self, String), ApiError> {
        check_name("the name of the key", name)?;
        grant.check()?;
        let secret = secret()?;
        let hash = blake3::hash(secret.as_bytes());
        Ok((Self { name: name.to_owned(), hash, created_at: now, grant }, secret))
    }

    /// The key of this secret, whether it is expired or not. All are looked at, and each whole, so that the time says nothing.
    pub fn find<'a>(keys: &'a [Self], secret: &[u8]) -> Option<&'a Self> {
        let given = blake3::hash(secret);
        let mut found = None;
        for key in keys {
            if same(&key.hash, &given) {
                found = Some(key);
            }
        }
        found
    }
}

/// Compares in constant time, as `blake3::Hash` promises for `==`; never compare the bytes or the text of hashes.
fn same(one: &Hash, other: &Hash) -> bool {
    one == other
}

fn secret() -> Result<String, ApiError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        let message = format!("the system gives no random bytes: {error}");
        ApiError::new(Code::Unavailable, message, "try again")
    })?;
    let mut secret = String::from(PREFIX);
    for byte in bytes {
        // Writing into a text does not fail.
        let _ = write!(secret, "{byte:02x}");
    }
    Ok(secret)
}

fn write_hash<S: Serializer>(hash: &Hash, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(hash.to_hex().as_str())
}

fn read_hash<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
    let text = String::deserialize(deserializer)?;
    Hash::from_hex(text).map_err(|_| serde::de::Error::custom("expected the hash of a key"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant { sources: None, write: false, reader: None, expires_at: None }
    }

    fn key(name: &str) -> (Key, String) {
        Key::new(name, grant(), Moment::parse("2026-01-01").unwrap()).unwrap()
    }

    #[test]
    fn hashes_are_compared_whole() {
        let hash = blake3::hash(b"x");
        assert!(same(&hash, &Hash::from_bytes(*hash.as_bytes())));
        for bit in 0..256 {
            let mut bytes = *hash.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!same(&hash, &Hash::from_bytes(bytes)), "bit {bit}");
        }
    }

    #[test]
    fn a_secret_opens_its_key_and_no_other() {
        let ((one, first), (two, second)) = (key("one"), key("two"));
        let keys = [one, two];
        assert_eq!(Key::find(&keys, first.as_bytes()).unwrap().name, "one");
        assert_eq!(Key::find(&keys, second.as_bytes()).unwrap().name, "two");
        let short = &first[..first.len() - 1];
        for wrong in [short, &first.to_uppercase(), &format!("{first} "), "", "ms_", &second[3..]] {
            assert_eq!(Key::find(&keys, wrong.as_bytes()), None, "{wrong}");
        }
        assert!(first.starts_with(PREFIX) && first.len() == 3 + 2 * BYTES && first != second);
    }

    #[test]
    fn what_is_kept_does_not_have_the_secret() {
        let (key, secret) = key("one");
        let kept = serde_json::to_string(&key).unwrap();
        assert!(!kept.contains(&secret[3..]), "{kept}");
        assert_eq!(serde_json::from_str::<Key>(&kept).unwrap(), key);
        // A field that is missing, or goes by another name, must not open more than was meant.
        for field in ["name", "hash", "created_at", "sources", "write", "reader", "expires_at"] {
            let renamed = kept.replace(&format!("\"{field}\":"), "\"other\":");
            assert!(renamed != kept && serde_json::from_str::<Key>(&renamed).is_err(), "{renamed}");
        }
    }

    #[test]
    fn time_runs_out_at_the_moment_that_was_said() {
        let at = |text: &str| Moment::parse(text).unwrap();
        let grant = Grant { expires_at: Some(at("2026-02-01")), ..grant() };
        assert!(!grant.is_expired(&at("2026-01-31T23:59:59Z")));
        assert!(grant.is_expired(&at("2026-02-01")) && grant.is_expired(&at("2027-01-01")));
    }

    #[test]
    fn grants_that_make_no_sense_are_refused() {
        let both = Grant { write: true, reader: Some("ann".to_owned()), ..grant() };
        assert_eq!(both.check().unwrap_err().code, Code::Conflict);
        let none = Grant { sources: Some(BTreeSet::new()), ..grant() };
        let odd = Grant { sources: Some(BTreeSet::from(["a\nb".to_owned()])), ..grant() };
        let nobody = Grant { reader: Some(String::new()), ..grant() };
        for refused in [none, odd, nobody] {
            assert_eq!(refused.check().unwrap_err().code, Code::Value, "{refused:?}");
        }
        assert!(
            Key::new(" x", grant(), Moment::now()).is_err()
                && Key::new(&"x".repeat(65), grant(), Moment::now()).is_err()
        );
    }
}
