//! Tools of agents: what a request may say, what stands in answers, what engines go by.

use super::fields::Fields;
use crate::engine::MCP_PREFIX;
use crate::error::ApiError;
use serde_json::{Map, Value, json};

/// The built-in tools.
const BUILT_IN: [&str; 8] =
    ["bash", "edit", "glob", "grep", "read", "web_fetch", "web_search", "write"];
/// The one that nothing here can do: it can be switched off, and not on.
const UNSUPPORTED: &str = "web_search";
const TOOLS_MAX: usize = 128;
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 4096;
const MCP_TOOLSET: &str = "mcp_toolset";
const SERVERS_MAX: usize = 20;
const URL_MAX: usize = 2048;
/// The longest name of a tool of an MCP server.
const MCP_NAME_MAX: usize = 128;
const TOOLSET: &str = "agent_toolset_20260401";

/// What an agent may do with a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolAccess {
    /// Use it.
    Allow,
    /// Ask before.
    Ask,
    /// The client runs it.
    Custom,
}

/// Checks the tools of a request, with everything that was left out filled in.
///
/// # Errors
/// Names what is wrong and where.
pub fn parse_tools(tools: Vec<Value>) -> Result<Vec<Value>, ApiError> {
    if tools.len() > TOOLS_MAX {
        return Err(ApiError::invalid(format!("tools: must have at most {TOOLS_MAX} entries")));
    }
    let mut parsed: Vec<Value> = Vec::new();
    for (index, tool) in tools.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        let mut fields = Fields::of(tool, &place)?;
        let tool = match fields.required_text("type", NAME_MAX)?.as_str() {
            TOOLSET => toolset(fields, &place)?,
            "custom" => custom(fields)?,
            MCP_TOOLSET => mcp_toolset(fields, &place)?,
            _ => {
                let what = "must be agent_toolset_20260401, mcp_toolset or custom";
                return Err(fields.bad("type", what));
            }
        };
        let same = |other: &Value| {
            ["type", "name", "mcp_server_name"].iter().all(|field| other[field] == tool[field])
        };
        if parsed.iter().any(same) {
            return Err(ApiError::invalid(format!("{place}: is there twice")));
        }
        parsed.push(tool);
    }
    check_names(&parsed)?;
    Ok(parsed)
}

/// No custom tool has the name of a built-in one that is enabled: a model could use only one of
/// them.
fn check_names(tools: &[Value]) -> Result<(), ApiError> {
    let Some(set) = tools.iter().find(|tool| tool["type"] == TOOLSET) else { return Ok(()) };
    for (index, tool) in tools.iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        let is_built_in = BUILT_IN.contains(&name) && name != UNSUPPORTED;
        if tool["type"] == "custom" && is_built_in && configured(set, name).is_some() {
            let what = format!(
                "tools[{index}].name: `{name}` is also a built-in tool that is enabled: take \
                 another name, or set `enabled` to false in the configs of {TOOLSET}"
            );
            return Err(ApiError::invalid(what));
        }
    }
    Ok(())
}

/// The configuration of tools that have none of their own.
fn default_config(fields: &mut Fields, place: &str, usual: &str) -> Result<Value, ApiError> {
    let usual = json!({"type": usual});
    match fields.value("default_config") {
        None => Ok(json!({"enabled": true, "permission_policy": usual})),
        Some(value) => {
            let mut config = Fields::of(value, &format!("{place}.default_config"))?;
            let policy = policy(&mut config)?.unwrap_or(usual);
            let enabled = config.flag("enabled")?.unwrap_or(true);
            config.finish()?;
            Ok(json!({"enabled": enabled, "permission_policy": policy}))
        }
    }
}

