//! What a tool tries to reach and must not: files, the environment, a life after its call, the
//! network.

use crate::rig::{Place, Rig, is_running, open_to_all, settings, wait_until};
use crate::{SECRET, SECRET_NAME, Test};
use assay_sandbox::{Capability, End, Limits, Network, Provider, Settings, Workspace};
use serde_json::json;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::time::Duration;

pub const TESTS: &[Test] = &[
    ("a_tool_cannot_read_the_ledger_or_the_master_key", &[Capability::Files], reads),
    ("a_tool_cannot_change_the_ledger", &[Capability::Files], changes),
    ("a_tool_cannot_read_the_files_of_another_session", &[Capability::Files], other_session),
    ("a_tool_cannot_see_the_environment_of_the_host", &[Capability::Environment], environment),
    ("a_tool_cannot_outlive_its_call", &[Capability::Lifetime], outlives),
    ("a_tool_cannot_end_its_keeper", &[Capability::Lifetime], keeper),
    ("a_tool_cannot_reach_the_network_when_it_is_off", &[Capability::NetworkOff], network),
    ("file_tools_do_not_follow_links_out", &[Capability::Files], links),
    ("a_tool_has_no_rights_to_give_away", &[Capability::SystemCalls], rights),
];

/// The attack fails in the sandbox, and succeeds without one: otherwise it would show nothing.
fn must_need_a_sandbox(rig: &Rig, attack: fn(&Place) -> bool) {
    assert!(!attack(&rig.place()), "it succeeded in a sandbox");
    assert!(attack(&rig.unprotected()), "it failed without a sandbox, so it shows nothing");
}

fn reads(rig: &Rig) {
    must_need_a_sandbox(rig, |place| {
        let ledger = place.outside("ledger.sqlite", SECRET);
        let key = place.outside("master.key", SECRET);
        let (ledger, key) = (ledger.display(), key.display());
        let attempts = [
            format!("cat {ledger}"),
            format!("cat < {key}"),
            "cat ../../master.key ../../../master.key ../../ledger.sqlite".to_string(),
            format!("ln -s {key} link; cat link"),
            format!("ln {key} hard; cat hard; cp {key} copy; cat copy"),
            format!("for p in /proc/[0-9]*/root; do cat $p{key}; done"),
            format!("for p in /proc/[0-9]*/cwd; do cat $p/{key} $p/../master.key; done"),
            format!("grep -r {SECRET} /tmp /var /root /home /mnt /opt /srv"),
        ];
        let run = |attempt: &String| place.sh(&format!("({attempt}) 2>/dev/null; true"));
        attempts.iter().any(|attempt| run(attempt).contains(SECRET))
    });
}

fn changes(rig: &Rig) {
    must_need_a_sandbox(rig, |place| {
        let ledger = place.outside("ledger.sqlite", SECRET);
        let shown = ledger.display();
        let attempts = [
            format!("echo x > {shown}"),
            format!("echo x >> {shown}"),
            format!("rm -f {shown}"),
            format!("truncate -s 0 {shown}"),
            format!("mv {shown} stolen"),
            "echo x > ../../ledger.sqlite".to_string(),
            format!("ln -s {shown} link; echo x > link"),
            format!("touch {}/new", place.root.path().display()),
        ];
        attempts.iter().any(|attempt| {
            place.sh(&format!("({attempt}) 2>/dev/null; true"));
            let is_same = std::fs::read_to_string(&ledger).is_ok_and(|text| text == SECRET);
            !is_same || place.path("new").exists()
        })
    });
}

fn other_session(rig: &Rig) {
    must_need_a_sandbox(rig, |place| {
        let other = Workspace::create(&place.path("other")).expect("a workspace");
        let file = other.files().join("file");
        std::fs::write(&file, SECRET).expect("ours");
        [other.session(), &other.files(), &file].into_iter().for_each(open_to_all);
        let shown = file.display();
        let text = place.sh(&format!("cat {shown} ../../other/workspace/file; true"));
        let text = text + &place.call("read", json!({ "path": "../../other/workspace/file" })).text;
        text.contains(SECRET)
    });
}

fn environment(rig: &Rig) {
    must_need_a_sandbox(rig, |place| {
        let seen = place
            .sh("(env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n') | grep -a ASSAY");
        assert!(seen.contains("ASSAY_WORKSPACE="), "its own is there: {seen}");
        assert!(std::env::var(SECRET_NAME).is_ok_and(|value| value == SECRET));
        seen.contains(SECRET)
    });
    let mut given = settings();
    given.environment.insert("GIVEN".to_string(), "on purpose".to_string());
    assert_eq!(rig.with(given).sh("echo $GIVEN"), "on purpose\n");
}

