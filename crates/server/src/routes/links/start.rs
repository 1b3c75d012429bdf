//! `POST /v1/links/runs`.
//!
//! A run has threads of its own and takes no place of a search. A caller that waits for it and leaves stops it; so does a server that stops.
//! Nothing of a run that was stopped is kept.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use mainstem::link::{Linker, free_name};
use mainstem::linked::Links;
use mainstem_core::Code;
use mainstem_core::contract::Filter;
use mainstem_core::link::{Edge, EdgeStore as _, Edges as _, Judge, Link, LinkRun, LinkSettings, Recorded};
use mainstem_core::linked::{RunEnd, RunOutcome};

use super::super::shapes::json as answer;
use super::shapes::StartRun;
use super::under_way::UnderWay;
use super::{seen, shown};
use crate::access::{Access, Scope};
use crate::app::App;
use crate::body::Json;
use crate::error::ApiError;

pub(super) async fn start(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Json(asked): Json<StartRun>,
) -> Result<Response, ApiError> {
    scope.must_write()?;
    let mut known = app.work(None, |app| Ok(app.store.sources()?)).await?;
    known.retain(|source| scope.sees(&source.name));
    let has_vectors = known.iter().any(|source| source.vectors > 0);
    let known: Vec<String> = known.into_iter().map(|source| source.name).collect();
    let settings = asked.settings(&app.link, &known)?;
    // Whether sources that the caller does not see have vectors is not told by this, either.
    if settings.judge == Some(Judge::Cosine) && !has_vectors {
        let hint = "ingest with a model, or let `words` judge";
        return Err(ApiError::new(
            Code::Missing,
            "the judge `cosine` needs vectors, and there are none",
            hint,
        ));
    }
    if settings.judge == Some(Judge::MaxSim) && app.work(None, App::token_states).await?.is_none() {
        let hint = "let the operator run `mainstem model pull`, or let `cosine` or `words` judge";
        let message = "the judge `maxsim` needs the model `all-MiniLM-L6-v2`, which is not here";
        return Err(ApiError::new(Code::Missing, message, hint));
    }
    let k = asked.checked_k(app.config.most_hits)?;
    let sources = settings.sources.clone().unwrap_or(known);
    let (filter, reader) = (seen(&scope)?, scope.reader.clone());
    let name = app.work(None, |app| Ok(free_name(&app.store)?)).await?;
    let run = app.link_runs.begin(UnderWay::new(name, sources, reader, asked.dry_run))?;
    let job = Job { place: Place::new(&app, run), settings, filter, scope, k };
    let run = Arc::clone(&job.place.run);
    let counted = job.scope.reader.is_none();
    let task = tokio::task::spawn_blocking(move || job.perform());
    if !asked.wait {
        return Ok(with(StatusCode::ACCEPTED, answer(&run.shown(counted))?));
    }
    let _leaving = StopOnLeaving(run);
    let outcome = task.await.map_err(|_| ApiError::internal())??;
    let status = if outcome.dry_run { StatusCode::OK } else { StatusCode::CREATED };
    Ok(with(status, answer(&outcome)?))
}

fn with(status: StatusCode, mut response: Response) -> Response {
    *response.status_mut() = status;
    response
}

/// Half of the processors: searches have the other half to themselves.
fn threads() -> usize {
    let all = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (all / 2).max(1)
}

/// Stops a run when the caller that waits for it leaves. One that has ended does not mind.
struct StopOnLeaving(Arc<UnderWay>);

impl Drop for StopOnLeaving {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The place of the one run. However the run ends, the place is free again, and how it ended is told.
struct Place {
    app: Arc<App>,
    run: Arc<UnderWay>,
    started: Instant,
    state: RunEnd,
    error: Option<String>,
    changes: Option<Recorded>,
    links: u64,
}

impl Place {
    fn new(app: &Arc<App>, run: Arc<UnderWay>) -> Self {
        app.metrics.linking(true);
        tracing::info!(run = run.id, sources = run.sources.len(), dry_run = run.dry_run, "link run started");
        // What a panic leaves behind.
        let error = Some(ApiError::internal().message);
        let (app, started) = (Arc::clone(app), Instant::now());
        Self { app, run, started, state: RunEnd::Failed, error, changes: None, links: 0 }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let state = match self.state {
            RunEnd::Done => "done",
            RunEnd::Failed => "failed",
            RunEnd::Stopped => "stopped",
        };
        let took = self.started.elapsed();
        self.app.metrics.linking(false);
        self.app.metrics.linked(state, took, self.links);
        let (ms, links, error) = (took.as_secs_f64() * 1000.0, self.links, self.error.as_deref());
        tracing::info!(run = self.run.id, state, links, ms, error, "link run ended");
        self.app.link_runs.end(&self.run, self.state, self.error.take(), self.changes.take());
    }
}

/// A run, ready to be done.
struct Job {
    place: Place,
    settings: LinkSettings,
    filter: Filter,
    scope: Scope,
    k: usize,
}

impl Job {
    fn perform(mut self) -> Result<RunOutcome, ApiError> {
        let result = self.look();
        let place = &mut self.place;
        (place.state, place.error) = match &result {
            Ok(Some(_)) => (RunEnd::Done, None),
            Ok(None) => (RunEnd::Stopped, None),
            Err(error) => (RunEnd::Failed, Some(error.message.clone())),
        };
        result?.ok_or_else(|| ApiError::crowded("the server is stopping, and nothing of the run is kept"))
    }

    /// Nothing where it was stopped.
    fn look(&mut self) -> Result<Option<RunOutcome>, ApiError> {
        let (app, run) = (Arc::clone(&self.place.app), Arc::clone(&self.place.run));
        let go_on = |done: u64, of: u64| run.come(done, of) && !app.is_stopping();
        let (states, settings) = (app.token_states()?, &self.settings);
        let linker = Linker { store: &app.store, states, settings, filter: &self.filter };
        let found = linker.find_on(threads(), &run.started_at, &go_on)?;
        let Some((mut found, edges)) = found else { return Ok(None) };
        if run.is_stopped() || app.is_stopping() {
            return Ok(None);
        }
        found.id.clone_from(&run.id);
        let changes = if run.dry_run {
            app.store.changes(&found, &edges)?
        } else {
            self.place.links = edges.len() as u64;
            app.store.record(&found, &edges)?
        };
        self.place.changes = Some(changes);
        // The run is kept by now: that its links cannot be shown is not its failure.
        let links = self.best(&app, &found, edges).unwrap_or_default();
        // It tells of other runs, too.
        let changes = self.scope.sees_all().then_some(changes);
        Ok(Some(RunOutcome { run: shown(found, &self.scope), changes, dry_run: run.dry_run, links }))
    }

    fn best(
        &self,
        app: &App,
        run: &LinkRun,
        mut edges: Vec<Edge>,
    ) -> Result<Vec<mainstem_core::linked::ShownLink>, ApiError> {
        let mut links = Links::new(&app.store, &self.filter)?;
        edges.sort_by(|x, y| y.score.total_cmp(&x.score).then_with(|| (&x.a, &x.b).cmp(&(&y.a, &y.b))));
        let link =
            |edge: Edge| Link { edge, run: run.id.clone(), made_at: run.made_at.clone(), stale: false };
        let best: Vec<Link> = edges.into_iter().take(self.k).map(link).collect();
        Ok(links.shown(best.iter())?)
    }
}