/// The tools of an MCP server: whoever answers there, so users are asked unless they say otherwise.
fn mcp_toolset(mut fields: Fields, place: &str) -> Result<Value, ApiError> {
    let server = fields.required_text("mcp_server_name", NAME_MAX)?;
    let default = default_config(&mut fields, place, "always_ask")?;
    let mut configs: Vec<Value> = Vec::new();
    for (index, value) in fields.array("configs")?.into_iter().enumerate() {
        let mut config = Fields::of(value, &format!("{place}.configs[{index}]"))?;
        let policy = policy(&mut config)?.unwrap_or(default["permission_policy"].clone());
        let name = config.required_text("name", MCP_NAME_MAX)?;
        if index >= TOOLS_MAX || configs.iter().any(|other| other["name"] == name.as_str()) {
            return Err(config.bad("name", "is there twice, or one too many"));
        }
        let enabled = config.flag("enabled")?.unwrap_or(default["enabled"] == true);
        config.finish()?;
        configs.push(json!({"name": name, "enabled": enabled, "permission_policy": policy}));
    }
    fields.finish()?;
    Ok(json!({"type": MCP_TOOLSET, "mcp_server_name": server, "default_config": default,
        "configs": configs}))
}

/// Checks the MCP servers of a request.
///
/// # Errors
/// Names what is wrong and where.
pub fn parse_servers(servers: Vec<Value>) -> Result<Vec<Value>, ApiError> {
    if servers.len() > SERVERS_MAX {
        return Err(ApiError::invalid(format!("mcp_servers: at most {SERVERS_MAX} entries")));
    }
    let mut parsed: Vec<Value> = Vec::new();
    for (index, server) in servers.into_iter().enumerate() {
        let mut fields = Fields::of(server, &format!("mcp_servers[{index}]"))?;
        if fields.required_text("type", NAME_MAX)? != "url" {
            return Err(fields.bad("type", "must be url"));
        }
        let name = fields.required_text("name", NAME_MAX)?;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(fields.bad("name", "may have letters, digits, `_` and `-`"));
        }
        // Models know tools as `mcp__SERVER__TOOL`: one name must not stand for two of them.
        if name.contains("__") || name.ends_with('_') {
            return Err(fields.bad("name", "must not have `__` in it, nor `_` at its end"));
        }
        if parsed.iter().any(|other| other["name"] == name.as_str()) {
            return Err(fields.bad("name", "is there twice"));
        }
        let text = fields.required_text("url", URL_MAX)?;
        let url = url::Url::parse(&text).ok();
        let url = url.filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
        let Some(url) = url else { return Err(fields.bad("url", "must be https://…")) };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fields.bad("url", "must have no user and no password in it"));
        }
        fields.finish()?;
        parsed.push(json!({"type": "url", "name": name, "url": text}));
    }
    Ok(parsed)
}

/// Every server has a toolset, and every toolset a server.
///
/// # Errors
/// Names the one that has none.
pub fn check_servers(agent: &Map<String, Value>) -> Result<(), ApiError> {
    let names = |list: &str, field: &str| -> Vec<String> {
        let all = agent.get(list).and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|one| one[field].as_str()).map(str::to_string).collect()
    };
    let (servers, used) = (names("mcp_servers", "name"), names("tools", "mcp_server_name"));
    if let Some(name) = used.iter().find(|name| !servers.contains(name)) {
        let what = format!("tools: there is no MCP server `{name}` in mcp_servers");
        return Err(ApiError::invalid(what));
    }
    match servers.iter().find(|name| !used.contains(name)) {
        Some(name) => {
            let what = format!("mcp_servers: no mcp_toolset in tools uses `{name}`");
            Err(ApiError::invalid(what))
        }
        None => Ok(()),
    }
}

fn toolset(mut fields: Fields, place: &str) -> Result<Value, ApiError> {
    let default = default_config(&mut fields, place, "always_allow")?;
    let mut configs: Vec<Value> = Vec::new();
    for (index, value) in fields.array("configs")?.into_iter().enumerate() {
        let mut config = Fields::of(value, &format!("{place}.configs[{index}]"))?;
        // A bad policy is told before a bad name.
        let policy = policy(&mut config)?.unwrap_or(default["permission_policy"].clone());
        let name = config.required_text("name", NAME_MAX)?;
        if !BUILT_IN.contains(&name.as_str()) {
            return Err(config.bad("name", &format!("must be one of {}", BUILT_IN.join(", "))));
        }
        if configs.iter().any(|other| other["name"] == name.as_str()) {
            return Err(config.bad("name", "is there twice"));
        }
        if config.text("type", NAME_MAX)?.is_some_and(|kind| kind != name) {
            return Err(config.bad("type", "must be the same as `name`"));
        }
        let enabled = config.flag("enabled")?.unwrap_or(default["enabled"] == true);
        if enabled && name == UNSUPPORTED {
            let what =
                "is not yet supported by this server: leave it out, or set `enabled` to false";
            return Err(config.bad("name", &format!("`{name}` {what}")));
        }
        config.finish()?;
        configs.push(json!({
            "type": name, "name": name, "enabled": enabled, "permission_policy": policy,
        }));
    }
    fields.finish()?;
    Ok(json!({"type": TOOLSET, "default_config": default, "configs": configs}))
}

