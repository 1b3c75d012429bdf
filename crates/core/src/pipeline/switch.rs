//! A stage's settings, or a word that switches it off: TOML has no `null`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads settings; nothing for `false`, `"off"` and `null`.
pub(super) fn read<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(Switch(PhantomData))
}

struct Switch<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Switch<T> {
    type Value = Option<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table of settings, or `false` for a stage that is off")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
        if on { Err(E::invalid_value(Unexpected::Bool(on), &self)) } else { Ok(None) }
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        if word == "off" { Ok(None) } else { Err(E::invalid_value(Unexpected::Str(word), &self)) }
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::PipelineSpec;

    #[test]
    fn a_stage_is_switched_off_by_a_word() {
        let read = |text: &str| serde_json::from_str::<PipelineSpec>(text);
        for off in ["false", "\"off\"", "null"] {
            let stages =
                ["dedup", "neighbours", "prior", "learned", "rerank", "diversify", "recency", "guarantee"];
            let all: Vec<_> = stages.iter().map(|stage| format!("\"{stage}\": {off}")).collect();
            assert_eq!(read(&format!("{{{}}}", all.join(","))).unwrap(), PipelineSpec::default(), "{off}");
        }
        for wrong in ["true", "\"on\"", "3", "[]"] {
            let error = read(&format!("{{\"dedup\": {wrong}}}")).unwrap_err().to_string();
            assert!(error.contains("`false` for a stage that is off"), "{error}");
        }
        let error = read(r#"{"dedup": {"within": 2}}"#).unwrap_err().to_string();
        assert!(error.contains("`dedup.within`"), "{error}");
    }
}
