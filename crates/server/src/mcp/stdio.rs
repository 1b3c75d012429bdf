//! The tools over standard input and output.

use std::sync::Arc;

use mainstem_core::Code;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio_pipes;

use super::{Door, Tools};
use crate::ApiError;

/// Answers until the input ends.
///
/// # Errors
/// When whoever is at the other end does not speak the protocol.
pub async fn serve(door: Arc<dyn Door>) -> Result<(), ApiError> {
    let running = match Tools::new(door).serve(stdio_pipes()).await {
        Ok(running) => running,
        // Nobody has said anything.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            let hint = "this command is for clients of the Model Context Protocol; see docs/mcp.md";
            return Err(ApiError::new(
                Code::Syntax,
                format!("the client did not begin as expected: {error}"),
                hint,
            ));
        }
    };
    running.waiting().await.map(drop).map_err(|error| {
        tracing::error!(%error, "the tools panicked");
        ApiError::internal()
    })
}
