//! `mainstem demo --open`: the samples behind the web page.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use mainstem::query::Settings;
use mainstem::store::EmbeddedStore;
use mainstem_core::link::LinkSettings;
use mainstem_server::{ServerConfig, Setup, run as server};
use serde_json::{Map, json};

use super::vectors::Sampled;
use super::{Demo, samples, tour};
use crate::failure::Failure;
use crate::{output, reports};

/// Where the page is, unless another program listens there.
const PORT: u16 = 7700;

/// Serves the page until it is stopped.
pub(super) fn serve(
    store: &Arc<EmbeddedStore>,
    demo: &Demo,
    meaning: Option<&Sampled>,
) -> Result<ExitCode, Failure> {
    keep(store.dir(), demo);
    let config = ServerConfig { address: free_address(), log_level: quiet(), ..ServerConfig::default() };
    let (settings, pipeline) = (Settings::default(), Map::new());
    let setup = Setup {
        store: Arc::clone(store),
        settings,
        pipeline,
        reranking: None,
        config,
        keys: false,
        asker: None,
        link: LinkSettings::default(),
    };
    let questions = meaning.map(known_questions).transpose()?;
    let mut told = Ok(());
    let ready = |address: SocketAddr| {
        let url = format!("http://{address}/?now={}", day(tour::NOW));
        told = output::write(None, &format!("{url}\n"));
        output::note("the page is at this address until you press Ctrl-C");
        browse(&url);
    };
    let know = |app: &mainstem_server::App| app.know(questions.into_iter().flatten());
    server::run_with(setup, know, ready).map_err(|error| Box::new(error) as Failure)?;
    told?;
    Ok(ExitCode::SUCCESS)
}

/// What the page shows besides the documents: questions to begin with, and what was measured.
fn keep(store: &Path, demo: &Demo) {
    let stops = tour::STOPS.iter().filter(|stop| demo.meaning || !stop.meaning);
    let queries: Vec<_> = stops.map(|stop| json!({ "query": stop.query, "about": stop.recipe })).collect();
    reports::keep(store, "examples", &json!({ "queries": queries, "now": day(tour::NOW) }));
    reports::keep(store, "demo", &demo.evaluation);
}

/// The judged questions with their vectors: a search by meaning knows these even where no model is.
fn known_questions(sampled: &Sampled) -> Result<Vec<(String, Vec<f32>)>, Failure> {
    let mut known = Vec::new();
    for recipe in &samples::RECIPES {
        for query in recipe.queries()? {
            known.extend(sampled.vector(&query.text).map(|vector| (query.text.clone(), vector)));
        }
    }
    Ok(known)
}

fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

/// Whoever watches a demo does not read a log.
fn quiet() -> mainstem_server::config::LogLevel {
    mainstem_server::config::LogLevel::Error
}

fn free_address() -> SocketAddr {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    if TcpListener::bind(usual).is_ok() { usual } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
}

/// Opens the browser, where there is one. Where there is none the address on the screen is enough.
fn browse(url: &str) {
    let programs: &[(&str, &[&str])] = if cfg!(target_os = "macos") {
        &[("open", &[])]
    } else if cfg!(windows) {
        &[("rundll32", &["url.dll,FileProtocolHandler"])]
    } else {
        &[("xdg-open", &[]), ("wslview", &[])]
    };
    let started = programs.iter().any(|(program, args)| {
        let mut command = Command::new(program);
        command.args(*args).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    });
    if !started {
        output::note("no browser was found here: open the address yourself");
    }
}
