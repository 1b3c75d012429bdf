//! Documents on their way to the server, and what became of them.

use serde::Deserialize;
use serde_json::Value;

use crate::{Error, encoded};

/// Where documents go.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The source; it is made when it is not there.
    pub source: String,
    /// The kind of the source, such as `slack`; as it is when left out.
    pub kind: Option<String>,
    /// The model of the vectors that documents bring.
    pub vectors_model: Option<String>,
    /// A name for several calls that are one run; what the server reports of them adds up.
    pub run: Option<String>,
}

impl Target {
    pub(crate) fn path(&self) -> String {
        let options = [("kind", &self.kind), ("vectors_model", &self.vectors_model), ("run", &self.run)];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let query: Vec<String> = given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("/v1/sources/{}/documents{mark}{}", encoded(&self.source), query.join("&"))
    }
}

/// What became of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Ingested {
    /// Documents that are stored.
    pub stored: usize,
    /// Documents that are new.
    pub added: usize,
    /// Documents that replaced others.
    pub changed: usize,
    /// Documents that were there already.
    pub unchanged: usize,
    /// What was refused, and why.
    #[serde(skip)]
    pub refused: Vec<LineError>,
}

/// A document that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// Which of the documents, from 1.
    pub line: u64,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Why.
    pub error: Error,
}

/// Reads the answer: a line for each line, and one that sums up.
pub(crate) fn read(text: &[u8]) -> Result<Ingested, Error> {
    let mut refused = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let value: Value = serde_json::from_slice(line).map_err(|error| Error::unreadable(&error))?;
        let error = value.get("error").and_then(Error::told);
        match (value["line"].as_u64(), error) {
            (Some(line), Some(error)) => {
                let id = value["id"].as_str().map(str::to_owned);
                refused.push(LineError { line, id, error });
            }
            (Some(_), None) => {}
            (None, Some(error)) => return Err(error),
            (None, None) if value["done"] == true => {
                let sum = serde_json::from_value(value).map_err(|error| Error::unreadable(&error))?;
                return Ok(Ingested { refused, ..sum });
            }
            (None, None) => break,
        }
    }
    Err(Error::broken_off())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_whole_in_the_path() {
        let target = Target { source: "a/b".into(), kind: Some("c d".into()), ..Target::default() };
        assert_eq!(target.path(), "/v1/sources/a%2Fb/documents?kind=c%20d");
    }

    #[test]
    fn an_answer_without_its_last_line_broke_off() {
        let stored = "{\"line\":1,\"id\":\"a\",\"status\":\"stored\"}\n";
        let refused = "{\"line\":2,\"id\":null,\"status\":\"refused\",\"error\":{\"code\":\"E0101\",\"message\":\"m\",\"hint\":\"h\"}}\n";
        let done = "{\"done\":true,\"stored\":1,\"refused\":1,\"added\":1,\"changed\":0,\"unchanged\":0}\n";
        let all = read(format!("{stored}{refused}{done}").as_bytes()).unwrap();
        assert_eq!((all.stored, all.refused.len(), all.refused[0].error.message.as_str()), (1, 1, "m"));
        assert_eq!(read(stored.as_bytes()).unwrap_err(), Error::broken_off());
        let failed = "{\"done\":false,\"stored\":0,\"error\":{\"code\":\"E0301\",\"message\":\"disk\",\"hint\":\"h\"}}\n";
        assert_eq!(read(failed.as_bytes()).unwrap_err().message, "disk");
    }
}
