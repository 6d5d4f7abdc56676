//! Descriptions that are wrong, each with the line and the words of its message.

use super::SystemSpec;

/// A small description that is right; line numbers in the table count from its first line.
const BASE: &str = r#"about = "a server"
requires = ["sh"]
[nodes]
default = 3
allowed = [1, 3]
[ports]
http = ["peers", "clients"]
admin = []
[options.level]
about = "how much"
default = 1
[options.names]
about = "which"
default = []
[options.sync]
about = "whether"
default = true
[node]
command = ["server", "{listen.http}"]
ready = { get = "http:/ok" }
[roles.leader]
get = "http:/status"
pointer = "/role"
equals = "leader"
[signals.count]
get = "http:/status"
pointer = "/n"
[quiescence.pending]
get = "http:/status"
equal = ["/a", "/b"]
[client]
builtin = "kv"
retries = "none"
"#;

/// Replaces a text of [`BASE`] and wants a message at a line; no message if `expected` is empty.
fn check(from: &str, to: &str, line: usize, expected: &str) {
    assert!(BASE.contains(from), "{from}");
    let read = SystemSpec::parse("s", "systems/s.toml", &BASE.replace(from, to));
    match read {
        Ok(_) => assert_eq!(expected, "", "{to}"),
        Err(error) => {
            let message = error.to_string();
            let start = format!("systems/s.toml:{line}: ");
            assert!(message.starts_with(&start), "{to}: {message}");
            assert!(!expected.is_empty() && message.contains(expected), "{to}: {message}");
        }
    }
}

#[test]
fn what_is_right_is_taken() {
    check("[client]", "[client]", 0, "");
    check("admin = []", "admin = [\"direct\"]", 0, "");
    check("admin = []", "admin = [\"peers\", \"datagrams\"]", 0, "");
    check("[roles.leader]", "ordinary = [\"it is fine\"]\n[roles.leader]", 0, "");
    check("[node]", "[node]\nenvironment = { L = \"{option.level}\", N = \"{name}\" }", 0, "");
    check("\"{listen.http}\"", "{ when = \"sync\", words = [\"-s\", \"{id}\"] }", 0, "");
    check(
        "get = \"http:/status\"\npointer = \"/n\"",
        "command = [\"x\", \"{address.http}\"]",
        0,
        "",
    );
    check("get = \"http:/status\"\npointer = \"/n\"", "log = \"lost\"", 0, "");
    check("builtin = \"kv\"", "command = [\"{here}/adapter\", \"{names}\"]", 0, "");
}

#[test]
fn keys_and_values_nobody_knows_are_refused_with_their_line() {
    check(
        "about = \"a server\"",
        "about = \"a server\"\nabuot = \"x\"",
        2,
        "unknown field `abuot`",
    );
    check("ready = {", "ready = { wihtin = \"5s\",", 20, "unknown field `wihtin`");
    check("ready = {", "ready = { within = \"5\",", 20, "no time such as 500ms");
    check("about = \"a server\"", "about = \"a server", 1, "string");
    check("about = \"a server\"\n", "", 1, "missing field `about`");
    check("\"http:/ok\"", "\"/ok\"", 20, "is not `PORT:/path`");
    check("retries = \"none\"", "retries = \"some\"", 33, "unknown variant `some`");
    check("[\"peers\", \"clients\"]", "[\"peers\", \"client\"]", 7, "unknown variant `client`");
    check("admin = []", "admin = [\"direct\", \"peers\"]", 8, "`direct` stands alone");
    check("admin = []", "admin = [\"datagrams\"]", 8, "say who as well");
    check("\"clients\"]", "\"clients\", \"datagrams\"]", 20, "nothing can be asked there");
}

#[test]
fn placeholders_must_be_known_and_filled_by_somebody() {
    let word = "\"{listen.http}\"";
    check(word, "\"{lisen.http}\"", 19, "there is no placeholder `{lisen.http}`");
    check(word, "\"{listen.raft}\"", 19, "no port `raft`: add it to [ports]");
    check(word, "\"{option.speed}\"", 19, "nobody declared the option `speed`");
    check(word, "\"{item}\"", 19, "only in a group over an option");
    check(word, "\"{link.http}\"", 19, "only in a group with each");
    check(word, "\"{address.http}\"", 19, "probes have addresses");
    check(word, "\n\"a\",\n\"{nope}\"", 21, "there is no placeholder `{nope}`");
    check(word, "{ each = \"peers\", words = [\"{link.admin}\"] }", 19, "is not for peers");
    check(word, "{ each = \"peers\", words = [\"{item}\"] }", 19, "only in a group over an option");
    check(word, "{ each = \"level\", words = [\"{item}\"] }", 19, "an option that is a list");
    check(word, "{ when = \"level\", words = [\"x\"] }", 19, "default is true or false");
    check(word, "{ words = [\"x\"] }", 19, "either `each` or `when`");
    check(word, "{ eech = \"peers\", words = [\"x\"] }", 19, "unknown field `eech`");
    check(word, "7", 19, "a text, or a group");
    check("command = [\"server\", \"{listen.http}\"]", "command = []", 19, "at least the program");
    let client = "builtin = \"kv\"";
    check(client, "command = [\"a\", \"{id}\"]", 32, "no single node here");
    check(client, "command = [\"a\", \"{listen.http}\"]", 32, "only a node's own command");
}

#[test]
fn parts_that_contradict_each_other_are_refused() {
    check("default = 3", "default = 4", 4, "4 nodes are not among those allowed");
    check("[1, 3]", "[1, 3, 99]", 5, "1 to 32 nodes");
    check("[options.names]", "[options.peers]", 12, "cannot be called `peers`");
    check("[options.names]", "[options.generator]", 12, "clients find the workload there");
    check("default = []", "default = [\"x\"]\nvalues = [\"y\"]", 14, "is none of \"y\"");
    check("{ get = \"http:/ok\" }", "{ connect = \"x\" }", 20, "no port `x`");
    check("{ get = \"http:/ok\" }", "{ connect = \"http\", log = \"a\" }", 20, "one of `get`");
    check("equals = \"leader\"\n", "", 21, "needs `pointer` and `equals`");
    check("pointer = \"/n\"\n", "", 25, "needs a `pointer`");
    check("pointer = \"/n\"", "pointer = \"n\"", 27, "begin it with `/`");
    check("get = \"http:/status\"\npointer = \"/n\"\n", "", 25, "one of `get`");
    check("[\"/a\", \"/b\"]", "[\"/a\"]", 30, "one value is always equal");
    check("equal = [\"/a\", \"/b\"]\n", "", 28, "what is to hold?");
    check("builtin = \"kv\"", "builtin = \"vk\"", 32, "no client `vk` is built in: etcd, kv");
    check("builtin = \"kv\"", "builtin = \"kv\"\nmaelstrom = true", 31, "one of `builtin`");
    check("builtin = \"kv\"", "maelstrom = true", 6, "have no ports");
    check("retries = \"none\"", "retries = \"hidden\"", 33, "say in `reason`");
    check("\"peers\", \"clients\"", "\"peers\"", 6, "no port is for clients");
    check("admin = []", "admin = [\"clients\"]", 31, "name one with `port`");
    check("retries = \"none\"", "retries = \"none\"\nport = \"admin\"", 34, "is not for clients");
}
