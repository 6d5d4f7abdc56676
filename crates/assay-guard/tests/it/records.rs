//! Configurations, patterns of paths, and records of approvals.

use assay_guard::Config;
use assay_guard::approval::{Approval, Cause, is_agent};
use assay_guard::config::matches;

#[test]
fn patterns_fit_files_directories_and_stars() {
    for (pattern, path, fits) in [
        ("docs", "docs/a.md", true),
        ("docs/", "docs/a/b.md", true),
        ("docs", "docsx/a.md", false),
        ("*.md", "a.md", true),
        ("*.md", "docs/a.md", false),
        ("**/*.md", "docs/a/b.md", true),
        ("vendor/**", "vendor/a/b.rs", true),
        ("a/*/c.rs", "a/b/c.rs", true),
        ("a/*/c.rs", "a/b/d/c.rs", false),
        ("a/**/c.rs", "a/b/d/c.rs", true),
        ("**", "anything", true),
    ] {
        assert_eq!(matches(pattern, path), fits, "{pattern} {path}");
    }
}

#[test]
fn a_configuration_is_read_or_refused_with_the_reason() {
    let config = Config::parse("[guard]\nignore = [\"a\"]\n[guard.rules]\nT12 = \"off\"\n");
    assert!(config.expect("it is good").ignores("a/b"));
    for (text, part) in [
        ("[guard]\nignored = []\n", "ignored"),
        ("[guard.rules]\nT99 = \"off\"\n", "T99"),
        ("[guard.rules]\nT12 = \"never\"\n", "never"),
        ("[guard\n", "1"),
    ] {
        let error = Config::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(Config::parse("[other]\nx = 1\n").is_ok(), "tables of others are left alone");
}

#[test]
fn agents_are_known_by_words_and_addresses_and_people_are_not() {
    let config = Config::default();
    for name in ["Claude", "claude-code <noreply@anthropic.com>", "dependabot[bot]", "Codex Agent"]
    {
        assert!(is_agent(name, &config), "{name}");
    }
    for name in ["Ann Miller", "Claudette Roy", "Agenta Moss <agenta@example.org>", "Bea"] {
        assert!(!is_agent(name, &config), "{name}");
    }
}

#[test]
fn a_record_survives_being_written_and_is_refused_for_what_it_lacks() {
    let record = Approval {
        rule: "T03".into(),
        object: "Bank!Inv".into(),
        old_hash: "a".into(),
        new_hash: "b".into(),
        old_text: "x\n\"y\"".into(),
        new_text: String::new(),
        cause: Cause::Bug,
        because: "it was wrong".into(),
        meant: String::new(),
        trace: String::new(),
        replaced_by: vec!["Inv2".into()],
        by: "Bea".into(),
        date: "2026-11-17".into(),
        quote: "drop it".into(),
        source: "mail".into(),
    };
    assert_eq!(Approval::parse(&record.to_toml()), Ok(record.clone()));
    let config = Config::default();
    let plans = [("docs/plan.md".to_string(), "we will  Drop it then".to_string())];
    let agent = ["Bea <bea-bot@example.org>".to_string()];
    assert_eq!(record.refusal(&[], &[], &config), None);
    let why = |record: &Approval, authors: &[String], plans: &[(String, String)]| {
        record.refusal(authors, plans, &config).map_or(String::new(), |r| r.to_string())
    };
    assert!(why(&record, &[], &plans).contains("quotes a plan"));
    assert!(why(&record, &agent, &[]).contains("made the change itself"));
    for (changed, part) in [
        (Approval { by: "copilot".into(), ..record.clone() }, "agent"),
        (Approval { cause: Cause::Unknown, ..record.clone() }, "unknown"),
        (Approval { quote: " ".into(), ..record.clone() }, "quote"),
        (Approval { source: "docs/testing-plans/x.md".into(), ..record.clone() }, "plan"),
    ] {
        assert!(why(&changed, &[], &[]).contains(part), "{part}");
    }
    assert!(Approval::parse("rule = 3").is_err());
}