fn policy(config: &mut Fields) -> Result<Option<Value>, ApiError> {
    let Some(value) = config.value("permission_policy") else { return Ok(None) };
    let kind = match value["type"].as_str() {
        Some(kind @ ("always_allow" | "always_ask")) => json!(kind),
        _ => return Err(config.bad("permission_policy.type", "must be always_allow or always_ask")),
    };
    let mut policy = Fields::of(value, &config.place_of("permission_policy"))?;
    policy.take("type");
    policy.finish()?;
    Ok(Some(json!({"type": kind})))
}

fn custom(mut fields: Fields) -> Result<Value, ApiError> {
    let name = fields.required_text("name", NAME_MAX)?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Err(fields.bad("name", "may have letters, digits, `_` and `-`"));
    }
    if name.starts_with(MCP_PREFIX) {
        return Err(fields.bad("name", "must not begin with `mcp__`: tools of MCP servers do"));
    }
    let description = fields.required_text("description", DESCRIPTION_MAX)?;
    let schema = fields.value("input_schema").unwrap_or(Value::Null);
    if schema["type"] != "object" {
        return Err(fields.bad("input_schema.type", "must be object"));
    }
    fields.finish()?;
    Ok(json!({
        "type": "custom", "name": name, "description": description, "input_schema": schema,
    }))
}

/// What an agent may do with the tool of this name, if it has it.
pub fn tool_access(agent: &Value, name: &str) -> Option<ToolAccess> {
    let none = Vec::new();
    let tools = agent["tools"].as_array().unwrap_or(&none);
    if tools.iter().any(|tool| tool["type"] == "custom" && tool["name"] == name) {
        return Some(ToolAccess::Custom);
    }
    let set = tools.iter().find(|tool| tool["type"] == TOOLSET)?;
    if !BUILT_IN.contains(&name) || name == UNSUPPORTED {
        return None;
    }
    configured(set, name)
}

/// Whether the tools of an agent only say that somebody is asked before it does something: all that
/// one can say about tools which a program brings.
pub fn only_asks(tools: &[Value]) -> bool {
    let is_it = |set: &Value| {
        let (default, configs) = (&set["default_config"], set["configs"].as_array());
        set["type"] == TOOLSET
            && configs.is_none_or(Vec::is_empty)
            && default["enabled"] == true
            && default["permission_policy"]["type"] == "always_ask"
    };
    matches!(tools, [set] if is_it(set))
}

/// What an agent may do with a tool of an MCP server.
pub fn mcp_access(agent: &Value, server: &str, name: &str) -> Option<ToolAccess> {
    let mut tools = agent["tools"].as_array().into_iter().flatten();
    configured(tools.find(|tool| tool["mcp_server_name"] == server)?, name)
}

fn configured(set: &Value, name: &str) -> Option<ToolAccess> {
    let mut configs = set["configs"].as_array().into_iter().flatten();
    let config = configs.find(|config| config["name"] == name);
    let config = config.unwrap_or(&set["default_config"]);
    match (config["enabled"] == true, config["permission_policy"]["type"].as_str()) {
        (true, Some("always_ask")) => Some(ToolAccess::Ask),
        (true, _) => Some(ToolAccess::Allow),
        (false, _) => None,
    }
}

/// What a session keeps of an agent.
pub fn snapshot(agent: &Map<String, Value>) -> Value {
    let kept = [
        "type",
        "id",
        "version",
        "name",
        "description",
        "model",
        "system",
        "tools",
        "skills",
        "mcp_servers",
        "multiagent",
        "execution_identity",
    ];
    let field = |name: &&str| (name.to_string(), agent.get(*name).cloned().unwrap_or_default());
    Value::Object(kept.iter().map(field).collect())
}
