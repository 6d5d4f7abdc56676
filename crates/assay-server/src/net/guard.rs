//! Who may be asked on behalf of a session.

use super::client::Target;
use super::lookup::{Names, Unfound};
use super::public::is_public;
use std::net::SocketAddr;
use std::sync::Arc;
use url::{Host, Url};

/// The longest name of a host.
const NAME_MAX: usize = 253;

/// What an environment lets its sessions reach.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Reach {
    /// Nothing.
    #[default]
    Nothing,
    /// Hosts of these names; `*.` in front stands for one label or more.
    Hosts(Vec<String>),
    /// Everything that is public.
    Public,
}

impl Reach {
    /// As the configuration of an environment says.
    pub fn of(config: &serde_json::Value) -> Reach {
        let networking = &config["networking"];
        match networking["type"].as_str() {
            Some("unrestricted") => Reach::Public,
            Some("limited") => {
                let hosts = networking["allowed_hosts"].as_array().into_iter().flatten();
                let hosts: Vec<String> =
                    hosts.filter_map(|host| Some(host.as_str()?.to_lowercase())).collect();
                if hosts.is_empty() { Reach::Nothing } else { Reach::Hosts(hosts) }
            }
            _ => Reach::Nothing,
        }
    }

    /// What it lets the MCP servers of agents be: all public ones, or hosts it leads to anyway.
    pub fn of_servers(config: &serde_json::Value) -> Reach {
        match config["networking"]["allow_mcp_servers"] == true {
            true => Reach::Public,
            false => Reach::of(config),
        }
    }

    /// Whether it leads to a host of this name, in small letters.
    pub fn allows(&self, host: &str) -> bool {
        match self {
            Reach::Nothing => false,
            Reach::Public => true,
            Reach::Hosts(hosts) => hosts.iter().any(|pattern| match pattern.strip_prefix("*.") {
                None => pattern == host,
                Some(suffix) => host
                    .strip_suffix(suffix)
                    .and_then(|front| front.strip_suffix('.'))
                    .is_some_and(|front| !front.is_empty()),
            }),
        }
    }
}

/// Checks a name as environments may have it.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_pattern(text: &str) -> Result<(), &'static str> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.bytes().all(plain)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    if text.len() > NAME_MAX || !name.split('.').all(label) {
        return Err("must be a name of a host, without scheme, port and path; `*.` may lead");
    }
    if name.split('.').count() < 2 {
        return Err("must have at least two labels");
    }
    // The last label of a name is never a number; that of an address always is.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|byte| byte.is_ascii_digit()) || last.to_lowercase().starts_with("0x") {
        return Err("must be a name, not an address");
    }
    Ok(())
}

/// A name that leads to an address nearby, over HTTP without TLS: for trying things out, and only
/// as the operator says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The name of the host.
    pub host: String,
    /// Where it is.
    pub address: SocketAddr,
}

impl std::str::FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let wrong = "must be NAME=ADDRESS:PORT, such as docs.example.test=127.0.0.1:8080";
        let (host, address) = text.split_once('=').ok_or(wrong)?;
        check_pattern(host).map_err(|what| format!("`{host}` {what}"))?;
        if host.starts_with("*.") {
            return Err("must be one name".to_string());
        }
        let address = address.parse().map_err(|_| wrong)?;
        Ok(Origin { host: host.to_lowercase(), address })
    }
}

/// Why nobody is asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GuardError {
    /// Not an address.
    #[error("`{0}` is no address of the web")]
    Url(String),
    /// Not the right kind of address.
    #[error("only https:// on port 443 can be reached, without a user in the address")]
    Scheme,
    /// A number where a name is needed.
    #[error("addresses have to have a name, not a number")]
    Number,
    /// Not allowed.
    #[error("the environment of this session does not allow the host `{0}`")]
    Host(String),
    /// Not found.
    #[error("the host `{0}` cannot be found")]
    Lookup(String),
    /// Not looked for.
    #[error(
        "the host `{0}` was not looked up: too many names are being looked up now, because their \
         name servers are slow; try again later"
    )]
    Busy(String),
    /// Found where nobody may look.
    #[error("the host `{0}` is not on the public network")]
    Private(String),
}

/// Decides what may be reached, and where that is.
#[derive(Clone, Default, Debug)]
pub struct Guard {
    origins: Vec<Origin>,
    names: Names,
    /// For whom it is: a workspace, or nobody in particular.
    whose: Arc<str>,
}

impl Guard {
    /// One that knows these names, which lead nearby, and looks all others up.
    pub fn new(origins: Vec<Origin>, names: Names) -> Guard {
        Guard { origins, names, whose: Arc::default() }
    }

    /// The same for one workspace, which has its share of the places for looking names up.
    pub fn of(&self, workspace: &str) -> Guard {
        Guard { whose: workspace.into(), ..self.clone() }
    }

