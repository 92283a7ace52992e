//! A small server on the crate rmcp, over stdio: one tool for each thing that a recording is to show.

#![expect(deprecated, reason = "sessions of before 2026-07-28 have sampling, and they are recorded too")]

use std::time::Duration;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CreateMessageRequestParams, ProgressNotificationParam, RequestMetaObject, SamplingMessage,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, Json, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Steps {
    steps: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Prompt {
    prompt: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Reason {
    reason: String,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Big {
    above_the_safe_range: u64,
    the_last_of_64_bits: u64,
    half: f64,
    tiny: f64,
}

struct Server;

#[tool_router]
impl Server {
    #[tool(description = "Adds two integers.")]
    async fn add(&self, Parameters(Sum { a, b }): Parameters<Sum>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Gives numbers that a reader easily changes.")]
    async fn big(&self) -> Json<Big> {
        Json(Big {
            above_the_safe_range: (1 << 53) + 1,
            the_last_of_64_bits: u64::MAX,
            half: 1.0,
            tiny: 5e-324,
        })
    }

    #[tool(description = "Counts slowly, tells how far it is, and stops when it is told to.")]
    async fn count(
        &self,
        Parameters(Steps { steps }): Parameters<Steps>,
        meta: RequestMetaObject,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        for step in 1..=steps {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(120)) => {}
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            }
            if let Some(token) = meta.get_progress_token() {
                let progress =
                    ProgressNotificationParam::new(token, f64::from(step)).with_total(f64::from(steps));
                let _ = context.peer.notify_progress(progress).await;
            }
        }
        Ok(format!("counted to {steps}"))
    }

    #[tool(description = "Lets the client's model say something.")]
    async fn sample(
        &self,
        Parameters(Prompt { prompt }): Parameters<Prompt>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let asked = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 20);
        match context.peer.create_message(asked).await {
            Ok(said) => Ok(format!("{} said it", said.model)),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }

    #[tool(description = "Fails, always.")]
    async fn fail(&self, Parameters(Reason { reason }): Parameters<Reason>) -> Result<String, String> {
        Err(reason)
    }
}

#[tool_handler(name = "recorded-rmcp-server", version = "1.0.0")]
impl ServerHandler for Server {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let served = Server.serve(rmcp::transport::stdio()).await?;
    served.waiting().await?;
    Ok(())
}
