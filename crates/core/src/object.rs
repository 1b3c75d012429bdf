//! What is written as an object, and not as an array of its fields in their order, which serde takes as well.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

/// A value that was written as an object.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Named(PhantomData)).map(Self)
    }
}

/// For `deserialize_with`.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

struct Named<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Named<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leg::Bounds;

    #[test]
    fn an_array_is_no_object() {
        let read = |text: &str| serde_json::from_str::<Object<Bounds>>(text).map(|Object(bounds)| bounds.max);
        assert_eq!(read(r#"{"min": 0, "max": 2}"#).unwrap(), Some(2.0));
        assert!(read("[0, 2, null]").unwrap_err().to_string().contains("expected an object"));
        assert!(read(r#"{"mix": 0}"#).unwrap_err().to_string().contains("unknown field `mix`"));
    }
}