    /// What a text leads to, by name only.
    ///
    /// # Errors
    /// If it may not be asked, whatever its address.
    pub fn check(&self, url: &Url, reach: &Reach) -> Result<String, GuardError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(GuardError::Scheme);
        }
        let host = match url.host() {
            Some(Host::Domain(host)) => host.trim_end_matches('.').to_lowercase(),
            Some(_) => return Err(GuardError::Number),
            None => return Err(GuardError::Url(url.to_string())),
        };
        let is_plain = url.scheme() == "http" && self.origin(&host).is_some();
        if !is_plain && (url.scheme() != "https" || url.port_or_known_default() != Some(443)) {
            return Err(GuardError::Scheme);
        }
        match reach.allows(&host) {
            true => Ok(host),
            false => Err(GuardError::Host(host)),
        }
    }

    fn origin(&self, host: &str) -> Option<&Origin> {
        self.origins.iter().find(|origin| origin.host == host)
    }

    /// Where to connect: an address that was looked at.
    ///
    /// # Errors
    /// If it may not be asked.
    pub async fn target(&self, url: &Url, reach: &Reach) -> Result<Target, GuardError> {
        let host = self.check(url, reach)?;
        if let Some(origin) = self.origin(&host).filter(|_| url.scheme() == "http") {
            return Ok(Target { host, is_tls: false, addresses: vec![origin.address] });
        }
        let addresses = match self.names.find(&self.whose, &host, 443).await {
            Ok(addresses) => addresses,
            Err(Unfound::Nowhere) => return Err(GuardError::Lookup(host)),
            Err(Unfound::Busy) => return Err(GuardError::Busy(host)),
        };
        // One that is not public is enough: nobody honest has both.
        match addresses.iter().all(|address| is_public(address.ip())) {
            _ if addresses.is_empty() => Err(GuardError::Lookup(host)),
            false => Err(GuardError::Private(host)),
            true => Ok(Target { host, is_tls: true, addresses }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hosts_are_named_exactly_or_by_a_leading_star() {
        let good = "a.b docs.example.com *.example.com *.a.b x-1.y xn--bcher-kva.example";
        for text in good.split_whitespace() {
            assert_eq!(check_pattern(text), Ok(()), "{text}");
        }
        let bad = "localhost *.com * *.*.a.b a.*.b https://a.b a.b:443 a.b/ a.b. .a.b a..b -a.b \
            a-.b 127.0.0.1 1.2.3.0x7f [::1] bücher.example a_b.c";
        for text in bad.split_whitespace() {
            assert!(check_pattern(text).is_err(), "{text}");
        }
        assert!(check_pattern("").is_err());
    }

    #[test]
    fn a_name_is_allowed_only_if_the_environment_says_so() {
        let hosts = json!({"networking": {"type": "limited",
            "allowed_hosts": ["Docs.Example.com", "*.wild.example"]}});
        let reach = Reach::of(&hosts);
        for (host, expected) in [
            ("docs.example.com", true),
            ("example.com", false),
            ("x.docs.example.com", false),
            ("docs.example.com.evil.org", false),
            ("a.wild.example", true),
            ("a.b.wild.example", true),
            ("wild.example", false),
            (".wild.example", false),
            ("evilwild.example", false),
        ] {
            assert_eq!(reach.allows(host), expected, "{host}");
        }
        let none = json!({"networking": {"type": "limited", "allowed_hosts": []}});
        assert_eq!(Reach::of(&none), Reach::Nothing);
        assert_eq!(Reach::of(&json!({})), Reach::Nothing, "what is not said is not allowed");
    }

    #[tokio::test]
    async fn what_could_lead_inside_is_refused_before_anybody_is_asked() {
        let origin: Origin = "near.example.test=127.0.0.1:9".parse().expect("well-formed");
        let guard = Guard::new(vec![origin], Names::new());
        let cases = [
            ("http://near.example.test/x", ""),
            ("https://near.example.test:8443/", "port 443"),
            ("http://far.example.test/", "only https"),
            ("https://user:secret@far.example.test/", "without a user"),
            ("https://127.0.0.1/", "a name, not a number"),
            ("https://2130706433/", "a name, not a number"),
            ("https://0x7f.1/", "a name, not a number"),
            ("https://[::1]/", "a name, not a number"),
            ("https://[::ffff:a9fe:a9fe]/", "a name, not a number"),
            ("ftp://far.example.test/", "only https"),
            ("file:///etc/passwd", "no address"),
            ("https://localhost/", "not on the public network"),
            ("https://localhost./", "not on the public network"),
        ];
        for (text, expected) in cases {
            let url = Url::parse(text).expect(text);
            let said = match guard.target(&url, &Reach::Public).await {
                Ok(target) => {
                    assert_eq!(target.addresses, ["127.0.0.1:9".parse().expect("an address")]);
                    String::new()
                }
                Err(error) => error.to_string(),
            };
            assert!(
                said.contains(expected) && said.is_empty() == expected.is_empty(),
                "{text}: {said}"
            );
        }
        let url = Url::parse("http://near.example.test/").expect("an address");
        let refused = guard.target(&url, &Reach::Nothing).await.expect_err("not allowed");
        assert_eq!(refused, GuardError::Host("near.example.test".into()), "also nearby");
    }
}
