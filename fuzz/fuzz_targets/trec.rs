//! The readers of TREC runs and of TREC and BEIR qrels, on any bytes.
//!
//! They must not panic, and a run that was read must survive being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstem_core::Diagnostic;
use mainstem_eval::format::{Lines, RunReader, RunWriter};
use mainstem_eval::{EvalError, Qrels, Run};

/// Query, document and score of each line.
type Records = Vec<(String, String, f64)>;

fuzz_target!(|data: &[u8]| {
    render(Qrels::read(Lines::new(data, "input")));
    render(Run::read(Lines::new(data, "input")));
    if let Ok(records) = read(data)
        && records.iter().all(is_writable)
    {
        let again = read(&write(&records)).expect("what we write can be read");
        assert_eq!(again, records);
    }
});

/// A byte order mark inside an id would vanish if the id came first in a file; the writer refuses it.
fn is_writable((query, doc, _): &(String, String, f64)) -> bool {
    ![query, doc].iter().any(|id| id.contains('\u{FEFF}'))
}

/// Errors are for people: building the words must not panic either.
fn render<T>(outcome: Result<T, EvalError>) {
    if let Err(error) = outcome {
        let place = error.place().map(ToString::to_string);
        let _ = (error.to_string(), place, error.hint().map(|hint| hint.len()));
    }
}

fn read(data: &[u8]) -> Result<Records, EvalError> {
    let mut reader = RunReader::new(Lines::new(data, "input"));
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push((record.query.to_owned(), record.doc.to_owned(), record.score));
    }
    Ok(records)
}

fn write(records: &Records) -> Vec<u8> {
    let mut writer = RunWriter::new(Vec::new(), "fuzz");
    for (query, doc, score) in records {
        writer.write(query, doc, 1, *score).expect("an id that was read can be written");
    }
    writer.into_inner()
}
