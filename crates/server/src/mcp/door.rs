//! Where a tool's questions go.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Extensions, HeaderValue, header};
use http_body_util::BodyExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use mainstem_client::Error;
use serde_json::Value;

use super::internal;
use crate::ApiError;
use crate::app::App;

/// A question to the HTTP API.
#[derive(Clone, Debug)]
pub struct Question {
    /// The method.
    pub method: &'static str,
    /// The path, with what stands behind the `?`.
    pub path: String,
    /// The body, where the method has one.
    pub body: Option<Value>,
}

/// What is on its way: the answer, or why there is none.
pub type Answer = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send>>;

/// A way to the HTTP API.
pub trait Door: Send + Sync + 'static {
    /// Asks. `caller` is what the request that the tool was called with knows about who is calling; a door to a server elsewhere has a key
    /// of its own. It MUST NOT block the thread.
    fn ask(&self, question: Question, caller: Extensions) -> Answer;
}

/// The routes of this process.
#[derive(Clone)]
pub struct Here {
    router: Router,
    key: Option<HeaderValue>,
}

impl Here {
    /// The bare routes, for callers that have passed the layers around them already.
    pub fn inside(routes: Router<Arc<App>>, app: &Arc<App>) -> Self {
        Self { router: routes.with_state(Arc::clone(app)), key: None }
    }

    /// The routes with everything around them, for a process without a network. Requests show this key.
    ///
    /// # Errors
    /// When the key has characters that no header takes.
    pub fn outside(app: &Arc<App>, key: Option<&str>) -> Result<Self, ApiError> {
        let router = crate::layers::around(crate::routes::router(), app);
        let header = |key: &str| {
            HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
                let message = "the key has characters that no key has, expected letters and digits";
                ApiError::value(message, "check the key")
            })
        };
        Ok(Self { router, key: key.map(header).transpose()? })
    }

    fn request(&self, question: &Question, caller: Extensions) -> Result<Request, Error> {
        let mut request = Request::builder()
            .method(question.method)
            .uri(&question.path)
            .header(header::HOST, "localhost")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key);
        }
        let body = question.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut request = request.body(Body::from(body)).map_err(|_| internal())?;
        *request.extensions_mut() = caller;
        Ok(request)
    }
}

impl Door for Here {
    fn ask(&self, question: Question, caller: Extensions) -> Answer {
        let request = self.request(&question, caller);
        let service = TowerToHyperService::new(self.router.clone());
        Box::pin(async move {
            let response = service.call(request?).await.map_err(|_| internal())?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|_| internal())?.to_bytes();
            if !status.is_success() {
                return Err(Error::refused(status.as_u16(), &body));
            }
            serde_json::from_slice(&body).map_err(|_| internal())
        })
    }
}
