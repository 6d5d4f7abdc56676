//! Which client does the operations: the one place where kinds of clients are told apart.

use crate::adapter::{AdapterClient, AdapterConfig, ClientProcesses};
use crate::command::Scope;
use crate::maelstrom::{MaelstromClient, MaelstromConfig, Workload};
use crate::spec::{ClientSpec, GENERATOR_OPTION};
use assay_drivers::{Client, ClientError, Target};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A kind of client, ready to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ClientKind {
    /// A driver that comes with Assay, by name.
    Driver(String),
    /// The same in a process of its own.
    DriverApart {
        /// The program that has the drivers.
        assay: String,
        /// Which of them.
        name: String,
    },
    /// A process that does operations for us.
    Adapter {
        /// How it is started.
        argv: Vec<String>,
        /// What it finds in its environment, besides ours.
        environment: Vec<(String, String)>,
        /// Whether faults end it: then it is started again however often.
        apart: bool,
    },
    /// The nodes themselves speak Maelstrom.
    Maelstrom {
        /// The workload, where the description names one.
        workload: Option<String>,
    },
}

/// Whom a client talks to.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// Where clients reach each node.
    pub(crate) addresses: Vec<SocketAddr>,
    /// What the nodes are called.
    pub(crate) names: Vec<String>,
    /// The client's own node.
    pub(crate) own: usize,
    /// The client's own seed.
    pub(crate) seed: u64,
    /// Its number.
    pub(crate) client: usize,
    /// A number that no other client of the cluster has or had.
    pub(crate) session: usize,
    /// What it will do.
    pub(crate) generator: String,
    /// What the system was told.
    pub(crate) options: BTreeMap<String, Value>,
    /// Where an adapter's own words go.
    pub(crate) log: PathBuf,
    /// Where its process is listed.
    pub(crate) among: ClientProcesses,
}

impl ClientKind {
    /// The kind a description asks for; `apart`: in a process of its own, whatever it is.
    pub(crate) fn of(client: &ClientSpec, scope: &Scope, apart: bool) -> ClientKind {
        if client.maelstrom {
            return ClientKind::Maelstrom { workload: client.workload.clone() };
        }
        match &client.command {
            Some(command) => ClientKind::Adapter {
                argv: scope.arguments(command),
                environment: client
                    .environment
                    .iter()
                    .map(|(name, template)| (name.clone(), scope.text(template)))
                    .collect(),
                apart,
            },
            None => {
                let name = client.builtin.clone().unwrap_or_default();
                match apart {
                    true => ClientKind::DriverApart { assay: scope.assay.clone(), name },
                    false => ClientKind::Driver(name),
                }
            }
        }
    }

    /// Makes a client.
    pub(crate) fn open(&self, reach: Reach) -> Result<Box<dyn Client>, ClientError> {
        let Reach { addresses, names, own, generator, options, session, .. } = reach.clone();
        match self {
            ClientKind::Driver(name) => {
                let target = Target { addresses, names, own, generator, options, session };
                assay_drivers::open(name, target)
            }
            ClientKind::DriverApart { assay, name } => {
                let session = session.to_string();
                let argv = [assay, "client", name, "--session", &session].map(str::to_string);
                let mut config = AdapterConfig::new(argv.to_vec());
                // It ends when a fault ends it, and never by itself.
                config.restarts_max = u64::MAX;
                adapter(config, reach)
            }
            ClientKind::Adapter { argv, environment, apart } => {
                let mut config = AdapterConfig::new(argv.clone());
                if *apart {
                    config.restarts_max = u64::MAX;
                }
                config.environment = environment.iter().cloned().collect();
                adapter(config, reach)
            }
            ClientKind::Maelstrom { workload } => {
                let workload = maelstrom_workload(workload.as_deref(), &generator)?;
                // Workloads of one object know no keys; with one key the generators call it k0.
                let object = (workload != Workload::LinKv).then(|| "k0".into());
                // Nodes know a client by its name alone: two of one name would get each other's
                // answers.
                let client = session;
                let config = MaelstromConfig { client, names, addresses, own, workload, object };
                Ok(Box::new(MaelstromClient::new(config)?))
            }
        }
    }
}

