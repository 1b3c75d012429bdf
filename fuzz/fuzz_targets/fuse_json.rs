//! The JSON that `mainstem fuse` reads, on any bytes: reading it and running it must not panic.
//!
//! An answer must also keep the promises of the ledger (replaying it gives the score exactly) and of the replay file
//! (what is written gives the same hits as what was read).
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstem_core::{Answer, Diagnostic, Error, Replay};

fuzz_target!(|data: &[u8]| {
    let replay = match Replay::from_json(data) {
        Ok(replay) => replay,
        Err(error) => return render(&error),
    };
    let answer = match replay.run() {
        Ok(answer) => answer,
        Err(error) => return render(&error),
    };
    for hit in &answer.hits {
        assert!(hit.score.is_finite(), "`{}` has the score {}", hit.id, hit.score);
        let replayed = hit.ledger.replay();
        assert_eq!(replayed.to_bits(), hit.score.to_bits(), "`{}`: {replayed} is not {}", hit.id, hit.score);
    }
    let written = replay.to_json().expect("what was read can be written");
    let again = Replay::from_json(written.as_bytes()).expect("what was written can be read");
    assert_eq!(ranking(&again.run().expect("what ran once runs again")), ranking(&answer));
});

/// Errors are for people: building the words must not panic either.
fn render(error: &Error) {
    let place = error.place().map(ToString::to_string);
    let _ = (error.to_string(), place, error.hint().map(|hint| hint.len()));
}

fn ranking(answer: &Answer) -> Vec<(&str, usize, u64)> {
    let hits = answer.hits.iter();
    hits.map(|hit| (hit.id.as_str(), hit.rank, hit.score.to_bits())).collect()
}