/// Each leaves a process behind that has said it is there before the call ends.
fn outlives(rig: &Rig) {
    let sleep = |number: u32| format!("sleep 86400.{}{number}", std::process::id());
    let attempts = [
        "MARK &",
        "setsid sh -c 'MARK' >/dev/null 2>&1 </dev/null &",
        "(setsid sh -c '(setsid sh -c \"touch alive; MARK\" &) &' >/dev/null 2>&1 &)",
        "nohup setsid sh -c 'trap \"\" TERM HUP INT; touch alive; MARK' >/dev/null 2>&1 &",
        "(trap '' TERM; setsid sh -c 'exec >&- 2>&- <&-; touch alive; exec MARK' &)",
    ];
    for (number, attempt) in (0..).zip(attempts) {
        let (place, mark) = (rig.place(), sleep(number));
        let attempt = attempt.replace("MARK", &mark);
        let waits = match attempt.contains("alive") {
            true => "until [ -e alive ]; do sleep 0.01; done; ",
            false => "",
        };
        let text = place.sh(&format!("{attempt}\n{waits}echo started"));
        assert!(text.contains("started"), "{attempt}: {text}");
        assert!(!is_running(&mark), "{attempt}: it is still there");
    }
    // The look for it can see it.
    let mark = sleep(99);
    let seconds = mark.strip_prefix("sleep ").expect("it sleeps");
    let mut child = std::process::Command::new("sleep").arg(seconds).spawn().expect("it starts");
    wait_until("it to be seen", || is_running(&mark));
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    // A bomb of forks ends with its call as well; one without a limit is not lit.
    if !rig.provider.capabilities().has(Capability::Processes) {
        return;
    }
    let limits = Limits { wall: Duration::from_secs(4), processes: 40, ..settings().limits };
    let place = rig.with(Settings { limits, ..settings() });
    let mark = sleep(100);
    let end = place.end(&format!("bomb() {{ {mark} & bomb | bomb; }}; bomb & {mark}"));
    assert!(matches!(end, End::TimeLimit | End::Exited(_)), "{end:?}");
    assert!(!is_running(&mark), "a bomb went on");
}

fn keeper(rig: &Rig) {
    let (place, mark) = (rig.place(), format!("sleep 86401.{}", std::process::id()));
    place.sh(&format!("setsid {mark} & kill -9 $PPID; kill -9 1; echo alive"));
    assert!(!is_running(&mark), "who ended its keeper lives on");
    assert_eq!(place.sh("echo again"), "again\n", "the sandbox goes on");
}

fn network(rig: &Rig) {
    let attack = |place: &Place| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("ours");
        let greet = |listener: &TcpListener| {
            listener.accept().is_ok_and(|(mut peer, _)| peer.write_all(SECRET.as_bytes()).is_ok())
        };
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected; echo x > /dev/udp/192.0.2.1/9 && \
             echo sent; cat /proc/net/route | grep 00000000 && echo routed; true"
        );
        let text = place.sh(&script);
        greet(&listener) || ["connected", "sent"].iter().any(|word| text.contains(word))
    };
    assert!(!attack(&rig.place()), "there is a network");
    let open = Settings { network: Network::Open, ..settings() };
    assert!(attack(&rig.with(open)), "there is none when it is open, so this shows nothing");
}

fn links(rig: &Rig) {
    let place = rig.place();
    let key = place.outside("master.key", SECRET);
    let files = place.workspace.files();
    symlink(&key, files.join("file")).expect("ours");
    symlink(place.root.path(), files.join("directory")).expect("ours");
    symlink("../../master.key", files.join("relative")).expect("ours");
    symlink("directory/master.key", files.join("twice")).expect("ours");
    symlink("/proc/self/root/etc/passwd", files.join("magic")).expect("ours");
    for path in ["file", "directory/master.key", "relative", "twice", "magic", "../../master.key"] {
        let read = place.call("read", json!({ "path": path }));
        assert!(read.is_error && !read.text.contains(SECRET), "{path}: {}", read.text);
        let write = place.call("write", json!({ "path": path, "content": "changed" }));
        assert!(write.is_error, "{path}: {}", write.text);
        let edit = json!({ "path": path, "old_string": "not", "new_string": "x" });
        assert!(place.call("edit", edit).is_error, "{path}");
    }
    let new = place.call("write", json!({ "path": "directory/new", "content": "x" }));
    assert!(new.is_error && !place.path("new").exists(), "{}", new.text);
    assert_eq!(std::fs::read_to_string(&key).expect("readable"), SECRET);
    for (tool, input) in [
        ("grep", json!({ "pattern": "seen" })),
        ("grep", json!({ "pattern": "seen", "path": "directory" })),
        ("glob", json!({ "pattern": "**/master.key" })),
        ("glob", json!({ "pattern": "*.key", "path": "directory" })),
    ] {
        let text = place.call(tool, input.clone()).text;
        assert!(!text.contains("master.key\n") && !text.contains(SECRET), "{input}: {text}");
    }
    // Links that stay inside are fine.
    std::fs::create_dir(files.join("d")).expect("ours");
    std::fs::write(files.join("d/inner"), "fine\n").expect("ours");
    symlink("d/inner", files.join("inside")).expect("ours");
    std::fs::set_permissions(files.join("d"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    assert!(place.call("read", json!({ "path": "inside" })).text.contains("fine"));
}

/// No capability, no way to become root again, no namespaces of its own.
fn rights(rig: &Rig) {
    let place = rig.place();
    let status = place.sh("cat /proc/self/status; id -u");
    if rig_has_root(&status) {
        for line in ["CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"] {
            assert!(status.contains(line), "{line} in {status}");
        }
    }
    assert_ne!(status.lines().last(), Some("0"), "nobody inside is root");
    for attempt in [
        "unshare -Ur true && echo worked",
        "unshare -m true && echo worked",
        "mount -t tmpfs none /tmp && echo worked",
        "chroot / true && echo worked",
        "mknod device b 8 0 && echo worked",
    ] {
        let text = place.sh(attempt);
        assert!(!text.contains("worked"), "{attempt}: {text}");
    }
    let bare = rig.unprotected().sh("unshare -Ur true && echo worked");
    assert!(bare.contains("worked"), "it does not work without a sandbox either: {bare}");
}

/// Without a root directory of its own there is no /proc to look at.
fn rig_has_root(status: &str) -> bool {
    status.contains("CapPrm")
}
