//! A cluster of real Maelstrom nodes, every link of it through a proxy.

use assay_nemesis::{Direction, Flow, LinkId, LinkRule, Mesh, Rules};
use assay_sut::{
    MaelstromClient, MaelstromConfig, Relay, RelayConfig, RelayError, Services, Workload,
};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::PATIENCE;

/// What every scripted node needs: `send`, `reply`, and `init`.
const PRELUDE: &str = r#"
import json, sys
me = None
def send(dest, **body):
    print(json.dumps({"src": me, "dest": dest, "body": body}), flush=True)
def messages():
    global me
    for line in sys.stdin:
        message = json.loads(line)
        src, body = message["src"], message["body"]
        if body["type"] == "init":
            me = body["node_id"]
            send(src, type="init_ok", in_reply_to=body["msg_id"])
        else:
            yield src, body
"#;

/// A node with its relay; both end with it.
pub struct Node {
    pub child: Child,
    pub relay: Option<Relay>,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.relay = None;
        // It may have ended already.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

pub struct Nodes {
    pub mesh: Mesh,
    pub nodes: Vec<Node>,
    names: Vec<String>,
    command: Vec<String>,
    workload: Workload,
    services: Services,
    real: Vec<SocketAddr>,
    clients: Vec<LinkId>,
    between: BTreeMap<(usize, usize), LinkId>,
}

/// A program of a few lines that follow the prelude.
pub fn script(text: &str) -> Vec<String> {
    ["python3", "-c", &format!("{PRELUDE}{text}")].map(String::from).to_vec()
}

pub fn spawn(command: &[String]) -> Child {
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    process.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Attaches a relay to a process that was just started.
pub fn attach(
    child: &mut Child,
    config: RelayConfig,
    listener: TcpListener,
) -> Result<Relay, RelayError> {
    let stdin = child.stdin.take().expect("a pipe");
    let stdout = child.stdout.take().expect("a pipe");
    Relay::attach(config, stdin, stdout, listener)
}

/// A single node that knows no others.
pub fn alone(init_time_max: Duration) -> RelayConfig {
    RelayConfig {
        name: "n1".to_string(),
        node_names: vec!["n1".to_string()],
        peers: BTreeMap::new(),
        services: Services::default(),
        setup: Vec::new(),
        init_time_max,
    }
}

pub fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a free port")
}

impl Nodes {
    pub fn start(count: usize, command: Vec<String>, workload: Workload) -> Nodes {
        let mesh = Mesh::new(1).expect("a mesh");
        let names: Vec<String> = (1..=count).map(|i| format!("n{i}")).collect();
        let listeners: Vec<TcpListener> = (0..count).map(|_| listener()).collect();
        let real: Vec<SocketAddr> =
            listeners.iter().map(|l| l.local_addr().expect("it is bound")).collect();
        let link = |from: &str, to: usize| mesh.add(from, &names[to], real[to]).expect("a link");
        let clients = (0..count).map(|to| link("clients", to)).collect();
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let between = pairs
            .filter(|(from, to)| from != to)
            .map(|(from, to)| ((from, to), link(&names[from], to)))
            .collect();
        let (nodes, services) = (Vec::new(), Services::default());
        let mut cluster =
            Nodes { mesh, nodes, names, command, workload, services, real, clients, between };
        for (i, listener) in listeners.into_iter().enumerate() {
            let node = cluster.node(i, listener);
            cluster.nodes.push(node);
        }
        cluster
    }

    fn node(&self, i: usize, listener: TcpListener) -> Node {
        let mut child = spawn(&self.command);
        let links = self.between.iter().filter(|((from, _), _)| *from == i);
        let config = RelayConfig {
            name: self.names[i].clone(),
            node_names: self.names.clone(),
            peers: links
                .map(|((_, to), link)| (self.names[*to].clone(), self.mesh.listen(*link)))
                .collect(),
            services: self.services.clone(),
            setup: self.workload.setup(&self.names),
            init_time_max: PATIENCE,
        };
        let relay = attach(&mut child, config, listener);
        Node { child, relay: Some(relay.unwrap_or_else(|error| panic!("{error}"))) }
    }

    /// Starts a node again, on the same port.
    pub fn restart(&mut self, i: usize) {
        self.nodes[i].relay = None;
        let listener = TcpListener::bind(self.real[i]).expect("its port is free again");
        self.nodes[i] = self.node(i, listener);
    }

    /// A client of this node.
    pub fn client(&self, number: usize, own: usize) -> MaelstromClient {
        MaelstromClient::new(MaelstromConfig {
            client: number,
            names: self.names.clone(),
            addresses: self.clients.iter().map(|link| self.mesh.listen(*link)).collect(),
            own,
            workload: self.workload,
            object: None,
        })
        .expect("the nodes have addresses")
    }

    pub fn relay(&self, i: usize) -> &Relay {
        self.nodes[i].relay.as_ref().expect("it is attached")
    }

    pub fn link(&self, from: usize, to: usize) -> LinkId {
        self.between[&(from, to)]
    }

    /// Throws away whatever goes from one node to the other.
    pub fn cut(&self, from: usize, to: usize) -> assay_nemesis::Layer {
        let rules = Rules::flow(Flow::Drop);
        let link = self.link(from, to);
        self.mesh.impose(&[LinkRule { link, direction: Direction::Request, rules }])
    }
}
