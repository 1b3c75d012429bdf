//! Whether two fusions did the same work: the same items in the same order, except where scores are equal.

use std::collections::HashMap;

/// Compares best-first lists; `tolerance` is relative, for peers that count in f32. Says where they part.
pub(crate) fn agree(ours: &[(&str, f64)], theirs: &[(&str, f64)], tolerance: f64) -> Result<(), String> {
    if ours.len() != theirs.len() {
        return Err(format!("{} items here, {} there", ours.len(), theirs.len()));
    }
    let scores: HashMap<&str, f64> = ours.iter().copied().collect();
    let near = |a: f64, b: f64| (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(tolerance);
    for (place, ((our_id, ours), (their_id, theirs))) in ours.iter().zip(theirs).enumerate() {
        let here = scores.get(their_id).copied().unwrap_or(f64::NAN);
        if !(near(*ours, here) && near(here, *theirs)) {
            return Err(format!("place {place}: `{our_id}` {ours} here, `{their_id}` {theirs} there"));
        }
    }
    Ok(())
}

/// Prints the outcome of the comparison, and whether a race makes sense.
pub(crate) fn announce(peer: &str, outcome: Result<(), String>) -> bool {
    match &outcome {
        Ok(()) => println!("  {peer} gives the same order, up to ties"),
        Err(difference) => println!("  {peer} does other work, so no ratio: {difference}"),
    }
    outcome.is_ok()
}
