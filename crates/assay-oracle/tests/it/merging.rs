//! Several reports as one.

use assay_oracle::{Answer, CheckReport, merge};

const ALL: [Answer; 4] =
    [Answer::Upheld, Answer::Refuted, Answer::Undecided, Answer::NothingChecked];

#[test]
fn answers_merge_in_any_order_and_grouping() {
    for a in ALL {
        assert_eq!(a.merge(a), a, "idempotent");
        for b in ALL {
            assert_eq!(a.merge(b), b.merge(a), "commutative: {a:?} {b:?}");
            for c in ALL {
                assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)), "{a:?} {b:?} {c:?}");
            }
        }
    }
}

#[test]
fn nothing_raises_an_answer() {
    for a in ALL {
        assert_eq!(a.merge(Answer::Refuted), Answer::Refuted);
        for b in ALL {
            let passes = a.merge(b) == Answer::Upheld;
            assert_eq!(passes, a == Answer::Upheld && b == Answer::Upheld, "{a:?} {b:?}");
        }
    }
    assert_eq!(merge(&[]).answer, Answer::NothingChecked);
}

#[test]
fn a_merged_report_names_the_part_that_checked_nothing() {
    let mut good = CheckReport::new("one", 10);
    (good.answer, good.ops_checked) = (Answer::Upheld, 10);
    good.evidence.push("10 found".into());
    good.seconds = Some(1.5);
    let empty = CheckReport::new("two", 10);
    let whole = merge(&[good.clone(), empty]);
    assert_eq!((whole.answer, &*whole.checker), (Answer::Undecided, "one + two"));
    assert_eq!(whole.undecided_because, ["two: nothing was checked"]);
    assert_eq!(whole.evidence, ["one: 10 found"]);
    assert_eq!((whole.ops_in, whole.seconds), (10, Some(1.5)));
    assert_eq!(merge(&[good.clone(), good]).answer, Answer::Upheld);
}

#[test]
fn a_report_is_data_for_programs() {
    let oracle = assay_oracle::named("no-lost-ack").unwrap();
    let bad = oracle.planted_bad();
    let report = oracle.check(&bad.history, &bad.options).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["answer"], "refuted");
    assert_eq!(json["anomalies"][0]["kind"], "lost-ack");
    let facts = &json["anomalies"][0]["certificate"]["facts"];
    assert_eq!(facts[1]["claim"], "before");
    assert_eq!(facts[1]["args"], serde_json::json!([1, 2, 0]));
}
