//! What a run did, for people and for programs.

use std::fmt::Write as _;
use std::path::Path;

use mainstem::ingest::Summary;
use mainstem::reports::Ingested;

use super::IngestArgs;
use crate::failure::Problem;
use crate::link::show::count;
use crate::{output, reports};

/// So many skips are listed.
const LISTED: usize = 10;

/// Keeps what a run did beside the store.
pub(super) fn keep(args: &IngestArgs, summary: &Summary, store: &Path) {
    reports::keep_ingest(store, &args.source, summary);
}

/// Prints what a run did: as JSON, one line each while watching, or as text. `elsewhere` is where else the source was filled from, if documents
/// were kept for that.
pub(super) fn write(args: &IngestArgs, summary: &Summary, elsewhere: Option<&str>) -> Result<(), Problem> {
    let report = Ingested { source: &args.source, summary };
    let text = match (args.json, args.watch) {
        (true, true) => serde_json::to_string(&report)? + "\n",
        (true, false) => serde_json::to_string_pretty(&report)? + "\n",
        (false, _) => output::plain(&text(&args.source, summary, elsewhere)).into_owned(),
    };
    output::write(None, &text)
}

fn text(source: &str, summary: &Summary, elsewhere: Option<&str>) -> String {
    let Summary { documents, chunks, applied, elapsed, .. } = summary;
    let mut out = format!(
        "{source}: {} added, {} changed, {} unchanged, {} removed; {}, {}, {:.1} s\n",
        applied.added,
        applied.changed,
        applied.unchanged,
        applied.removed,
        count(*documents as u64, "document"),
        count(*chunks as u64, "chunk"),
        elapsed.as_secs_f64()
    );
    notes(&mut out, summary, elsewhere);
    skips(&mut out, summary);
    out
}

fn notes(out: &mut String, summary: &Summary, elsewhere: Option<&str>) {
    let Summary { embedded, cut, kept, interrupted, .. } = summary;
    if *embedded > 0 {
        let _ = writeln!(
            out,
            "embedded {}, {cut} of them longer than the model reads",
            count(*embedded as u64, "chunk")
        );
    }
    if let Some(elsewhere) = elsewhere.filter(|_| *kept > 0) {
        let _ = writeln!(
            out,
            "kept {} not here, because the source was also filled from {elsewhere}; `--sync` removes them",
            count(*kept as u64, "document")
        );
    } else if *kept > 0 {
        let why = if summary.documents == 0 { "nothing was found" } else { "something could not be read" };
        let _ = writeln!(
            out,
            "kept {} that {} not found, because {why}; `--sync` on a good run removes them",
            count(*kept as u64, "document"),
            if *kept == 1 { "was" } else { "were" }
        );
    }
    if *interrupted {
        out.push_str("stopped before the end; run it again to go on\n");
    }
}

fn skips(out: &mut String, summary: &Summary) {
    let skipped = &summary.skipped;
    if skipped.count > 0 {
        let _ = writeln!(out, "skipped {}:", skipped.count);
    }
    for skip in skipped.first.iter().take(LISTED) {
        let _ = writeln!(out, "  {}: {}", skip.what, skip.why);
    }
    if skipped.count > LISTED {
        let _ = writeln!(out, "  and {} more", skipped.count - LISTED);
    }
}
