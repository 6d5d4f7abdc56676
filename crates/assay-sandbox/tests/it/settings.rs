//! What cannot be kept is refused before the first call.

use crate::Test;
use crate::rig::{Rig, settings};
use assay_sandbox::{
    Capability, Gate, HostPlace, Limits, Network, OpenError, Porter, Provider, ProviderKind,
    Settings, Workspace,
};
use std::any::Any;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub const TESTS: &[Test] = &[
    ("settings_that_cannot_be_kept_are_refused", &[], refused),
    ("none_is_chosen_by_name_and_promises_nothing", &[], none),
    ("a_session_has_one_sandbox_at_a_time", &[], busy),
    ("a_limited_network_leads_to_its_gate_only", &[Capability::NetworkLimited], gate),
    ("a_directory_of_the_host_can_be_read_if_it_was_given", &[Capability::Files], readable),
];

fn refused(rig: &Rig) {
    let check = |settings: Settings, expected: &str| {
        let error = rig.provider.check(&settings).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    if !rig.provider.capabilities().has(Capability::NetworkLimited) {
        let network = Network::Limited(Gate::new(Arc::new(Parrot)));
        check(Settings { network, ..settings() }, "network-limited");
    }
    let mut named = settings();
    named.environment.insert("A=B".to_string(), String::new());
    check(named, "cannot be a variable");
    for (path, expected) in
        [("/", "as a whole"), ("relative", "as a whole"), ("/no/such/path", "has to exist")]
    {
        let error = HostPlace::find(path.as_ref()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let limits = Limits { wall: Duration::ZERO, ..Limits::default() };
    check(Settings { limits, ..settings() }, "a limit of nothing");
    let can = rig.provider.capabilities();
    for one in Capability::ALL.into_iter().filter(|one| !can.has(*one)) {
        check(Settings { needs: [one].into(), ..settings() }, one.name());
    }
    // What would show the other sessions.
    let place = rig.place();
    let other = Workspace::create(&place.path("other")).expect("a workspace");
    let shows = Settings { readable: vec![found(place.root.path())], ..settings() };
    let error = rig.provider.open(&other, shows).expect_err("it is refused").to_string();
    assert!(error.contains("would show"), "{error}");
}

fn found(path: &Path) -> HostPlace {
    HostPlace::find(path).expect("it is there")
}

fn none(rig: &Rig) {
    assert_eq!(ProviderKind::default(), ProviderKind::Local);
    assert!(matches!("none".parse(), Ok(ProviderKind::None)));
    let unknown = "docker".parse::<ProviderKind>().expect_err("there is none").to_string();
    assert!(unknown.contains("`local`"), "{unknown}");
    let error = rig.unprotected.check(&Settings::default()).expect_err("it protects nothing");
    let error = error.to_string();
    for one in ["files", "environment", "lifetime", "network-off", "processes"] {
        assert!(error.contains(one), "{one}: {error}");
    }
}

fn busy(rig: &Rig) {
    let place = rig.place();
    let second = rig.provider.open(&place.workspace, settings());
    assert!(matches!(second, Err(OpenError::Busy(_))));
    let workspace = place.workspace.clone();
    place.sh("echo kept > file");
    drop(place.tools);
    let again = rig.provider.open(&workspace, settings()).expect("it is free again");
    let kept = std::fs::read_to_string(again.workspace().files().join("file"));
    assert_eq!(kept.expect("the workspace is durable"), "kept\n");
}

/// Says what it hears, and whose gate it is.
#[derive(Debug)]
struct Parrot;

impl Porter for Parrot {
    fn open(&self, listener: TcpListener) -> std::io::Result<Box<dyn Any>> {
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut heard = [0; 5];
                // Who goes without a word hears none.
                let _gone = stream
                    .read_exact(&mut heard)
                    .and_then(|()| stream.write_all(b"the gate heard "))
                    .and_then(|()| stream.write_all(&heard));
            }
        });
        Ok(Box::new(()))
    }
}

fn gate(rig: &Rig) {
    let host = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = host.local_addr().expect("an address").port();
    let place =
        rig.with(Settings { network: Network::Limited(Gate::new(Arc::new(Parrot))), ..settings() });
    let script = format!(
        "proxy=${{https_proxy#http://}}; exec 3<>/dev/tcp/${{proxy/://}}; printf hello >&3; cat <&3
         echo; (exec 4<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || echo nobody near
         (exec 4<>/dev/tcp/192.0.2.1/80) 2>/dev/null || echo nobody far"
    );
    // Each call has a gate of its own.
    for _ in 0..2 {
        let text = place.sh(&script);
        assert!(text.contains("the gate heard hello\nnobody near\nnobody far"), "{text}");
    }
    let cut = rig.place().sh("echo \"proxy $https_proxy.\"; cat /proc/net/tcp | wc -l");
    assert_eq!(cut, "proxy .\n1\n", "where there is no gate nobody is told of one");
}

fn readable(rig: &Rig) {
    let place = rig.place();
    let more = tempfile::tempdir().expect("a directory");
    crate::rig::open_to_all(more.path());
    std::fs::write(more.path().join("library"), "of the host\n").expect("ours");
    let path = more.path().display();
    let script = format!("cat {path}/library; touch {path}/new; ls {path}");
    assert!(!place.sh(&script).contains("of the host"), "it was not given");
    let given = rig.with(Settings { readable: vec![found(more.path())], ..settings() });
    let text = given.sh(&script);
    assert!(text.contains("of the host\n") && text.ends_with("library\n"), "{text}");
}
