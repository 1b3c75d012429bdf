//! The command line as a whole.

use clap::{Parser, Subcommand};

/// Many sources, one stream: search many sources at once, get one ranked list, and see why each hit is where it is.
#[derive(Debug, Parser)]
#[command(
    name = "mainstem",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 found, 1 nothing found, 2 error. Data goes to standard output, messages to standard error."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) place: crate::remote::PlaceArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See it at work: index 16 sample sources, search them at once, explain and measure the answers
    Demo(crate::demo::DemoArgs),
    /// Make an empty store
    Init(crate::store::InitArgs),
    /// Put documents into the store: folders of files, JSONL, judged collections
    Ingest(Box<crate::ingest::IngestArgs>),
    /// Remove documents, or a whole source
    Remove(crate::remove::RemoveArgs),
    /// Show what each source holds
    Sources(crate::store::SourcesArgs),
    /// Search all sources at once
    Search(Box<crate::search::SearchArgs>),
    /// Find documents that are about the same as one
    Related(crate::related::RelatedArgs),
    /// Link documents that belong together, and take links back
    Link(crate::link::LinkArgs),
    /// Pack the best hits for a language model, and have it answer
    Ask(Box<crate::ask::AskArgs>),
    /// Fuse ranked lists (TREC runs or JSON) into one, and say why each hit is where it is
    Fuse(Box<crate::fuse::FuseArgs>),
    /// Measure ranked lists, or the store's answers, against relevance judgements, and compare them
    Eval(Box<crate::eval::EvalArgs>),
    /// Find better settings on judged queries or clicks, and say honestly if there are none
    Tune(Box<crate::tune::TuneArgs>),
    /// Preview what a recency rule does at each age
    Recency(crate::recency::RecencyArgs),
    /// Answer over HTTP
    Serve(Box<crate::serve::ServeArgs>),
    /// Offer the engine to an agent as tools (Model Context Protocol)
    Mcp(crate::mcp::McpArgs),
    /// Make, list and revoke the keys of a server
    Key(crate::key::KeyArgs),
    /// Check the configuration, or show what applies
    Config(crate::config::ConfigCommandArgs),
    /// Get the embedding model, or list those that are here
    Model(crate::model::ModelArgs),
    /// Build the indexes anew from the stored documents
    Reindex(crate::store::ReindexArgs),
    /// Look for anything in the store that is not as it should be
    Doctor(crate::store::DoctorArgs),
    /// Measure how fast this machine searches the store
    Bench(crate::bench::BenchArgs),
}

impl Command {
    /// Whether it looks for something in a store, and changes nothing.
    pub(crate) fn only_searches(&self) -> bool {
        matches!(self, Self::Search(_) | Self::Ask(_) | Self::Related(_) | Self::Eval(_) | Self::Tune(_))
    }

    /// Whether a server can do it in the place of a store.
    pub(crate) fn asks_servers(&self) -> bool {
        matches!(
            self,
            Self::Ingest(_)
                | Self::Remove(_)
                | Self::Sources(_)
                | Self::Search(_)
                | Self::Ask(_)
                | Self::Related(_)
                | Self::Link(_)
                | Self::Mcp(_)
        )
    }
}
