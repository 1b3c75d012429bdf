//! The life of a server: bind, answer, stop when asked, and lose nothing.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use mainstem_core::Code;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::access::check_bind;
use crate::app::{App, Setup, places};
use crate::error::ApiError;
use crate::patience::{Manners, Patient};
use crate::{layers, logs, routes};

/// Threads for work besides searches and writes: looking at documents and sources.
const SPARE_THREADS: usize = 16;

/// Runs a server until SIGTERM or SIGINT; `ready` is told the address when it listens.
///
/// # Errors
/// When the address is not allowed or taken, or the store cannot be read.
pub fn run(setup: Setup, ready: impl FnOnce(SocketAddr)) -> Result<(), ApiError> {
    run_with(setup, |_| (), ready)
}

/// As [`run`], with something done to what requests see before the first of them.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    setup: Setup,
    prepare: impl FnOnce(&App),
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ApiError> {
    logs::start(&setup.config);
    let server = Bound::new(setup)?;
    prepare(&server.app);
    ready(server.address);
    server.serve(signals());
    Ok(())
}

/// A server on a thread of its own, for tests and for programs that do more than serve.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// What its requests see.
    pub app: Arc<App>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a server and lets the caller go on.
///
/// # Errors
/// As [`run`].
pub fn start(setup: Setup) -> Result<Running, ApiError> {
    let server = Bound::new(setup)?;
    let (address, app) = (server.address, Arc::clone(&server.app));
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::spawn(move || server.serve(async { drop(stopped.await) }));
    Ok(Running { address, app, stop: Some(stop), thread: Some(thread) })
}

impl Running {
    /// Stops it as SIGTERM would, and waits until it has.
    ///
    /// # Errors
    /// When it panicked.
    pub fn stop(mut self) -> Result<(), ApiError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), ApiError> {
        drop(self.stop.take());
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().map_err(|_| ApiError::internal())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// A server that has its address.
struct Bound {
    address: SocketAddr,
    listener: TcpListener,
    app: Arc<App>,
    runtime: Runtime,
}

impl Bound {
    fn new(setup: Setup) -> Result<Self, ApiError> {
        let wanted = setup.config.address;
        check_bind(wanted, setup.has_keys()?)?;
        let runtime = runtime(&setup.config).map_err(|error| cannot("start threads", &error))?;
        let listener = runtime
            .block_on(TcpListener::bind(wanted))
            .map_err(|error| cannot(&format!("listen on `{wanted}`"), &error))?;
        let address = listener.local_addr().map_err(|error| cannot("listen", &error))?;
        let app = App::new(setup)?;
        Ok(Self { address, listener, app, runtime })
    }

    fn serve(self, stop: impl Future<Output = ()>) {
        let Self { listener, app, runtime, .. } = self;
        let router = layers::around(routes::router(), &app);
        let grace = app.config.shutdown_grace.0;
        runtime.block_on(accept(listener, &app, router, stop));
        // A write that is under way is finished; the store is closed, and its indexes are on disk, when the last of it is dropped.
        runtime.shutdown_timeout(grace);
        tracing::info!("stopped");
        drop(app);
    }
}

fn runtime(config: &crate::config::ServerConfig) -> io::Result<Runtime> {
    let threads =
        [config.searches, config.writes, config.asks].into_iter().fold(SPARE_THREADS, usize::saturating_add);
    tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(threads).build()
}

fn cannot(what: &str, error: &io::Error) -> ApiError {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "another program listens there; choose another port with `--address`",
        _ => "check the address with `mainstem config show`",
    };
    ApiError::new(Code::Io, format!("cannot {what}: {error}"), hint)
}

/// Takes connections until it is time to stop, then lets those that are busy finish.
async fn accept(listener: TcpListener, app: &Arc<App>, router: Router, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(places(app.config.connections));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, mostly: some will be free soon.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => converse(stream, app, &router, &graceful, place),
            Err(_) => refuse(stream, app),
        }
    }
    app.stop();
    drop(listener);
    tracing::info!("stopping: running requests finish, new ones are refused");
    if tokio::time::timeout(app.config.shutdown_grace.0, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

fn converse(
    stream: TcpStream,
    app: &Arc<App>,
    router: &Router,
    graceful: &GracefulShutdown,
    place: OwnedSemaphorePermit,
) {
    let _ = stream.set_nodelay(true);
    let (inner, manners) = (TowerToHyperService::new(router.clone()), Arc::<Manners>::default());
    let stream = Patient::new(stream, app.config.write_timeout.0, Arc::clone(&manners));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&manners));
        inner.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(app.config.header_timeout.0)
        .serve_connection(TokioIo::new(stream), service);
    let watched = graceful.watch(connection);
    tokio::spawn(async move {
        // A connection that breaks off is the client's affair.
        let _ = watched.await;
        drop(place);
    });
}

fn refuse(mut stream: TcpStream, app: &Arc<App>) {
    app.metrics.refused("connections");
    tokio::spawn(async move {
        let _ = stream.write_all(full().as_bytes()).await;
        let _ = stream.shutdown().await;
    });
}

/// What a connection over the limit is told, without reading what it wants.
fn full() -> String {
    let error = ApiError::crowded("the server has as many connections as it takes on");
    let body = serde_json::to_string(&error.body()).unwrap_or_default();
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Waits for SIGTERM or SIGINT.
async fn signals() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
