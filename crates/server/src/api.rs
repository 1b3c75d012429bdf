//! Routes together with their description.
//!
//! A route gets onto an [`Api`] with its handler and an [`Operation`]; `/openapi.json` is made from the same calls, so that it cannot name a
//! route that is not there, nor miss one that is.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::ErrorBody;

/// The statuses of errors that any operation may answer with.
const ANYWHERE: [u16; 9] = [400, 401, 403, 408, 413, 415, 500, 503, 504];

/// Everything that the server answers to.
pub struct Api {
    router: Router<Arc<App>>,
    paths: Map<String, Value>,
    schemas: SchemaGenerator,
}

/// What an operation does, takes and gives.
#[derive(Default)]
pub struct Operation {
    id: &'static str,
    summary: &'static str,
    tag: &'static str,
    parameters: Vec<Value>,
    body: Option<(Vec<&'static str>, Describe)>,
    answers: Vec<Answer>,
    path: Option<&'static str>,
    /// Whether a body may be left out.
    bare: bool,
    /// A body to begin with.
    sample: Option<Value>,
}

/// One kind of answer.
struct Answer {
    status: u16,
    kind: &'static str,
    meaning: &'static str,
    schema: Describe,
    /// The same in another type.
    other: Option<(&'static str, Describe)>,
    /// What it may look like.
    sample: Option<Value>,
}

/// Makes the schema of a type.
type Describe = fn(&mut SchemaGenerator) -> Schema;

impl Operation {
    /// An operation with a name that clients call it by, and one sentence.
    pub fn new(tag: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self { id, summary, tag, ..Self::default() }
    }

    /// The path as it is described, where the one that is matched says less.
    #[must_use]
    pub fn at(mut self, path: &'static str) -> Self {
        self.path = Some(path);
        self
    }

    /// A part of the path.
    #[must_use]
    pub fn in_path(self, name: &'static str, meaning: &'static str) -> Self {
        let schema = json!({ "type": "string", "minLength": 1 });
        self.parameter(
            json!({ "name": name, "in": "path", "required": true, "description": meaning, "schema": schema }),
        )
    }

    /// Something behind the `?`.
    #[must_use]
    pub fn in_query(self, name: &'static str, meaning: &'static str, schema: Value) -> Self {
        self.parameter(json!({ "name": name, "in": "query", "description": meaning, "schema": schema }))
    }

    fn parameter(mut self, parameter: Value) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// A body of JSON.
    #[must_use]
    pub fn takes<T: JsonSchema>(self) -> Self {
        self.takes_as::<T>(&["application/json"])
    }

    /// A body of one of these types.
    #[must_use]
    pub fn takes_as<T: JsonSchema>(mut self, types: &[&'static str]) -> Self {
        self.body = Some((types.to_vec(), SchemaGenerator::subschema_for::<T>));
        self
    }

    /// A body to begin with.
    #[must_use]
    pub fn such_as(mut self, sample: Value) -> Self {
        self.sample = Some(sample);
        self
    }

    /// What the last answer may look like.
    #[must_use]
    pub fn showing(mut self, sample: Value) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.sample = Some(sample);
        }
        self
    }

    /// The body may be left out.
    #[must_use]
    pub fn or_nothing(mut self) -> Self {
        self.bare = true;
        self
    }

    /// What it gives when all is well.
    #[must_use]
    pub fn gives<T: JsonSchema>(self, meaning: &'static str) -> Self {
        self.gives_as::<T>(200, "application/json", meaning)
    }

    /// What it gives with a status, as some type.
    #[must_use]
    pub fn gives_as<T: JsonSchema>(mut self, status: u16, kind: &'static str, meaning: &'static str) -> Self {
        self.answers.push(Answer {
            status,
            kind,
            meaning,
            schema: SchemaGenerator::subschema_for::<T>,
            other: None,
            sample: None,
        });
        self
    }

    /// What the same status also gives, as another type.
    #[must_use]
    pub fn or_gives<T: JsonSchema>(mut self, kind: &'static str) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.other = Some((kind, SchemaGenerator::subschema_for::<T>));
        }
        self
    }

