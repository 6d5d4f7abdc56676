//! What a `pom.xml` tells the plugins that test and check.

use super::flat::Setting;

/// How deep elements may be nested, and how many settings are looked at.
const DEPTH_MAX: usize = 60;
const SETTINGS_MAX: usize = 50_000;

/// Words in the names of plugins that test or check something.
const PLUGINS: [&str; 8] =
    ["surefire", "failsafe", "jacoco", "checkstyle", "pmd", "spotbugs", "enforcer", "pitest"];

/// The settings below plugins that check something, and properties; a plugin has the name of its
/// artifact. Nothing if elements do not end as they began.
pub fn settings(source: &str) -> Option<Vec<Setting>> {
    let all = elements(source)?;
    let checks = |setting: &Setting| {
        let of_plugin = |part: &String| PLUGINS.iter().any(|word| part.contains(word));
        setting.path.iter().any(|part| of_plugin(part) || part == "properties")
    };
    Some(all.into_iter().filter(checks).collect())
}

/// An element that is open: its name, where its settings begin, and whether it has elements.
struct Open {
    name: String,
    first: usize,
    parent: bool,
}

fn elements(source: &str) -> Option<Vec<Setting>> {
    let mut found: Vec<Setting> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let (mut rest, mut line, mut text) = (source, 1, String::new());
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        line += rest[..at].matches('\n').count();
        rest = &rest[at..];
        let end = match rest {
            _ if rest.starts_with("<!--") => rest.find("-->")? + 3,
            _ => rest.find('>')? + 1,
        };
        let tag = &rest[..end];
        rest = &rest[end..];
        line += tag.matches('\n').count();
        if tag.starts_with("<!") || tag.starts_with("<?") || tag.ends_with("/>") {
            continue;
        }
        if let Some(name) = tag.strip_prefix("</") {
            let own = open.pop().filter(|own| own.name == name.trim_end_matches('>').trim())?;
            close(&own, &open, text.trim(), line, &mut found);
        } else {
            let name = tag[1..].split([' ', '>', '\n', '\t']).next().unwrap_or_default();
            open.last_mut().into_iter().for_each(|outer| outer.parent = true);
            open.push(Open { name: name.to_string(), first: found.len(), parent: false });
        }
        text.clear();
        if open.len() > DEPTH_MAX || found.len() > SETTINGS_MAX {
            return None;
        }
    }
    open.is_empty().then_some(found)
}

fn close(own: &Open, outer: &[Open], text: &str, line: usize, found: &mut Vec<Setting>) {
    if !own.parent {
        let names = outer.iter().map(|open| open.name.clone());
        let path = names.chain([own.name.clone()]).collect();
        found.push(Setting { path, value: text.to_string(), line });
        return;
    }
    if own.name != "plugin" {
        return;
    }
    let depth = outer.len();
    let own_name =
        |setting: &&Setting| setting.path.len() == depth + 2 && setting.key() == "artifactId";
    let artifact = found[own.first..].iter().find(own_name).map(|setting| setting.value.clone());
    for setting in &mut found[own.first..] {
        setting.path[depth] = artifact.clone().unwrap_or_else(|| own.name.clone());
    }
}
