//! A model behind an endpoint that speaks the Messages API: its own loop of requests and tools.
//!
//! A turn is requests to the model until it wants no more tools. An answer is said only when all of
//! it is there, so a request that breaks off can be asked again without anybody having seen half
//! of it. What was said before is recalled from the [memory](super::memory).

mod ask;
mod context;
mod reply;
mod sse;

use super::attached::Loader;
use super::host::{Host, Stop};
use super::mcp::named_call;
use super::memory::{Entry, Message, recall};
use super::options::{EngineError, ModelConfig};
use super::toolbox::{Wanted, offered, tool_result};
use super::{Engine, Turn};
use crate::net::Client;
use ask::{Asked, Endpoint};
use assay_session::{ErrorKind, RetryStatus, Said, SessionError};
use context::Frame;
use reply::{Block, Reply};
use serde_json::{Value, json};
use std::sync::Arc;

/// What an answer ends with that is not whole.
const CUT_OFF: [&str; 3] = ["max_tokens", "refusal", "model_context_window_exceeded"];
const NO_INPUT: &str = "the input of this call was no JSON object, or one nested too deep";
/// Requests in one turn.
const REQUESTS_MAX: usize = 200;
/// Bytes of memory that are read for one token of the context.
const BYTES_PER_TOKEN: usize = 8;

/// One model.
#[derive(Debug)]
pub struct ModelEngine {
    endpoint: Arc<Endpoint>,
    context_tokens: u64,
    max_tokens: u64,
}

impl ModelEngine {
    /// A model of this configuration. Its key is read here, once, and is in nothing that is shown.
    ///
    /// # Errors
    /// If something it needs is not there.
    pub fn new(id: &str, config: ModelConfig, client: Client) -> Result<ModelEngine, EngineError> {
        let (context_tokens, max_tokens) = (config.context_tokens, config.max_tokens);
        let endpoint = Arc::new(Endpoint::new(id, config, client)?);
        Ok(ModelEngine { endpoint, context_tokens, max_tokens })
    }
}

impl Engine for ModelEngine {
    fn play(&self, host: Host) -> Turn {
        let endpoint = self.endpoint.clone();
        let (context_tokens, max_tokens) = (self.context_tokens, self.max_tokens);
        Box::pin(async move { play(&endpoint, context_tokens, max_tokens, host).await })
    }
}

fn failed(message: String) -> Said {
    let kind = ErrorKind::ModelRequestFailedError;
    Said::Failed(SessionError::new(kind, message, RetryStatus::Terminal))
}

async fn play(
    endpoint: &Endpoint,
    context_tokens: u64,
    max_tokens: u64,
    mut host: Host,
) -> Result<(), Stop> {
    let bytes = usize::try_from(context_tokens).unwrap_or(usize::MAX);
    let bytes = bytes.saturating_mul(BYTES_PER_TOKEN);
    let earlier = recall(&host.voice.reader, &host.voice.key, bytes).await;
    let mut earlier = earlier.map_err(|_| Stop::Broken)?;
    let mut turn = vec![Message::user(host.prompt.clone())];
    host.remember(Entry::Message(turn[0].clone()));
    // Servers take their time, and what was asked is not forgotten meanwhile.
    host.say(Vec::new()).await?;
    let mut loader = Loader::new(&host.voice);
    if let Err(why) = loader.fill(&mut turn[0].content).await {
        return host.end(vec![failed(why)]).await;
    }
    loader.fill_earlier(&mut earlier).await;
    host.reach_servers().await?;
    let mut frame = Frame {
        system: host.system.clone(),
        tools: offered(&host.agent, &host.room, &host.servers),
        earlier,
        tokens_max: context_tokens.saturating_sub(max_tokens),
        has_forgotten: false,
    };
    for _ in 0..REQUESTS_MAX {
        let Some(messages) = frame.fit(&mut turn) else {
            let what = format!(
                "this turn alone is longer than the context of the model ({context_tokens} tokens)"
            );
            return host.end(vec![failed(what)]).await;
        };
        let body = request(endpoint, max_tokens, &frame, &messages);
        let reply = match endpoint.ask(&mut host, &body).await? {
            Asked::Reply(reply) => reply,
            Asked::Failed(said) => return host.end(said).await,
            // What it does not take may have been said long ago, and would be told it for ever.
            Asked::Refused(end, error) => match frame.forget() {
                true => {
                    let error = SessionError { retry_status: RetryStatus::Retrying, ..error };
                    host.say(vec![end, Said::Trouble(error)]).await?;
                    continue;
                }
                false => return host.end(vec![end, Said::Failed(error)]).await,
            },
        };
        let said = step(endpoint, &mut host, &mut turn, &mut loader, reply, max_tokens).await?;
        let Some(said) = said else { continue };
        return host.end(said).await;
    }
    host.end(vec![failed(format!("the turn made {REQUESTS_MAX} requests and was ended"))]).await
}

