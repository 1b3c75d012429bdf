//! # The engine behind HTTP
//!
//! [`App`] is what every request sees: the store, the engine, the limits and the metrics. [`routes`] has one file for each resource; each
//! puts its routes on an [`Api`](api::Api) together with their description, from which `/openapi.json` is made. [`layers`] is what happens to
//! every request, [`access`] who may do what, [`mcp`] the same engine as tools of an agent, [`run`] the life of the server from its first connection to its last.
//!
//! A search never runs on the threads that speak HTTP, and nothing waits in a queue: what is over the limit is refused at once.
#![forbid(unsafe_code)]

pub mod access;
pub mod api;
pub mod app;
pub mod body;
pub mod config;
pub mod error;
pub mod layers;
pub mod logs;
pub mod mcp;
pub mod metrics;
mod patience;
pub mod routes;
pub mod run;

pub use app::{App, Setup};
pub use config::ServerConfig;
pub use error::ApiError;
