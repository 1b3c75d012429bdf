//! What is counted and timed, for Prometheus.

use std::time::Duration;

use mainstem::query::Response;
use mainstem_core::LegState;
use mainstem_core::contract::Channel;
use mainstem_core::status::StageState;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Limits of the buckets, in seconds: from a search in memory to a slow service.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0];

/// The same for runs that look at every document: from a few of them to an hour.
const RUN_BUCKETS: [f64; 11] = [0.01, 0.05, 0.2, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0];

type Label = [(&'static str, &'static str); 1];
type Times<L> = Family<L, Histogram, fn() -> Histogram>;
type RequestLabels = [(&'static str, String); 3];

/// What is counted and timed.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Times<[(&'static str, String); 1]>,
    search_seconds: Histogram,
    stage_seconds: Times<Label>,
    leg_seconds: Times<Label>,
    partial: Counter,
    fallbacks: Family<Label, Counter>,
    leg_failures: Family<[(&'static str, &'static str); 2], Counter>,
    refused: Family<Label, Counter>,
    searches_running: Gauge,
    writes_running: Gauge,
    documents: Counter,
    lines_refused: Counter,
    link_runs: Family<Label, Counter>,
    link_run_seconds: Histogram,
    link_runs_running: Gauge,
    links_found: Counter,
    links_undone: Counter,
}

fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

fn times<L: Clone + std::hash::Hash + Eq>() -> Times<L> {
    Family::new_with_constructor(histogram)
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("mainstem"),
            requests: Family::default(),
            request_seconds: times(),
            search_seconds: histogram(),
            stage_seconds: times(),
            leg_seconds: times(),
            partial: Counter::default(),
            fallbacks: Family::default(),
            leg_failures: Family::default(),
            refused: Family::default(),
            searches_running: Gauge::default(),
            writes_running: Gauge::default(),
            documents: Counter::default(),
            lines_refused: Counter::default(),
            link_runs: Family::default(),
            link_run_seconds: Histogram::new(RUN_BUCKETS),
            link_runs_running: Gauge::default(),
            links_found: Counter::default(),
            links_undone: Counter::default(),
        };
        metrics.register();
        metrics.register_links();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("http_requests", "Requests, by route, method and status", self.requests.clone());
        registry.register(
            "http_request_seconds",
            "Time to the head of the answer, by route",
            self.request_seconds.clone(),
        );
        registry.register("search_seconds", "Time that searches took", self.search_seconds.clone());
        registry.register(
            "search_stage_seconds",
            "Time of each part of a search",
            self.stage_seconds.clone(),
        );
        registry.register("search_leg_seconds", "Time until each channel was home", self.leg_seconds.clone());
        registry.register(
            "searches_partial",
            "Searches in which some leg did not answer",
            self.partial.clone(),
        );
        registry.register(
            "search_fallbacks",
            "Stages that could not run, so that the order before them stayed",
            self.fallbacks.clone(),
        );
        registry.register(
            "search_leg_failures",
            "Channels that failed or were late",
            self.leg_failures.clone(),
        );
        registry.register(
            "refused",
            "Requests that were refused at once, by what was full",
            self.refused.clone(),
        );
        registry.register("searches_running", "Searches that run", self.searches_running.clone());
        registry.register("writes_running", "Writing requests that run", self.writes_running.clone());
        registry.register("documents_written", "Documents that were taken in", self.documents.clone());
        registry.register(
            "lines_refused",
            "Lines of bulk ingests that were refused",
            self.lines_refused.clone(),
        );
    }

    fn register_links(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "link_runs",
            "Runs that looked for links, by how they ended",
            self.link_runs.clone(),
        );
        registry.register("link_run_seconds", "Time that such runs took", self.link_run_seconds.clone());
        registry.register("link_runs_running", "Whether one is under way", self.link_runs_running.clone());
        registry.register("links_found", "Links that runs found and kept", self.links_found.clone());
        registry.register("link_runs_undone", "Runs that were undone", self.links_undone.clone());
    }

    /// A run that looked for links began, or ended.
    pub fn linking(&self, running: bool) {
        self.link_runs_running.set(i64::from(running));
    }

    /// A run that looked for links ended in this way, with so many links that are kept.
    pub fn linked(&self, state: &'static str, took: Duration, links: u64) {
        self.link_runs.get_or_create(&[("state", state)]).inc();
        self.link_run_seconds.observe(took.as_secs_f64());
        self.links_found.inc_by(links);
    }

    /// A run was undone.
    pub fn links_undone(&self) {
        self.links_undone.inc();
    }

    /// Something was refused at once.
    pub fn refused(&self, what: &'static str) {
        self.refused.get_or_create(&[("limit", what)]).inc();
    }

    /// A request was answered.
    pub fn answered(&self, route: &str, method: &str, status: u16, took: Duration) {
        let labels =
            [("route", route.to_owned()), ("method", method.to_owned()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.get_or_create(&[("route", route.to_owned())]).observe(took.as_secs_f64());
    }

    /// A search was answered.
    pub fn searched(&self, response: &Response) {
        let timings = &response.timings;
        self.search_seconds.observe(response.took.as_secs_f64());
        let stages = [
            ("plan", timings.plan),
            ("retrieve", timings.retrieve),
            ("rank", timings.rank),
            ("present", timings.present),
        ];
        for (stage, took) in stages {
            self.stage_seconds.get_or_create(&[("stage", stage)]).observe(took.as_secs_f64());
        }
        for (channel, took) in &timings.legs {
            self.leg_seconds.get_or_create(&[("channel", channel.as_str())]).observe(took.as_secs_f64());
        }
        if response.status.partial {
            self.partial.inc();
        }
        for stage in response.status.stages.iter().filter(|stage| stage.state == StageState::Failed) {
            self.fallbacks.get_or_create(&[("stage", stage.stage)]).inc();
        }
        self.count_leg_failures(response);
    }

    /// A channel counts once, however many sources it searches.
    fn count_leg_failures(&self, response: &Response) {
        for channel in [Channel::Dense, Channel::Lexical].map(Channel::as_str) {
            for (state, name) in [(LegState::Failed, "failed"), (LegState::TimedOut, "timed_out")] {
                let of_channel = |leg: &str| leg.rsplit('/').next() == Some(channel);
                if response.status.legs.iter().any(|leg| leg.state == state && of_channel(&leg.name)) {
                    self.leg_failures.get_or_create(&[("channel", channel), ("state", name)]).inc();
                }
            }
        }
    }

    /// Lines of a bulk ingest were taken in or refused.
    pub fn ingested(&self, stored: usize, refused: usize) {
        self.documents.inc_by(stored as u64);
        self.lines_refused.inc_by(refused as u64);
    }

    /// Everything as text, with how many searches and writes run.
    pub fn render(&self, (searches, writes): (usize, usize)) -> String {
        self.searches_running.set(i64::try_from(searches).unwrap_or(i64::MAX));
        self.writes_running.set(i64::try_from(writes).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing into a text does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