    /// An error that is its own.
    #[must_use]
    pub fn refuses(self, status: u16, meaning: &'static str) -> Self {
        self.gives_as::<ErrorBody>(status, "application/json", meaning)
    }

    fn write(self, schemas: &mut SchemaGenerator) -> Value {
        let mut answers = Map::new();
        for Answer { status, kind, meaning, schema, other, sample } in self.answers {
            let mut content = json!({ kind: { "schema": schema(schemas) } });
            if let Some(sample) = sample {
                content[kind]["example"] = sample;
            }
            if let Some((kind, schema)) = other {
                content[kind] = json!({ "schema": schema(schemas) });
            }
            answers.insert(status.to_string(), json!({ "description": meaning, "content": content }));
        }
        let error = schemas.subschema_for::<ErrorBody>();
        for status in ANYWHERE.map(|status| status.to_string()) {
            let meaning =
                if status.starts_with('4') { "The request is refused" } else { "No answer this time" };
            let refused =
                json!({ "description": meaning, "content": { "application/json": { "schema": error } } });
            answers.entry(status).or_insert(refused);
        }
        let mut written = json!({ "operationId": self.id, "summary": self.summary, "tags": [self.tag], "responses": answers });
        if !self.parameters.is_empty() {
            written["parameters"] = Value::Array(self.parameters);
        }
        if let Some((types, schema)) = self.body {
            let schema = schema(schemas);
            let mut described = json!({ "schema": schema });
            if let Some(sample) = self.sample {
                described["example"] = sample;
            }
            let content: Map<String, Value> =
                types.into_iter().map(|kind| (kind.to_owned(), described.clone())).collect();
            written["requestBody"] = json!({ "required": !self.bare, "content": content });
        }
        written
    }
}

/// The two ways in which a request may bring its key.
fn security_schemes() -> Value {
    let meaning = "A key, as `mainstem key create` shows it once";
    json!({
        "bearer": { "type": "http", "scheme": "bearer", "description": meaning },
        "api_key": { "type": "apiKey", "in": "header", "name": "x-api-key", "description": meaning },
    })
}

impl Default for Api {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self { router: Router::new(), paths: Map::new(), schemas: settings.into_generator() }
    }
}

impl Api {
    /// Adds a route.
    #[must_use]
    pub fn route<H, T>(
        mut self,
        method: &Method,
        path: &'static str,
        handler: H,
        operation: Operation,
    ) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        // All methods that the server uses have a filter.
        if let Ok(filter) = MethodFilter::try_from(method.clone()) {
            self.router = self.router.route(path, on(filter, handler));
            self.describe(method, path, operation);
        }
        self
    }

    /// Describes an operation whose route is there already.
    #[must_use]
    pub fn also(mut self, method: &Method, path: &'static str, operation: Operation) -> Self {
        self.describe(method, path, operation);
        self
    }

    fn describe(&mut self, method: &Method, path: &str, operation: Operation) {
        let path = operation.path.unwrap_or(path).to_owned();
        let written = operation.write(&mut self.schemas);
        let operations = self.paths.entry(path).or_insert_with(|| json!({}));
        operations[method.as_str().to_lowercase()] = written;
    }

    /// Adds what needs no description: pages, assets, protocols with their own.
    #[must_use]
    pub fn merge(mut self, router: Router<Arc<App>>) -> Self {
        self.router = self.router.merge(router);
        self
    }

    /// The routes, and the description of all of them.
    pub fn finish(mut self) -> (Router<Arc<App>>, Value) {
        let schemas: Map<String, Value> = self.schemas.take_definitions(true);
        let description = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Mainstem",
                "description": "One query, many sources, one explained ranked answer.",
                "version": env!("CARGO_PKG_VERSION"),
                "license": { "name": "MIT OR Apache-2.0" },
            },
            "paths": self.paths,
            "components": { "schemas": schemas, "securitySchemes": security_schemes() },
            // Without keys none is needed.
            "security": [{ "bearer": [] }, { "api_key": [] }, {}],
        });
        (self.router, description)
    }
}