fn request(endpoint: &Endpoint, max_tokens: u64, frame: &Frame, messages: &[Message]) -> String {
    let mut body = json!({
        "model": endpoint.model, "max_tokens": max_tokens, "stream": true, "messages": messages,
    });
    if let Some(system) = &frame.system {
        body["system"] = json!(system);
    }
    if !frame.tools.is_empty() {
        body["tools"] = json!(frame.tools);
    }
    body.to_string()
}

/// Does what the model wants. What ends the turn, if it does.
async fn step(
    endpoint: &Endpoint,
    host: &mut Host,
    turn: &mut Vec<Message>,
    loader: &mut Loader,
    reply: Reply,
    max_tokens: u64,
) -> Result<Option<Vec<Said>>, Stop> {
    let is_cut = CUT_OFF.contains(&reply.stop_reason.as_str());
    // Half a call is none, and what came before it may have been meant together with it.
    let kept = |block: &&Block| !(is_cut && matches!(block, Block::Call { .. }));
    let blocks: Vec<&Block> = reply.blocks.iter().filter(kept).collect();
    let cost_nanos = endpoint.prices.and_then(|prices| prices.nanos(&reply.usage));
    let end = Said::RequestEnd { is_error: false, usage: reply.usage, cost_nanos };
    let mut said = vec![end];
    said.extend(blocks.iter().filter_map(|block| match block {
        Block::Text(text) if !text.trim().is_empty() => Some(Said::Message(text.clone())),
        Block::Thinking(_) => Some(Said::Thinking),
        _ => None,
    }));
    let content: Vec<Value> = blocks.iter().filter_map(|block| block.wire()).collect();
    if !content.is_empty() {
        let message = Message::assistant(content);
        turn.push(message.clone());
        host.remember(Entry::Message(message));
    }
    let calls: Vec<&Block> =
        blocks.into_iter().filter(|block| matches!(block, Block::Call { .. })).collect();
    if !calls.is_empty() {
        // Each of them is remembered already, in the commit that showed it.
        let mut results = use_tools(host, said, &calls).await?;
        let loaded = loader.fill(&mut results).await;
        turn.push(Message::user(results));
        return Ok(loaded.err().map(|why| vec![failed(why)]));
    }
    match reply.stop_reason.as_str() {
        // The endpoint wants to be asked again, to go on.
        "pause_turn" => {
            host.say(said).await?;
            return Ok(None);
        }
        "max_tokens" => said.push(failed(format!(
            "the answer was cut off: it is longer than max_tokens = {max_tokens}"
        ))),
        "refusal" => said.push(failed("the model refused to answer".to_string())),
        "model_context_window_exceeded" => {
            said.push(failed("the conversation is longer than the model can read".to_string()));
        }
        _ => said.push(Said::Finished),
    }
    Ok(Some(said))
}

async fn use_tools(host: &mut Host, said: Vec<Said>, calls: &[&Block]) -> Result<Vec<Value>, Stop> {
    let calls = calls.iter().filter_map(|block| match block {
        Block::Call { id, name, input } => Some((id.clone(), name, input)),
        _ => None,
    });
    let (ids, wanted): (Vec<String>, Vec<Wanted>) = calls
        .map(|(id, name, input)| {
            // What is no JSON runs nothing, and nobody is asked for it.
            let refused = input.is_none().then(|| NO_INPUT.to_string());
            let named = named_call(&host.agent, name, input.clone().unwrap_or_default());
            (id.clone(), Wanted { call_id: Some(id), refused, ..named })
        })
        .unzip();
    let gave = host.use_tools(said, wanted).await?;
    Ok(ids.iter().zip(&gave).map(|(id, gave)| tool_result(id, gave)).collect())
}
