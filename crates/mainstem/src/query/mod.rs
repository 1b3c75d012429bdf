//! Answering queries: plan, retrieve all legs in parallel, and let the ranking core do the rest.
//!
//! 1. A [`Request`] and the [`Settings`] are compiled into a [`Plan`]: a value that can be printed, and tested without a store.
//! 2. Every channel of every variant is searched by a thread of its own, over all sources at once; one that the store says is brief, by the
//!    thread of the search. The search waits for the others as the [deadline](mainstem_core::deadline) says, and goes on without those that
//!    are late, fail or panic.
//! 3. Each leg scores what the others found, so that no hit is judged by half of the evidence. What may come into the answer is read.
//! 4. The candidates go through the [pipeline](mainstem_core::pipeline); where a [reranker](crate::rerank) is to be asked, it reads the
//!    best of them before.
//! 5. The hits get what the store knows about them, and a [`Snippet`].
//!
//! An answer never hides a gap: the status names every leg that is missing, and the most it could have added.

mod alternatives;
mod assemble;
mod cache;
mod errand;
mod filter;
mod hands;
mod haul;
mod legs;
mod plan;
mod request;
mod rerank;
mod response;
mod snippet;
mod when;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use mainstem_core::contract::{Channel, Ctx, Embedder, SourceStats, Store, View};
use mainstem_core::time::Moment;
use mainstem_core::{Across, Failure, Replay, Search};

use cache::VectorCache;
use errand::Errand;
use hands::Hands;
use haul::Haul;
use legs::{Legs, Task};

use crate::rerank::Reranking;

pub use alternatives::Alternative;
pub use filter::passes;
pub use plan::{Known, Plan, PlannedLeg};
pub use request::{CANDIDATES, PAGE, Request, Settings};
pub use response::{Response, SearchHit, Timings, WhyNot};
pub use snippet::Snippet;
pub use when::moment_or_span;

/// A store, perhaps a model, and settings: what answers queries. Clones share the store, the model and the cache.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    embedder: Option<Arc<dyn Embedder>>,
    settings: Settings,
    reranking: Option<Reranking>,
    cache: Arc<VectorCache>,
    /// How many errands are running, late ones included.
    running: Arc<AtomicUsize>,
}

impl Engine {
    /// An engine over a store. Without a model, search runs on words alone and says so.
    pub fn new(store: Arc<dyn Store>, embedder: Option<Arc<dyn Embedder>>, settings: Settings) -> Self {
        Self { store, embedder, settings, reranking: None, cache: Arc::default(), running: Arc::default() }
    }

