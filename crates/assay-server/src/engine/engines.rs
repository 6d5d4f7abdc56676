//! The engines of a server, put together once, and which model each of them is.

use super::acp::AcpEngine;
use super::lending::Lends;
use super::model::ModelEngine;
use super::options::{EngineError, EngineOptions};
use super::play::ScriptedEngine;
use super::room::Sandboxes;
use super::{Engine, SCRIPTED};
use crate::api::only_asks;
use crate::error::ApiError;
use crate::net::{Client, Guard, GuardError, Names, Reach};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// A model that agents may have.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What agents call it.
    pub id: String,
    /// What people call it.
    pub display_name: String,
    /// How long an answer may be.
    pub max_tokens: Option<u64>,
    /// How long a request may be.
    pub context_tokens: Option<u64>,
    /// Whether it brings its own tools, and the network of the machine with them.
    pub brings_tools: bool,
    engine: Arc<dyn Engine>,
}

/// What answers.
#[derive(Debug)]
pub struct Engines {
    offers: Vec<Offer>,
    /// Where tools run.
    pub sandboxes: Arc<Sandboxes>,
}

impl Engines {
    /// Puts them together, with the directory of the directories of sessions, and what no agent may
    /// read but for those. What one of them lacks is found out here, not in a turn.
    ///
    /// # Errors
    /// With what is missing.
    pub fn new(
        options: EngineOptions,
        workspaces: PathBuf,
        hidden: Vec<PathBuf>,
    ) -> Result<Engines, EngineError> {
        let client = Client::new();
        let guard = Guard::new(options.origins, Names::new());
        let lends = Lends::new(options.lends, options.sandbox, &hidden)?;
        let sandboxes = Sandboxes::new(
            options.sandbox,
            options.opens_network,
            workspaces,
            client.clone(),
            guard,
            lends,
        )?;
        let mut offers = Vec::new();
        if let Some(script) = options.script {
            offers.push(Offer {
                id: SCRIPTED.to_string(),
                display_name: "Scripted".to_string(),
                max_tokens: None,
                context_tokens: None,
                brings_tools: false,
                engine: Arc::new(ScriptedEngine::new(script)),
            });
        }
        for (id, model) in options.config.models {
            offers.push(Offer {
                display_name: model.display_name.clone().unwrap_or_else(|| id.clone()),
                max_tokens: Some(model.max_tokens),
                context_tokens: Some(model.context_tokens),
                brings_tools: false,
                engine: Arc::new(ModelEngine::new(&id, model, client.clone())?),
                id,
            });
        }
        for (id, agent) in options.config.acp {
            offers.push(Offer {
                display_name: agent.display_name.clone().unwrap_or_else(|| id.clone()),
                max_tokens: None,
                context_tokens: None,
                brings_tools: true,
                engine: Arc::new(AcpEngine::new(&id, agent, options.sandbox, hidden.clone())?),
                id,
            });
        }
        Ok(Engines { offers, sandboxes: Arc::new(sandboxes) })
    }

    /// The models there are.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Whether an agent can be one of this server.
    ///
    /// # Errors
    /// Says what of it cannot be kept.
    pub fn check_agent(&self, agent: &Map<String, Value>) -> Result<(), ApiError> {
        let model = agent.get("model").map_or("", |model| model["id"].as_str().unwrap_or_default());
        let offer = self.find(model).map_err(ApiError::invalid)?;
        let tools = agent.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // Servers have toolsets, so these are tools, too.
        if offer.brings_tools && !tools.is_empty() && !only_asks(tools) {
            let what = format!(
                "tools: the model `{model}` brings its own: must be empty, or an \
                 agent_toolset_20260401 with nothing but a default_config whose permission_policy \
                 is always_ask"
            );
            return Err(ApiError::invalid(what));
        }
        Ok(())
    }

    /// Whether an agent can have sessions in such an environment, with such vaults.
    ///
    /// # Errors
    /// Says what cannot be kept.
    pub fn check_session(
        &self,
        agent: &Value,
        config: &Value,
        vaults: &[String],
    ) -> Result<(), ApiError> {
        let model = agent["model"]["id"].as_str().unwrap_or_default();
        let offer = self.find(model).map_err(ApiError::invalid)?;
        if offer.brings_tools && !vaults.is_empty() {
            let what = format!("vault_ids: must be empty: the model `{model}` asks by itself");
            return Err(ApiError::invalid(what));
        }
        let reach = Reach::of(config);
        if offer.brings_tools && reach != Reach::Public {
            let what = format!(
                "environment_id: the model `{model}` has the network of the machine, which only an \
                 environment with unrestricted networking allows"
            );
            return Err(ApiError::invalid(what));
        }
        let kept = self.sandboxes.check(&reach);
        kept.map_err(|what| ApiError::invalid(format!("environment_id: config.networking: {what}")))
    }

    /// Whether the MCP servers of an agent can be asked in such an environment, by their names.
    /// What is forbidden later is told in each turn: an environment may change.
    ///
    /// # Errors
    /// Says which one cannot, and why.
    pub fn check_servers(&self, agent: &Value, config: &Value) -> Result<(), ApiError> {
        let reach = Reach::of_servers(config);
        for (index, server) in agent["mcp_servers"].as_array().into_iter().flatten().enumerate() {
            let text = server["url"].as_str().unwrap_or_default();
            let checked = match url::Url::parse(text) {
                Ok(url) => self.sandboxes.guard.check(&url, &reach).map(drop),
                Err(_) => Err(GuardError::Url(text.to_string())),
            };
            checked.map_err(|why| {
                let name = server["name"].as_str().unwrap_or_default();
                let place = format!("environment_id: agent.mcp_servers[{index}].url");
                ApiError::invalid(format!("{place}: `{name}` at {text}: {why}"))
            })?;
        }
        Ok(())
    }

    fn find(&self, model: &str) -> Result<&Offer, String> {
        if let Some(offer) = self.offers.iter().find(|offer| offer.id == model) {
            return Ok(offer);
        }
        let known: Vec<String> =
            self.offers.iter().map(|offer| format!("`{}`", offer.id)).collect();
        Err(format!("model.id: this server has no such model; it has {}", known.join(", ")))
    }

    /// What plays the turns of a model.
    pub(super) fn engine(&self, model: &str) -> Option<Arc<dyn Engine>> {
        self.find(model).ok().map(|offer| offer.engine.clone())
    }
}