fn adapter(mut config: AdapterConfig, reach: Reach) -> Result<Box<dyn Client>, ClientError> {
    (config.log, config.client, config.seed) = (reach.log, reach.client, reach.seed);
    (config.names, config.addresses, config.own) = (reach.names, reach.addresses, reach.own);
    config.options.extend(reach.options);
    config.options.insert(GENERATOR_OPTION.to_string(), reach.generator.into());
    Ok(Box::new(AdapterClient::start_among(config, reach.among)?))
}

/// The Maelstrom workload for a generator, unless the description names one.
pub(crate) fn maelstrom_workload(
    described: Option<&str>,
    generator: &str,
) -> Result<Workload, ClientError> {
    let name = described.unwrap_or(match generator {
        "register" => "lin-kv",
        "set" => "g-set",
        "counter" => "pn-counter",
        "list-append" => "txn-list-append",
        "rw-register" => "txn-rw-register",
        other => other,
    });
    Workload::named(name).ok_or_else(|| {
        let known: Vec<&str> = Workload::NAMES.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        ClientError { message: format!("there is no Maelstrom workload `{name}`: {known}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_workload::Call;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn an_adapter_is_told_what_the_system_was_told() {
        let directory = tempfile::tempdir().expect("a directory");
        let heard = directory.path().join("heard");
        // It writes down what it is told, and is ready.
        let script = "read -r line; printf '%s\\n' \"$line\" > \"$0\"; \
                      echo '{\"type\":\"ready\"}'; cat > /dev/null";
        let words = ["sh", "-c", script, heard.to_str().expect("plain")];
        let argv = words.map(str::to_string).to_vec();
        let reach = Reach {
            addresses: vec!["127.0.0.1:1".parse().expect("an address")],
            names: vec!["n1".to_string()],
            own: 0,
            seed: 1,
            client: 0,
            session: 0,
            generator: "register".to_string(),
            options: [("prefix".to_string(), "register.".into()), ("depth".into(), 3.into())]
                .into(),
            log: directory.path().join("log"),
            among: ClientProcesses::default(),
        };
        let _client =
            ClientKind::Adapter { argv, environment: Vec::new(), apart: false }.open(reach);
        let line = std::fs::read_to_string(heard).expect("it was told");
        let init: Value = serde_json::from_str(&line).expect("JSON");
        let told = serde_json::json!({"depth": 3, "generator": "register", "prefix": "register."});
        assert_eq!(init["options"], told);
    }

    #[test]
    fn sessions_of_one_maelstrom_client_have_names_of_their_own() {
        let node = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut heard = Vec::new();
        for session in [4, 9] {
            let reach = Reach {
                addresses: vec![node.local_addr().expect("it listens")],
                names: vec!["n1".to_string()],
                own: 0,
                seed: 1,
                client: 0,
                session,
                generator: "register".to_string(),
                options: BTreeMap::new(),
                log: PathBuf::new(),
                among: ClientProcesses::default(),
            };
            let mut client =
                ClientKind::Maelstrom { workload: None }.open(reach).expect("a client");
            let asking = std::thread::spawn(move || {
                let call = Call::new("read", Some("x".into()), Value::Null);
                client.call(&call, Duration::from_secs(30))
            });
            let (stream, _) = node.accept().expect("a connection");
            let mut line = String::new();
            let mut reader = BufReader::new(stream);
            reader.read_line(&mut line).expect("a message");
            drop(reader);
            asking.join().expect("no panic");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            heard.push(message["src"].clone());
        }
        assert_eq!(heard, ["c4", "c9"], "a node answers by name");
    }
}
