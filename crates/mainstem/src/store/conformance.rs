//! The suite that every store must pass, whatever it is made of.
//!
//! A test of a store makes empty stores and runs [`all`] on them; one whose stores outlive their handles also runs [`reopening`]:
//!
//! ```text
//! conformance::all(&|| Box::new(MyStore::empty()));
//! ```
//!
//! The suite asks for what the contract promises and nothing else: scores are compared with each other, never with a formula.

mod filtering;
mod help;
mod hiding;
mod linking;
mod scoring;
mod searching;
mod writing;

use mainstem_core::contract::Store;
use mainstem_core::link::EdgeStore;

/// How many numbers the vectors of the suite have. A factory's store must be ready for vectors of this length.
pub const DIM: usize = 4;

/// Makes a store; for [`all`], an empty one each time.
pub type Factory<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// A case: its name, and what runs it.
pub type Case = (&'static str, fn(Factory<'_>));

/// All cases, in the order they run.
pub const CASES: &[Case] = &[
    ("an empty store answers with nothing", writing::empty),
    ("what was put comes back as it was", writing::comes_back),
    ("a document replaces the one of its name", writing::replaces),
    ("a deleted document is gone", writing::deletes),
    ("an equal document is unchanged", writing::unchanged),
    ("changes apply in order", writing::in_order),
    ("all changes apply or none", writing::all_or_none),
    ("numbers of chunks are never used again", writing::never_again),
    ("a view does not change", writing::isolation),
    ("sources are counted", writing::counts),
    ("readers see whole writes while they go on", writing::concurrent),
    ("each source has its own best chunks", searching::per_source),
    ("order and scores are comparable across sources", searching::comparable),
    ("ties are in the order of the numbers", searching::ties),
    ("any script is found", searching::scripts),
    ("odd documents are kept", searching::odd),
    ("odd questions are answered", searching::odd_questions),
    ("a vector of another model is refused", searching::wrong_vectors),
    ("chunks score what they were found with", scoring::same_as_found),
    ("what is not there has no score", scoring::absent),
    ("the background is that of all scores", scoring::background),
    ("sources and kinds filter", filtering::sources_and_kinds),
    ("times filter", filtering::times),
    ("metadata filter", filtering::metadata),
    ("readers filter", filtering::readers),
    ("filters hold together", filtering::together),
    ("a filter comes before the limit", filtering::before_the_limit),
    ("a scope filters", hiding::scope),
    ("no score tells of a source outside the scope", hiding::sources),
    ("no score tells of a document that cannot be read", hiding::documents),
    ("what is asked for does not change scores", hiding::narrowing),
];

/// A store that keeps links beside documents.
pub trait Linked: Store + EdgeStore {}
impl<T: Store + EdgeStore> Linked for T {}

/// Makes a store that keeps links; for [`links`], an empty one each time.
pub type LinkedFactory<'a> = &'a dyn Fn() -> Box<dyn Linked>;

/// A case about links.
pub type LinkCase = (&'static str, fn(LinkedFactory<'_>));

/// All cases about links, in the order they run.
pub const LINK_CASES: &[LinkCase] = &[
    ("a store without links answers with nothing", linking::empty),
    ("an edge comes back as it was, its ends in order", linking::comes_back),
    ("a document is not linked to itself, a pair is linked once", linking::pairs),
    ("ends that are not there are left out", linking::absent),
    ("scores outside of 0 to 1 are refused, and nothing is kept", linking::scores),
    ("a name of a run is used once", linking::names),
    ("the newest run counts, and says what it changed", linking::overlap),
    ("the same run again keeps everything", linking::again),
    ("undoing the first run leaves the later one", linking::undo_first),
    ("undoing the later run brings the first one back", linking::undo_later),
    ("undoing twice does nothing", linking::undo_twice),
    ("links of a deleted document are gone", linking::deleted),
    ("links of a document that was written anew are stale", linking::stale),
    ("links with a hidden end are hidden", linking::hidden),
    ("links are asked for by document and by run", linking::asked),
    ("what runs said that do not count neither shows nor hides", linking::among),
    ("for whom a run looked is kept", linking::readers),
    ("the order is total, and comes before the limit", linking::ordered),
    ("what would change is what changes", linking::foretold),
];

/// Runs every case about links on a store of its own.
///
/// # Panics
/// When the store does not keep to the contract of links. The name of the case is on standard error.
pub fn links(fresh: LinkedFactory<'_>) {
    for (name, case) in LINK_CASES {
        eprintln!("conformance: {name}");
        case(fresh);
    }
}

/// Whether links are still there after the handle of their store is gone: every call of `open` must give the same store, which is empty at
/// first.
///
/// # Panics
/// When the store does not keep to the contract of links.
pub fn reopening_links(open: LinkedFactory<'_>) {
    linking::survives(open);
}

/// Runs every case on a store of its own.
///
/// # Panics
/// When the store does not keep to the contract. The name of the case is on standard error.
pub fn all(fresh: Factory<'_>) {
    for (name, case) in CASES {
        eprintln!("conformance: {name}");
        case(fresh);
    }
}

/// Whether a store is still there after its handle is gone: every call of `open` must give the same store, which is empty at first.
///
/// # Panics
/// When the store does not keep to the contract.
pub fn reopening(open: Factory<'_>) {
    writing::survives(open);
}
