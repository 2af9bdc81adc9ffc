//! Sessions: a plugin that records for one command, beside other instances of the same plugin.

use super::context::Context;
use super::{change, refusals};
use crate::agent::sessions::Session;
use crate::ffi::process;
use crate::messages::Code;
use crate::spans::event_file::EventFile;
use crate::{current, messages, recorded, subscribers};
use control::Refusal;
use control::message::{Change, Session as Begun, SessionRequest};
use errors::codes;
use host::Config;
use probes::{Meta, SpanMode};
use std::path::PathBuf;

/// Lets a plugin record in its own session, into its own file. In a session that has begun, the plugin is configured
/// again.
///
/// # Errors
///
/// If there are too many sessions, the plugin cannot be configured, or the file cannot be created.
pub(super) fn begin(
    context: Context<'_>,
    plugin: &str,
    options: Option<&str>,
    cache: Option<PathBuf>,
    asked: SessionRequest,
) -> Result<Change, Refusal> {
    let agent = context.agent;
    let known = agent.results.sessions.find(&asked.id);
    let number = known.as_ref().map(|session| session.number);
    let number = number
        .or_else(|| agent.results.sessions.free_number())
        .ok_or_else(too_many)?;
    let added = change::configured(plugin, options.unwrap_or_default())?;
    let mut config = refusals::current(agent)?.config.clone();
    config.agent.cache = cache;
    config
        .plugins
        .retain(|plugin| agent.results.sessions.has(plugin.session));
    if known.is_some() {
        agent.results.table.spans_of(number).reset_limits(None);
        return change::add(context, config, in_session(&added, number), |_| Ok(()));
    }
    let name = added.plugins.first().map(|plugin| plugin.name.clone());
    let name = name.unwrap_or_default();
    let mut begun = None;
    let started = |instance: &str| {
        let (session, file) = started(context, number, (&name, instance), &added, &asked)?;
        agent.results.sessions.add(session);
        begun = Some(Begun {
            plugin: instance.to_owned(),
            file,
        });
        Ok(())
    };
    let change = change::add(context, config, in_session(&added, number), started)?;
    Ok(Change {
        session: begun,
        ..change
    })
}

/// Ends a session whose plugin holds no edits: writes the rest of its calls and completes the file. If no method was
/// instrumented, the file is removed.
pub(super) fn end(context: Context<'_>, session: &Session) {
    let Context { agent, jvm } = context;
    let spans = agent.results.table.spans_of(session.number);
    // Methods that are still running leave no record.
    spans.set_mode(SpanMode::Off, |_| true);
    subscribers::end_waits(agent, session.number);
    session.file.write(jvm, true);
    session.file.complete();
    if spans.is_empty() {
        session.file.remove();
    }
    agent.results.sessions.remove(session.number);
}

/// The plugins in this session.
fn in_session(added: &Config, number: u8) -> Vec<host::config::PluginConfig> {
    let plugins = added.plugins.iter().cloned();
    plugins.map(|plugin| plugin.in_session(number)).collect()
}

/// The session of a plugin and the path of its event file. `name` is the plugin's name in the file, `instance` that in
/// the agent.
fn started(
    context: Context<'_>,
    number: u8,
    (name, instance): (&str, &str),
    added: &Config,
    asked: &SessionRequest,
) -> Result<(Session, String), Refusal> {
    let Context { agent, jvm } = context;
    let mut settings = added.agent.clone();
    settings.output = match &asked.output {
        Some(output) => output.clone(),
        None => agent.settings.output.clone(),
    };
    let mut meta = Meta {
        run: asked.id.clone(),
        start_ms: agent.results.sessions.start_ms(process::now_ms()),
        plugins: vec![name.to_owned()],
        file_name: String::new(),
        ..agent.results.meta.clone()
    };
    if let Some(name) = &settings.file_name {
        meta.file_name = name.of(&meta, &process::user());
    }
    let file = EventFile::new(number, meta, &settings);
    recorded::begin_session(agent.results.table, number, &file);
    let path = file.open(jvm).map_err(|cause| {
        let folder = settings.output.display();
        let message = format!("no event file can be written to {folder}: {cause}");
        Refusal::new(Code::Output.as_str(), message)
            .with("help", "name a folder that the JVM can write to (--output)")
    })?;
    messages::info(format_args!("recording spans to {}", path.display()));
    if let (true, Some(agent)) = (added.agent.waits, current::get()) {
        subscribers::begin_waits(agent, jvm, number).map_err(|cause| {
            let message = format!("waits and collections cannot be recorded: {cause}");
            Refusal::new(Code::JvmEvents.as_str(), message)
        })?;
    }
    let session = Session {
        number,
        id: asked.id.clone(),
        plugin: instance.to_owned(),
        file,
    };
    Ok((session, path.display().to_string()))
}

fn too_many() -> Refusal {
    let most = probes::spans::SESSIONS - 1;
    let message = format!("{most} commands record calls in this JVM already, which is the limit");
    Refusal::new(codes::H0710, message).with(
        "help",
        "wait for the end of one; `classhook status` lists them",
    )
}
