//! Pages about plans: rules of the lint, techniques, faults, pitfalls, landing signals.

use assay_plan::catalogue::{PITFALLS, SELECTOR, TECHNIQUES};
use assay_plan::faults::{FAULTS, Fault, Rights};
use assay_plan::landing::{SIGNALS, Side};
use assay_plan::rules::RULES;

type Page = (String, String, String);

/// Every rule, and the lists.
pub fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = RULES
        .iter()
        .map(|rule| (rule.code.to_string(), rule.title.to_string(), rule.page()))
        .collect();
    pages.push(("technique".into(), "techniques: which for what".into(), technique_list()));
    pages.push(("fault".into(), "faults a plan may name".into(), fault_list()));
    pages.push(("pitfall".into(), "sixteen pitfalls to think of".into(), pitfall_list()));
    pages.push(("signal".into(), "signals that prove a fault landed".into(), signal_list()));
    pages
}

/// `technique NAME`, `fault ID`, `pitfall N`.
pub fn entries() -> Vec<Page> {
    let techniques = TECHNIQUES
        .iter()
        .map(|t| (format!("technique {}", t.name), first_sentence(t.when), t.page()));
    let faults = FAULTS.iter().flat_map(|fault| {
        let names = std::iter::once(fault.id).chain(fault.aliases.iter().copied());
        names.map(|name| (format!("fault {name}"), fault.title.to_string(), fault_page(fault)))
    });
    let pitfalls = PITFALLS.iter().map(|pitfall| {
        (format!("pitfall {}", pitfall.number), pitfall.title.to_string(), pitfall.page())
    });
    techniques.chain(faults).chain(pitfalls).collect()
}

fn first_sentence(text: &str) -> String {
    text.split('.').next().unwrap_or(text).to_string()
}

fn technique_list() -> String {
    let mut text = String::new();
    for technique in &TECHNIQUES {
        text += &format!("{:<30} {}\n", technique.name, technique.when);
    }
    text += "\nWhich for what:\n";
    for (suspicion, names) in SELECTOR {
        text += &format!("- {suspicion}: {}\n", names.join(", "));
    }
    text + "\nassay explain technique NAME has the details."
}

fn fault_list() -> String {
    let mut text = String::new();
    for fault in &FAULTS {
        let rights = match fault.rights {
            Rights::None => String::new(),
            rights => format!(" (needs {})", rights.words()),
        };
        text += &format!("{:<14} {}{rights}\n", fault.id, fault.title);
    }
    text + "\nassay explain fault ID has the details."
}

fn fault_page(fault: &Fault) -> String {
    let rights = fault.rights.words();
    let aliases = match fault.aliases {
        [] => String::new(),
        names => format!("Also called: {}\n\n", names.join(", ")),
    };
    let options: String = fault
        .options()
        .iter()
        .map(|option| format!("\n  {:<9} {} ({})", option.name, option.about, option.worth.words()))
        .collect();
    let options = if options.is_empty() { " none".to_string() } else { options };
    format!(
        "{aliases}How: {}\n\nEvidence: {}\n\nHeal: {}\n\nBeware: {}\n\nRights: {rights}\n\n\
         Options in `with` (what it takes; what it is unless given):{options}",
        fault.how, fault.evidence, fault.heal, fault.caveat
    )
}

fn pitfall_list() -> String {
    let row = |p: &assay_plan::catalogue::Pitfall| format!("{:>2}  {}\n", p.number, p.title);
    let rows: String = PITFALLS.iter().map(row).collect();
    rows + "\nassay explain pitfall N has the details."
}

fn signal_list() -> String {
    let mut text = String::new();
    for (side, name) in [(Side::Injector, "Injector"), (Side::Victim, "Victim")] {
        text += &format!("{name}:\n");
        for signal in SIGNALS.iter().filter(|signal| signal.side == side) {
            let unit = if signal.is_time { " (a time)" } else { "" };
            text += &format!("  {:<16} {}{unit}\n", signal.name, signal.about);
        }
    }
    text + "  log(\"text\")      lines of a node's log with this text\n  metric(\"name\")   rise \
        of a \
            metric the system exports"
}
