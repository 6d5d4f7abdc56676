//! MCP servers of agents: asked by the server, never by the sandbox, through the guard.
//!
//! At the beginning of a turn each server is asked for its tools. One that cannot be reached is a
//! `session.error`, and the turn goes on without its tools; so are tools that no model would take.
//! Redirects are not followed; what may be reached is decided for every request anew.

mod ask;
mod shown;

use super::host::{Host, Stop};
use super::keyring::KeyOf;
use super::room::Gave;
use super::toolbox::{Wanted, cut};
use crate::api::{ToolAccess, mcp_access};
use ask::{Asker, UNAUTHENTICATED};
use assay_session::{ErrorKind, RetryStatus, Said, SessionError};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, PaginatedRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value, json};
use shown::shown;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// What names of tools of MCP servers begin with, for models: `mcp__SERVER__TOOL`.
pub(crate) const MCP_PREFIX: &str = "mcp__";
/// How long a server may take to say what it has, and how long a call may take.
const BEGIN_TIME_MAX: Duration = Duration::from_secs(15);
const CALL_TIME_MAX: Duration = Duration::from_secs(120);
/// Tools of one server, the pages of its list, and how large one may be as JSON.
const TOOLS_MAX: usize = 128;
const PAGES_MAX: usize = 10;
const TOOL_BYTES_MAX: usize = 16 * 1024;
/// The longest name of a tool that models take.
const NAME_MAX: usize = 128;
/// How much of a trouble is told.
const WHY_CHARS_MAX: usize = 300;
/// What the library says before our own words.
const WRAPPED: &str = "Client error: ";
/// How much of a name is told.
const SHORT_NAME_BYTES_MAX: usize = 64;

/// The servers of one agent that could be reached.
#[derive(Default, Debug)]
pub(super) struct Servers {
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    name: String,
    service: RunningService<RoleClient, ()>,
    tools: Vec<Tool>,
    key: Option<KeyOf>,
}

/// What a model calls a tool.
fn model_name(server: &str, tool: &str) -> Option<String> {
    let name = format!("{MCP_PREFIX}{server}__{tool}");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (name.len() <= NAME_MAX && name.chars().all(plain)).then_some(name)
}

impl Server {
    /// The tools that are enabled, each in the words for a model, or by its name if there are none.
    fn enabled(&self, agent: &Value) -> Vec<Result<Value, &str>> {
        let is_enabled = |tool: &&Tool| {
            let access = mcp_access(agent, &self.name, &tool.name);
            matches!(access, Some(ToolAccess::Allow | ToolAccess::Ask))
        };
        let in_words = |tool: &Tool| {
            let name = model_name(&self.name, &tool.name)?;
            let description = tool.description.as_deref().unwrap_or_default();
            let mut words = json!({"name": name, "description": description,
                "input_schema": *tool.input_schema});
            if let Some(key) = &self.key {
                key.hide_in(&mut words);
            }
            (words.to_string().len() <= TOOL_BYTES_MAX).then_some(words)
        };
        let tools = self.tools.iter().filter(is_enabled);
        tools.map(|tool| in_words(tool).ok_or(&*tool.name)).collect()
    }
}

impl Servers {
    /// The tools, in the words for a model.
    pub fn offered(&self, agent: &Value) -> Vec<Value> {
        let tools = self.servers.iter().flat_map(|server| server.enabled(agent));
        tools.filter_map(Result::ok).collect()
    }

    /// What of a server no model would take, in words.
    fn left_out(&self, agent: &Value) -> Vec<Said> {
        let one = |server: &Server| {
            let tools = server.enabled(agent);
            let names: Vec<&str> = tools.into_iter().filter_map(Result::err).collect();
            // Hidden before it is cut: half a key is still one.
            let name = names.first()?;
            let name = server.key.as_ref().map_or(name.to_string(), |key| key.hide(name));
            let name = cut(&name, SHORT_NAME_BYTES_MAX);
            let more = match names.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!(
                "the MCP server `{}`: `{name}`{more} cannot be offered to a model: a tool is named \
                 by letters, digits, `_` and `-`, {NAME_MAX} characters with its server, and has \
                 at most {TOOL_BYTES_MAX} bytes",
                server.name
            );
            let terminal = RetryStatus::Terminal;
            Some(Said::Trouble(SessionError::new(ErrorKind::UnknownError, message, terminal)))
        };
        self.servers.iter().filter_map(one).collect()
    }