    /// How the engine answers unless a request says otherwise.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The model that embeds queries, if there is one.
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    /// The same engine with other settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// What the legs bring for a request, with its settings and its clock, before anything is ranked: one search that can be run
    /// again under other settings. Each source's lists are as long as if they were fused one by one, and each leg scores what others found.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn record(&self, request: &Request) -> Result<Replay, Failure> {
        let whole = |errand: &mut Errand| (errand.across, errand.calibrated) = (Across::Rank, true);
        let (legs, mut haul, now) = self.gather(request, Instant::now(), true, whole)?;
        let search = haul.unload(&legs, now).0;
        Ok(Replay { pipeline: legs.plan.pipeline.clone(), search: self.learned(search) })
    }

    /// Answers a request.
    ///
    /// # Errors
    /// When the store cannot be opened, or the request cannot be planned. A leg that fails is no error; the status names it.
    pub fn search(&self, request: &Request) -> Result<Response, Failure> {
        let started = Instant::now();
        let whole = request.alternatives || request.why_not.is_some();
        let (legs, mut haul, now) = self.gather(request, started, whole, |_| ())?;
        let homes = haul.outcomes().iter().filter_map(|outcome| Some((outcome.channel, outcome.at?)));
        let mut timings = Timings { plan: legs.planned, legs: homes.collect(), ..Timings::default() };
        let (search, mut chunks) = haul.unload(&legs, now.clone());
        let mut search = self.learned(search);
        let gathered = started.elapsed();
        self.rerank(&legs.plan, &mut search)?;
        let mut answer = legs.pipeline.run(&search).map_err(boxed)?;
        if let Some(looks_at) = legs.plan.pipeline.looks_at().filter(|_| haul.partly)
            && !haul::suffices(&answer, looks_at, &search, &chunks)
        {
            let mut whole = haul.whole(&legs).map_err(boxed)?;
            if whole.answered() {
                let unloaded = whole.unload(&legs, now);
                (search, chunks) = (self.learned(unloaded.0), unloaded.1);
                answer = legs.pipeline.run(&search).map_err(boxed)?;
            } else {
                haul::keep_read(&mut answer, &chunks, whole.reason());
            }
        }
        let ranked = started.elapsed();
        let plan = Arc::try_unwrap(legs).map_or_else(|legs| legs.plan.clone(), |legs| legs.plan);
        let (found, why_not) = (&search.candidates, request.why_not.as_ref());
        let mut response = Response::new(plan, answer, found, &chunks, why_not, started.elapsed());
        timings.retrieve = gathered.saturating_sub(timings.plan);
        timings.rank = ranked.saturating_sub(gathered);
        timings.present = started.elapsed().saturating_sub(ranked);
        response.timings = timings;
        if request.alternatives {
            let alternatives = alternatives::alternatives(&response.plan, &self.settings, search)?;
            response.alternatives = Some(alternatives);
        }
        Ok(response)
    }

    /// A search with the model of the settings.
    fn learned(&self, search: Search) -> Search {
        Search { learned: self.settings.learned.clone(), ..search }
    }

    /// Plans a request and brings home what its legs find, each errand after `change`.
    fn gather(
        &self,
        request: &Request,
        started: Instant,
        whole: bool,
        change: impl Fn(&mut Errand),
    ) -> Result<(Arc<Legs>, Haul, Moment), Failure> {
        let now = request.now.clone().unwrap_or_else(Moment::now);
        let view = self.store.view()?;
        let plan = self.plan_for(view.as_ref(), request)?;
        let pipeline = plan.pipeline.check().map_err(boxed)?;
        let mut tasks = self.tasks(&plan, &view, request, &now, started);
        for task in &mut tasks {
            change(&mut task.errand);
        }
        let hands = Hands { started, running: Arc::clone(&self.running) };
        let legs = Arc::new(Legs::new((plan, pipeline), tasks, whole, hands));
        let haul = legs.run().map_err(boxed)?;
        Ok((legs, haul, now))
    }

    /// What a search for this request would do.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn plan(&self, request: &Request) -> Result<Plan, Failure> {
        self.plan_for(self.store.view()?.as_ref(), request)
    }

    fn plan_for(&self, view: &dyn View, request: &Request) -> Result<Plan, Failure> {
        let mut sources = view.sources()?;
        let model = self.embedder.as_ref().map(|embedder| embedder.card());
        plan::count_readable(view, request, model, &mut sources);
        check_vector(view, request, &sources)?;
        let known = Known { sources: &sources, capabilities: self.store.capabilities(), model };
        let mut plan = Plan::new(request, &self.settings, &known)?;
        if let (Some(reranking), Some(spec)) = (&self.reranking, plan.pipeline.rerank) {
            let (name, limit) = (reranking.name(), reranking.timeout());
            plan.notes.push(format!("`{name}` reranks the first {}, within {limit:?}", spec.top));
        }
        Ok(plan)
    }

    /// One task for each channel and variant.
    fn tasks(
        &self,
        plan: &Plan,
        view: &Arc<dyn View>,
        request: &Request,
        now: &Moment,
        started: Instant,
    ) -> Vec<Task> {
        let ctx = Ctx { deadline: started.checked_add(plan.deadline.hard), now: now.clone() };
        let mut tasks = Vec::new();
        for (variant, text) in (0..).zip(&plan.variants) {
            // The vector that comes with a request is that of the query itself.
            let vector = request.vector.as_deref().filter(|_| variant == 0).map(Arc::from);
            for channel in plan.channels() {
                let errand = self.errand(plan, view, channel, text, &ctx);
                tasks.push(Task { channel, variant, errand: Errand { vector: vector.clone(), ..errand } });
            }
        }
        tasks
    }

    fn errand(&self, plan: &Plan, view: &Arc<dyn View>, channel: Channel, text: &str, ctx: &Ctx) -> Errand {
        let weights = plan.legs_of(channel).map(|leg| (leg.source.clone(), leg.effective_weight()));
        let mut filter = plan.filter.clone();
        let left_out = plan.legs.iter().any(|leg| leg.channel == channel && leg.effective_weight() == 0.0);
        if left_out {
            filter.sources = Some(plan.legs_of(channel).map(|leg| leg.source.clone()).collect());
        }
        Errand {
            view: Arc::clone(view),
            embedder: self.embedder.clone(),
            cache: Arc::clone(&self.cache),
            channel,
            text: text.to_owned(),
            vector: None,
            weights: weights.collect(),
            filter,
            candidates: plan.candidates,
            across: plan.pipeline.across,
            calibrated: plan.pipeline.across == Across::Calibrated,
            compared: plan.pipeline.dedup.is_some(),
            ctx: ctx.clone(),
        }
    }
}

/// Refuses a vector that cannot be compared with those that the caller may see. Who sees none does not learn how long they are.
fn check_vector(view: &dyn View, request: &Request, sources: &[SourceStats]) -> Result<(), Failure> {
    let dense = request.channels.as_ref().is_none_or(|chosen| chosen.contains(&Channel::Dense));
    let scope = request.filter.scope.as_ref();
    let mut seen = sources.iter().filter(|source| scope.is_none_or(|scope| scope.contains(&source.name)));
    let compared = dense && seen.any(|source| source.vectors > 0);
    let Some(vector) = request.vector.as_ref().filter(|_| compared) else { return Ok(()) };
    match view.dim() {
        Some(dim) if dim != vector.len() => Err(Box::new(crate::Error::input(
            format!(
                "the vector of the query has {} dimensions, expected {dim} as in the store",
                vector.len()
            ),
            "embed the query with the model that the store was filled with",
        ))),
        _ => Ok(()),
    }
}

fn boxed(error: mainstem_core::Error) -> Failure {
    Box::new(error)
}
