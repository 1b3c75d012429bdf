//! Links as a caller may see them: with the titles of their ends, and nothing that the caller may not read.

use indexmap::IndexMap;
use mainstem_core::contract::Filter;
use mainstem_core::link::{DocumentName, Edges as _, Link, LinkQuery};
pub use mainstem_core::linked::{LinkEnd, LinkedDocument, ShownLink, Tie};
use mainstem_core::{Document, Failure};

use crate::store::EmbeddedStore;

/// More links than any document has that a person looks at.
const MANY: usize = 10_000;

/// Reads the links of a store for one caller.
pub struct Links<'a> {
    store: &'a EmbeddedStore,
    /// The `scope` and the `reader` say what the caller may see at all; both ends of a link must pass them.
    filter: Filter,
    /// The runs that looked at nothing but what the caller may see; all where that is everything.
    runs: Option<Vec<String>>,
    ends: IndexMap<DocumentName, Option<LinkEnd>>,
}

impl<'a> Links<'a> {
    /// For a caller who may see what passes the scope and the reader of the filter.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(store: &'a EmbeddedStore, filter: &Filter) -> Result<Self, Failure> {
        let runs = if filter.scope.is_none() && filter.reader.is_none() {
            None
        } else {
            let within = store.runs()?.into_iter().filter(|run| run.is_within(filter));
            Some(within.map(|run| run.id).collect())
        };
        let filter =
            Filter { scope: filter.scope.clone(), reader: filter.reader.clone(), ..Filter::default() };
        Ok(Self { store, filter, runs, ends: IndexMap::new() })
    }

    /// The links of a document as they stand, best first: so many, to documents of these sources or of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_document(
        &mut self,
        document: &DocumentName,
        sources: Option<&[String]>,
        limit: usize,
    ) -> Result<Vec<LinkedDocument>, Failure> {
        let mut shown = Vec::new();
        for link in self.read(Some(document), None, MANY)? {
            if shown.len() == limit {
                break;
            }
            let other = if link.edge.a == *document { &link.edge.b } else { &link.edge.a };
            if sources.is_some_and(|sources| !sources.contains(&other.source)) {
                continue;
            }
            if let Some(end) = self.end(other)? {
                shown.push(LinkedDocument::new(&link, document, end));
            }
        }
        Ok(shown)
    }

    /// What a run said, best first: a page, and whether there is more.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_run(
        &mut self,
        run: &str,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<ShownLink>, bool), Failure> {
        let end = offset.saturating_add(limit);
        let links = self.read(None, Some(run), end.saturating_add(1))?;
        let more = links.len() > end;
        Ok((self.shown(links.iter().skip(offset).take(limit))?, more))
    }

    /// These links with their ends, without those that the caller may not see.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn shown<'l>(&mut self, links: impl Iterator<Item = &'l Link>) -> Result<Vec<ShownLink>, Failure> {
        let mut shown = Vec::new();
        for link in links {
            if let (Some(a), Some(b)) = (self.end(&link.edge.a)?, self.end(&link.edge.b)?) {
                shown.push(ShownLink::new(link, a, b));
            }
        }
        Ok(shown)
    }

    /// The links between any two of these documents.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn among(&self, documents: &[DocumentName]) -> Result<Vec<Tie>, Failure> {
        let mut ties: IndexMap<(DocumentName, DocumentName), f64> = IndexMap::new();
        for document in documents {
            for link in self.read(Some(document), None, MANY)? {
                if documents.contains(&link.edge.a) && documents.contains(&link.edge.b) {
                    ties.insert((link.edge.a, link.edge.b), link.edge.score);
                }
            }
        }
        let tie = |((a, b), score): ((DocumentName, DocumentName), f64)| Tie {
            a: a.to_string(),
            b: b.to_string(),
            score,
        };
        Ok(ties.into_iter().map(tie).collect())
    }

    fn read(
        &self,
        document: Option<&DocumentName>,
        run: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Link>, Failure> {
        let among = self.runs.as_deref();
        self.store.links(&LinkQuery { document, run, among, filter: &self.filter, limit })
    }

    /// An end that is there and that the caller may read: the store says so, too, and is not taken at its word.
    fn end(&mut self, name: &DocumentName) -> Result<Option<LinkEnd>, Failure> {
        if let Some(known) = self.ends.get(name) {
            return Ok(known.clone());
        }
        let found = self.store.document(&name.source, &name.id)?.filter(|document| self.may_read(document));
        let end = found.map(|document| LinkEnd {
            source: document.source,
            document: document.id,
            title: document.title,
            url: document.url,
            label: document.label,
        });
        self.ends.insert(name.clone(), end.clone());
        Ok(end)
    }

    fn may_read(&self, document: &Document) -> bool {
        let Filter { scope, reader, .. } = &self.filter;
        let named = |reader: &String| document.readers.as_ref().is_none_or(|all| all.contains(reader));
        scope.as_ref().is_none_or(|scope| scope.contains(&document.source))
            && reader.as_ref().is_none_or(named)
    }
}
