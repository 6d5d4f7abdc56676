//! Porcupine's etcd logs.

use crate::common::{briefs, error_of, op, read_text};
use assay_history::{Order, write_porcupine_log};

fn log(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("INFO  jepsen.util - {line}\n")).collect()
}

#[test]
fn outcomes_follow_porcupine_not_jepsen() {
    let cases = [
        ("0\t:invoke\t:read\tnil", "0\t:ok\t:read\t3", "0 read null null -> ok 3 null"),
        ("0 :invoke :write 3", "0 :ok :write 3", "0 write null 3 -> ok null null"),
        ("0 :invoke :write 3", "0 :fail :write 3", "0 write null 3 -> fail null \"fail\""),
        (
            "0 :invoke :write 3",
            "0 :fail :write :no-leader",
            "0 write null 3 -> fail null \":no-leader\"",
        ),
        (
            "0 :invoke :write 3",
            "0 :info :write :timed-out",
            "0 write null 3 -> unknown null \":timed-out\"",
        ),
        (
            "0 :invoke :read nil",
            "0 :fail :read :timed-out",
            "0 read null null -> unknown null \":timed-out\"",
        ),
        ("0 :invoke :cas [2 4]", "0 :ok :cas [2 4]", "0 cas null [2,4] -> ok true null"),
        ("0 :invoke :cas [2 4]", "0 :fail :cas [2 4]", "0 cas null [2,4] -> ok false null"),
        (
            "0 :invoke :cas [2 4]",
            "0 :info :cas :timed-out",
            "0 cas null [2,4] -> unknown null \":timed-out\"",
        ),
        (
            "0 :invoke :cas [2 4]",
            "0 :fail :cas :timed-out",
            "0 cas null [2,4] -> unknown null \":timed-out\"",
        ),
    ];
    for (invoke, complete, expected) in cases {
        assert_eq!(briefs(&read_text(&log(&[invoke, complete]))), [expected], "{complete}");
    }
}

#[test]
fn lines_are_written_as_they_were_read() {
    let text = log(&[
        "0\t:invoke\t:read\tnil",
        "1\t:invoke\t:cas\t[2 4]",
        "0\t:ok\t:read\t3",
        "1\t:fail\t:cas\t[2 4]",
        "2\t:invoke\t:write\t3",
        "1\t:invoke\t:cas\t[1 2]",
        "2\t:fail\t:write\t:no-leader",
        "1\t:info\t:cas\t:timed-out",
        "2\t:invoke\t:write\t\"a b\"",
        "2\t:ok\t:write\t\"a b\"",
        "0\t:invoke\t:write\t5",
        "0\t:fail\t:write\t5",
        "3\t:invoke\t:read\tnil",
    ]);
    let mut again = Vec::new();
    write_porcupine_log(&read_text(&text), &mut again).expect("all of it can be written");
    assert_eq!(String::from_utf8(again).expect("text"), text);
}

#[test]
fn what_the_lines_cannot_say_is_refused() {
    let refused = |text: &str| {
        let error = write_porcupine_log(&read_text(text), &mut Vec::new()).expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        error.to_string()
    };
    let keys = "{:process 0, :type :invoke, :f :get, :key 1, :value nil}\n\
                {:process 1, :type :invoke, :f :get, :key 2, :value nil}\n";
    assert!(refused(keys).contains("no keys"));
    let cas = "{:process 0, :type :invoke, :f :cas, :value [1 2]}\n\
               {:process 0, :type :fail, :f :cas, :value [1 2], :error \"refused\"}\n";
    assert!(refused(cas).contains("failed for certain"));
    let name = "{:process 0, :type :invoke, :f \"two words\", :value 1}\n";
    assert!(refused(name).contains("no keyword"));
}

#[test]
fn positions_are_lines_and_chatter_is_counted() {
    let text = "starting up\n\n".to_string()
        + &log(&["0 :invoke :write 3", ":nemesis :info :start nil", "0 :ok :write 3"])
        + "done\n";
    let history = read_text(&text);
    assert_eq!((history.meta.order, history.meta.native), (Order::Positions, false));
    assert_eq!(history.meta.records_skipped, 3);
    let op = op(&history, 0);
    assert_eq!((op.invoke_at, op.complete_at, history.line(op.complete_at)), (3, 5, 5));
    assert_eq!((op.invoke_ts, op.complete_ts), (3, Some(5)));
}

#[test]
fn operations_that_never_completed_stay_unknown() {
    let history = read_text(&log(&["0 :invoke :write 3", "1 :invoke :read nil"]));
    assert_eq!(history.ops().filter(|op| op.completed).count(), 0);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let cases = [
        ("0 :begin :read nil", "one of :invoke, :ok, :fail and :info"),
        ("0 :invoke", "expected a value, but the record ends"),
        ("0 :invoke :read", "expected a value, but the record ends"),
        ("0 :invoke :cas [1 2", "not closed"),
        ("0 :invoke :cas 1 2", "the end of the line after the value"),
        ("0 :ok :read 1", "none open"),
    ];
    for (bad, message) in cases {
        let (line, found) = error_of(&log(&["7 :invoke :read nil", bad, "7 :ok :read 1"]));
        assert!(line == 2 && found.contains(message), "{bad}: line {line}: {found}");
    }
}

#[test]
fn a_last_line_without_its_end_may_be_cut_anywhere_and_is_dropped() {
    let whole = log(&["0 :invoke :write 35", "0 :ok :write 35"]);
    let history = read_text(whole.strip_suffix("5\n").unwrap());
    assert_eq!(briefs(&history), ["0 write null 35 -> unknown null null"]);
    assert_eq!(history.meta.torn_tail, Some(2));
}