    /// Calls a tool. What goes wrong is for the model.
    pub async fn call(&self, server: &str, tool: &str, input: Map<String, Value>) -> Gave {
        let Some(server) = self.servers.iter().find(|known| known.name == server) else {
            return Gave::text("this server cannot be reached", true);
        };
        let hidden = |mut value: Value| {
            if let Some(key) = &server.key {
                key.hide_in(&mut value);
            }
            value
        };
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(input);
        let called = tokio::time::timeout(CALL_TIME_MAX, server.service.call_tool(params)).await;
        match called {
            Err(_) => {
                let seconds = CALL_TIME_MAX.as_secs();
                Gave::text(format!("the tool took longer than {seconds} s"), true)
            }
            Ok(Err(error)) => {
                let why = hidden(json!(error.to_string()));
                Gave::text(shortened(why.as_str().unwrap_or_default()), true)
            }
            Ok(Ok(result)) => shown(&hidden(json!(result))),
        }
    }
}

/// A call by the name that a model has for it.
pub(super) fn named_call(agent: &Value, name: &str, input: Map<String, Value>) -> Wanted {
    let servers = agent["mcp_servers"].as_array().into_iter().flatten();
    let tool_of = |server: &Value| {
        let server = server["name"].as_str()?;
        let rest = name.strip_prefix(MCP_PREFIX)?.strip_prefix(server)?;
        Some((server.to_string(), rest.strip_prefix("__")?.to_string()))
    };
    // Agents of earlier servers may have names that begin with one another: the longest is meant.
    let found = servers.filter_map(tool_of).max_by_key(|(server, _)| server.len());
    let (server, name) = match found {
        Some((server, tool)) => (Some(server), tool),
        None => (None, name.to_string()),
    };
    Wanted { server, name, input, call_id: None, written: None, refused: None }
}

fn shortened(why: &str) -> String {
    why.chars().take(WHY_CHARS_MAX).collect()
}

impl Host {
    /// Asks the MCP servers of the agent for their tools, once in a turn.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn reach_servers(&mut self) -> Result<(), Stop> {
        let known = self.agent["mcp_servers"].as_array().cloned().unwrap_or_default();
        if known.is_empty() || !self.servers.servers.is_empty() {
            return Ok(());
        }
        let (client, guard) = self.room.web();
        let mut begin = Vec::new();
        for server in &known {
            let word = |field: &str| server[field].as_str().unwrap_or_default().to_string();
            let key = self.keyring.key_of(&word("url")).await.map_err(|_| Stop::Broken)?;
            let (client, guard) = (client.clone(), guard.clone());
            let asker = Asker { client, guard, reach: self.servers_reach.clone(), key };
            begin.push(connect(word("name"), word("url"), asker));
        }
        let begun = futures_util::future::join_all(begin).await;
        let (mut servers, mut troubles) = (Vec::new(), Vec::new());
        for one in begun {
            match one {
                Ok(server) => servers.push(server),
                Err(error) => troubles.push(Said::Trouble(*error)),
            }
        }
        self.servers = Arc::new(Servers { servers });
        troubles.extend(self.servers.left_out(&self.agent));
        if troubles.is_empty() { Ok(()) } else { self.say(troubles).await.map(drop) }
    }
}

async fn connect(name: String, url: String, asker: Asker) -> Result<Server, Box<SessionError>> {
    let key = asker.key.clone();
    let failed = |why: String| {
        // The library wraps what the server answered into words of its own.
        let kind = match why.contains(UNAUTHENTICATED) {
            true => ErrorKind::McpAuthenticationFailedError,
            false => ErrorKind::McpConnectionFailedError,
        };
        let why = why.rsplit_once(WRAPPED).map_or(why.as_str(), |(_, inner)| inner);
        let why = key.as_ref().map_or_else(|| why.to_string(), |key| key.hide(why));
        let message = shortened(&format!("the MCP server `{name}`: {why}"));
        let error = SessionError::new(kind, message, RetryStatus::Terminal);
        Box::new(SessionError { mcp_server_name: Some(name.clone()), ..error })
    };
    let begin = async {
        let config = StreamableHttpClientTransportConfig::with_uri(url);
        let transport = StreamableHttpClientTransport::with_client(asker, config);
        let service = ().serve(transport).await.map_err(|error| error.to_string())?;
        let tools = list(&service).await?;
        Ok::<_, String>((service, tools))
    };
    let begun = tokio::time::timeout(BEGIN_TIME_MAX, begin).await;
    let begun = begun.unwrap_or_else(|_| Err("it did not answer in time".to_string()));
    let (service, tools) = begun.map_err(failed)?;
    Ok(Server { name, service, tools, key })
}

/// The tools of a server: its list may be cut into pages, and have no end.
async fn list(service: &RunningService<RoleClient, ()>) -> Result<Vec<Tool>, String> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = service.list_tools(Some(params)).await.map_err(|error| error.to_string())?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= TOOLS_MAX {
            break;
        }
    }
    let mut names = BTreeSet::new();
    tools.retain(|tool: &Tool| names.insert(tool.name.clone()));
    tools.truncate(TOOLS_MAX);
    Ok(tools)
}
