//! PostgreSQL 15 or newer.

use crate::client::{
    PATIENCE, SHORT, call, check, dump, kind, open, output, output_after_resume, refusal,
    run_generator,
};
use crate::server::{Server, directory, free_address, program};
use assay_drivers::Client;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const NULL: Value = Value::Null;
const SETTINGS: &[&str] = &[
    "unix_socket_directories=",
    "fsync=off",
    "wal_level=replica",
    "wal_retrieve_retry_interval=100",
    "max_connections=50",
];

/// A command of PostgreSQL, as a user it agrees to serve: it refuses to run as root.
fn command(name: &str) -> Command {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let places: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    let places: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
    let program = program(name, &places, "postgresql-15");
    if !rustix::process::getuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn run(command: &mut Command) -> String {
    let said = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(said.status.success(), "{command:?}: {}", text(&said.stderr));
    text(&said.stdout)
}

/// A server on data that `fill` puts into the directory it gets.
fn start_on(fill: impl FnOnce(&Path)) -> Server {
    let (directory, address) = (directory(), free_address());
    if rustix::process::getuid().is_root() {
        run(Command::new("chown").arg("postgres").arg(directory.path()));
    }
    let data = directory.path().join("data");
    fill(&data);
    let mut postgres = command("postgres");
    postgres.arg("-D").arg(&data);
    let (host, port) = (address.ip(), address.port());
    let own = [format!("listen_addresses={host}"), format!("port={port}")];
    for setting in own.iter().map(String::as_str).chain(SETTINGS.iter().copied()) {
        postgres.args(["-c", setting]);
    }
    let mut server = Server::start(postgres, address, directory);
    server.until("answers", |server| psql(server, "SELECT 1").status.success());
    server
}

fn start() -> Server {
    start_on(|data| {
        let mut initdb = command("initdb");
        initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"]);
        run(initdb.arg("--locale=C").arg("-D").arg(data).current_dir("/"));
    })
}

fn standby_of(primary: &Server) -> Server {
    let (host, port) = (primary.address.ip().to_string(), primary.address.port().to_string());
    start_on(|data| {
        let mut backup = command("pg_basebackup");
        backup.args(["-h", &host, "-p", &port, "-U", "postgres", "-R", "-c", "fast"]);
        run(backup.arg("--no-sync").arg("-D").arg(data).current_dir("/"));
    })
}

fn psql(server: &Server, statement: &str) -> std::process::Output {
    let (host, port) = (server.address.ip().to_string(), server.address.port().to_string());
    let mut psql = command("psql");
    psql.args(["-h", &host, "-p", &port, "-U", "postgres", "-At", "-c", statement]);
    psql.current_dir("/").output().expect("it runs")
}

/// Has a setting changed in the running server.
fn set(server: &mut Server, name: &str, value: &str) {
    let alter = format!("ALTER SYSTEM SET {name} = '{value}'");
    assert!(psql(server, &alter).status.success(), "{alter}");
    assert!(psql(server, "SELECT pg_reload_conf()").status.success());
    server.until("takes the setting", |server| {
        let shown = psql(server, &format!("SHOW {name}")).stdout;
        String::from_utf8_lossy(&shown).trim() == value
    });
}

fn client(server: &Server, generator: &str, options: Value) -> Box<dyn Client> {
    open("postgres", &[server.address], generator, options)
}

fn txn(micros: Value) -> assay_workload::Call {
    call("txn", "", micros)
}

#[test]
fn postgres_keeps_transactions_registers_and_sets() {
    let server = start();
    let mut lists = client(&server, "list-append", json!({ "isolation": "serializable" }));
    let mut registers = client(&server, "rw-register", json!({ "isolation": "repeatable read" }));
    check(
        lists.as_mut(),
        &[
            (
                "txn",
                "",
                json!([["r", "k0", null], ["append", "k0", 1], ["r", "k0", null]]),
                json!([["r", "k0", null], ["append", "k0", 1], ["r", "k0", [1]]]),
            ),
            ("txn", "", json!([["append", "k0", "x"]]), json!([["append", "k0", "x"]])),
            ("txn", "", json!([["append", "k0", 2], ["w", "k0", 3]]), json!("fail")),
            ("txn", "", json!([["r", "k0", null]]), json!([["r", "k0", [1, "x"]]])),
        ],
    );
    check(
        registers.as_mut(),
        &[
            (
                "txn",
                "",
                json!([["w", "k0", 1], ["w", "k1", "y"]]),
                json!([["w", "k0", 1], ["w", "k1", "y"]]),
            ),
            (
                "txn",
                "",
                json!([["r", "k1", null], ["r", "k2", null]]),
                json!([["r", "k1", "y"], ["r", "k2", null]]),
            ),
        ],
    );
    assert_eq!(output(lists.as_mut(), &dump(0)), json!({ "k0": [1, "x"] }));
    assert_eq!(output(registers.as_mut(), &dump(0)), json!({ "k0": 1, "k1": "y" }));
    check(
        client(&server, "register", json!({})).as_mut(),
        &[
            ("read", "r", NULL, NULL),
            ("cas", "r", json!([5, 6]), json!(false)),
            ("cas", "r", json!([null, 1]), json!(true)),
            ("cas", "r", json!([null, 2]), json!(false)),
            ("cas", "r", json!([1, 3]), json!(true)),
            ("write", "r", json!("it's"), NULL),
            ("read", "r", NULL, json!("it's")),
        ],
    );
    let mut set = client(&server, "set", json!({}));
    check(
        set.as_mut(),
        &[
            ("read", "k0", NULL, json!([])),
            ("add", "k0", json!(7), NULL),
            ("add", "k0", json!("x"), NULL),
            ("contains", "k0", json!(7), json!(true)),
            ("contains", "k0", json!("7"), json!(false)),
            ("read", "k0", NULL, json!(["x", 7])),
        ],
    );
    assert_eq!(output(set.as_mut(), &dump(0)), json!({ "k0": ["x", 7] }));
}

#[test]
fn postgres_keeps_banks_and_ledgers() {
    let server = start();
    let mut bank = client(&server, "bank", json!({}));
    let open = json!({ "account": "a0", "balance": 10 });
    check(
        bank.as_mut(),
        &[
            ("open", "bank", open.clone(), NULL),
            ("open", "bank", open, NULL),
            ("open", "bank", json!({ "account": "a1", "balance": 10 }), NULL),
            ("transfer", "bank", json!({ "from": "a0", "to": "a1", "amount": 4 }), NULL),
            ("transfer", "bank", json!({ "from": "a0", "to": "a1", "amount": 7 }), json!("fail")),
            ("transfer", "bank", json!({ "from": "a1", "to": "a1", "amount": 7 }), NULL),
            ("transfer", "bank", json!({ "from": "a0", "to": "a9", "amount": 1 }), json!("fail")),
            ("read", "bank", NULL, json!({ "a0": 6, "a1": 14 })),
        ],
    );
    assert_eq!(output(bank.as_mut(), &dump(0)), json!({ "a0": 6, "a1": 14 }));
    for (idempotency, balance, entries) in [(true, 5, 1), (false, 10, 2)] {
        let mut ledger = client(&server, "ledger", json!({ "idempotency": idempotency }));
        let credit = ("credit", "k0", json!({ "id": "c0-1", "amount": 5 }), NULL);
        check(
            ledger.as_mut(),
            &[
                ("debit", "k0", json!({ "id": "c0-0", "amount": 1 }), json!("fail")),
                credit.clone(),
                credit,
                ("balance", "k0", NULL, json!(balance)),
                ("debit", "k0", json!({ "id": "c0-2", "amount": 3 }), NULL),
                ("debit", "k0", json!({ "id": "c0-3", "amount": 8 }), json!("fail")),
            ],
        );
        let mut booked = vec![json!({ "id": "c0-1", "amount": 5 }); entries];
        booked.push(json!({ "id": "c0-2", "amount": -3 }));
        assert_eq!(output(ledger.as_mut(), &dump(0)), json!({ "k0": booked }));
    }
}

#[test]
fn postgres_has_words_for_whatever_its_generators_do() {
    let server = start();
    let generators =
        ["list-append", "rw-register", "register", "map", "session", "set", "bank", "ledger"];
    for generator in generators {
        // The registers of transactions are the same as the others.
        assert!(psql(&server, "DROP TABLE IF EXISTS assay_register").status.success());
        run_generator("postgres", &[server.address], generator, json!({}));
    }
}

#[test]
fn postgres_clients_that_begin_together_share_the_table_and_conflicts_are_refused() {
    let server = start();
    let options = json!({ "isolation": "serializable" });
    let mut first = client(&server, "bank", options.clone());
    for account in ["a0", "a1"] {
        let open = json!({ "account": account, "balance": 1000 });
        check(first.as_mut(), &[("open", "bank", open, NULL)]);
    }
    std::thread::scope(|scope| {
        for number in 0..6_u64 {
            let mut bank = client(&server, "bank", options.clone());
            let mut set = client(&server, "set", json!({}));
            let mut ledger = client(&server, "ledger", json!({}));
            scope.spawn(move || {
                check(set.as_mut(), &[("add", "k0", json!(number), NULL)]);
                check(ledger.as_mut(), &[("balance", "k0", NULL, json!(0))]);
                for _ in 0..30 {
                    let move_one = json!({ "from": "a0", "to": "a1", "amount": 1 });
                    let reply = bank.call(&call("transfer", "bank", move_one), PATIENCE);
                    assert_ne!(kind(&reply), json!("unknown"), "{reply:?}");
                }
            });
        }
    });
    let balances = output(first.as_mut(), &call("read", "bank", NULL));
    let sum = balances["a0"].as_i64().zip(balances["a1"].as_i64()).map(|(a, b)| a + b);
    assert_eq!(sum, Some(2000), "{balances}");
    let read = output(client(&server, "set", json!({})).as_mut(), &call("read", "k0", NULL));
    assert_eq!(read, json!([0, 1, 2, 3, 4, 5]));
}

#[test]
fn postgres_that_stops_in_a_call_leaves_it_unknown_only_if_it_can_be_committed() {
    let mut server = start();
    let mut register = client(&server, "register", json!({}));
    let mut lists = client(&server, "list-append", json!({}));
    check(register.as_mut(), &[("write", "k0", json!(1), NULL), ("write", "k1", json!(2), NULL)]);
    output(lists.as_mut(), &txn(json!([["append", "k0", 1]])));
    server.stop();
    let write = register.call(&call("write", "k2", json!(3)), SHORT);
    assert_eq!(kind(&write), json!("unknown"), "{write:?}");
    let read = register.call(&call("read", "k0", NULL), SHORT);
    assert_eq!(kind(&read), json!("fail"), "{read:?}");
    // Its BEGIN was not answered, so its COMMIT was not sent.
    let append = lists.call(&txn(json!([["append", "k0", 2]])), SHORT);
    assert_eq!(kind(&append), json!("fail"), "{append:?}");
    let read = call("read", "k1", NULL);
    let answer = output_after_resume(&mut server, register.as_mut(), &read);
    assert_eq!(answer, json!(2));
    check(register.as_mut(), &[("read", "k1", NULL, json!(2)), ("read", "k0", NULL, json!(1))]);
    let read = output(lists.as_mut(), &txn(json!([["r", "k0", null]])));
    assert_eq!(read, json!([["r", "k0", [1]]]));
}

#[test]
fn a_commit_of_postgres_that_is_not_answered_is_unknown() {
    let mut server = start();
    let mut lists = client(&server, "list-append", json!({}));
    output(lists.as_mut(), &txn(json!([["append", "k0", 1]])));
    // From now on a COMMIT waits for a standby that does not exist.
    set(&mut server, "synchronous_standby_names", "nobody");
    let append = lists.call(&txn(json!([["append", "k0", 2]])), SHORT);
    assert_eq!(kind(&append), json!("unknown"), "{append:?}");
    let read = lists.call(&txn(json!([["r", "k0", null]])), PATIENCE);
    assert_ne!(kind(&read), json!("unknown"), "{read:?}");
    set(&mut server, "synchronous_standby_names", "");
    let read = output(lists.as_mut(), &txn(json!([["r", "k0", null]])));
    assert_eq!(read, json!([["r", "k0", [1, 2]]]), "it was committed all the same");
}

#[test]
fn postgres_that_dies_in_a_call_leaves_it_unknown_and_without_postgres_calls_fail() {
    let mut server = start();
    let mut register = client(&server, "register", json!({}));
    check(register.as_mut(), &[("write", "k0", json!(1), NULL)]);
    server.stop();
    let under_way = std::thread::spawn(move || {
        let reply = register.call(&call("write", "k0", json!(2)), PATIENCE);
        (register, reply)
    });
    server.until_more_is_unread(0);
    server.kill();
    let (mut register, reply) = under_way.join().expect("no panic");
    assert_eq!(kind(&reply), json!("unknown"), "{reply:?}");
    check(register.as_mut(), &[("write", "k0", json!(3), json!("fail"))]);
}

#[test]
fn postgres_clients_follow_the_node_that_takes_writes() {
    let mut primary = start();
    let mut standby = standby_of(&primary);
    let nodes = [standby.address, primary.address];
    let mut client = open("postgres", &nodes, "register", json!({}));
    let decided = |client: &mut dyn Client, value: i64| match client
        .call(&call("write", "k0", json!(value)), PATIENCE)
    {
        assay_workload::Reply::Ok { node, .. } => node,
        _ => None,
    };
    assert_eq!(decided(client.as_mut(), 1).as_deref(), Some("n2"), "its own is in recovery");
    for node in 0..2 {
        standby.until("is copied", |_| output(client.as_mut(), &dump(node)) == json!({ "k0": 1 }));
    }
    primary.kill();
    let reply = client.call(&call("write", "k0", json!(2)), PATIENCE);
    assert!(!matches!(reply, assay_workload::Reply::Ok { .. }), "{reply:?}");
    assert!(psql(&standby, "SELECT pg_promote()").status.success());
    standby.until("takes writes", |_| decided(client.as_mut(), 3).as_deref() == Some("n1"));
    assert_eq!(output(client.as_mut(), &call("read", "k0", NULL)), json!(3));
}

#[test]
fn a_database_that_only_reads_has_refused_the_write() {
    let server = start();
    check(client(&server, "register", json!({})).as_mut(), &[("write", "k0", json!(1), NULL)]);
    let only_reads = "ALTER DATABASE postgres SET default_transaction_read_only = on";
    assert!(psql(&server, only_reads).status.success());
    let mut client = client(&server, "register", json!({}));
    check(client.as_mut(), &[("write", "k0", json!(2), json!("fail"))]);
    check(client.as_mut(), &[("read", "k0", NULL, json!(1))]);
}

#[test]
fn postgres_options_that_mean_nothing_are_errors() {
    let cases = [
        ("bank", json!({ "isolation": "snapshot" }), "`isolation` is \"snapshot\""),
        ("ledger", json!({ "idempotency": 1 }), "`idempotency` is 1"),
        ("set", json!({ "user": 7 }), "`user` is 7"),
        ("queue", json!({}), "nothing for the generator `queue`"),
    ];
    for (generator, options, expected) in cases {
        let message = refusal("postgres", generator, options);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn without_postgres_nothing_is_sent() {
    let nobody = free_address();
    let mut client = open("postgres", &[nobody], "register", json!({}));
    check(client.as_mut(), &[("write", "k0", json!(1), json!("fail"))]);
    assert_eq!(kind(&client.call(&dump(0), PATIENCE)), json!("fail"));
}
