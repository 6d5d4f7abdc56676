//! Packet filters of the kernel (nftables), as far as the bridge needs them: named counters, and
//! rules that count and drop what goes from one port to another.

use super::netlink::{CREATE, Family, Message, Netlink, attribute};
use std::collections::BTreeMap;
use std::io;

const SUBSYSTEM: u16 = 10 << 8;
const BATCH_BEGIN: u16 = 16;
const BATCH_END: u16 = 17;
const NEW_TABLE: u16 = SUBSYSTEM;
const NEW_CHAIN: u16 = SUBSYSTEM | 3;
const DELETE_CHAIN: u16 = SUBSYSTEM | 5;
const NEW_RULE: u16 = SUBSYSTEM | 6;
const DELETE_RULE: u16 = SUBSYSTEM | 8;
const NEW_OBJECT: u16 = SUBSYSTEM | 18;
const GET_OBJECT: u16 = SUBSYSTEM | 19;
const FAMILY_BRIDGE: u8 = 7;
const HOOK_FORWARD: u32 = 2;
const OBJECT_COUNTER: u32 = 1;
const META_IIF: u32 = 4;
const META_OIF: u32 = 5;
const REGISTER: u32 = 8;
const REGISTER_VERDICT: u32 = 0;
const VERDICT_DROP: u32 = 0;
const COMPARE_EQUAL: u32 = 0;
/// Rules are appended, in the order they are given.
const APPEND: u16 = 0xc00;

/// The header of nftables messages: a family, a version, and in batches the subsystem.
fn header(family: u8, subsystem: u16) -> [u8; 4] {
    let [high, low] = subsystem.to_be_bytes();
    [family, 0, high, low]
}

fn message(kind: u16, flags: u16) -> Message {
    Message::new(kind, flags, &header(FAMILY_BRIDGE, 0))
}

/// A rule: what goes from one port to another is counted, and dropped or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PortRule {
    /// The number of the interface it comes from.
    pub(super) from: u32,
    /// The number of the interface it goes to.
    pub(super) to: u32,
    /// The counter.
    pub(super) counter: String,
    /// Whether it ends here.
    pub(super) drop: bool,
}

/// One table of the bridge family, in the namespace of the thread that made it.
#[derive(Debug)]
pub(super) struct Table {
    netlink: Netlink,
    name: &'static str,
}

impl Table {
    /// Makes it, with these counters.
    pub(super) fn create(name: &'static str, counters: &[String]) -> io::Result<Table> {
        let mut table = Table { netlink: Netlink::open(Family::Netfilter)?, name };
        let made = message(NEW_TABLE, CREATE).text(1, name).be32(2, 0);
        let counter = |counter: &String| {
            message(NEW_OBJECT, CREATE)
                .text(1, name)
                .text(2, counter)
                .be32(3, OBJECT_COUNTER)
                .nest(4, |data| data.attr(1, &0_u64.to_be_bytes()).attr(2, &0_u64.to_be_bytes()))
        };
        table.commit([made].into_iter().chain(counters.iter().map(counter)).collect())?;
        Ok(table)
    }

    /// Hangs a chain of rules into what is forwarded, all of them at the same instant.
    pub(super) fn hang(
        &mut self,
        chain: &str,
        priority: i32,
        rules: &[PortRule],
    ) -> io::Result<()> {
        let made = message(NEW_CHAIN, CREATE)
            .text(1, self.name)
            .text(3, chain)
            .nest(4, |hook| hook.be32(1, HOOK_FORWARD).attr(2, &priority.to_be_bytes()));
        let made = made.text(7, "filter");
        let name = self.name;
        let rule = |rule: &PortRule| {
            message(NEW_RULE, CREATE | APPEND)
                .text(1, name)
                .text(2, chain)
                .nest(4, |list| expressions(list, rule))
        };
        self.commit([made].into_iter().chain(rules.iter().map(rule)).collect())
    }

    /// Takes a chain away, with its rules.
    pub(super) fn take_down(&mut self, chain: &str) -> io::Result<()> {
        let flush = message(DELETE_RULE, 0).text(1, self.name).text(2, chain);
        let delete = message(DELETE_CHAIN, 0).text(1, self.name).text(3, chain);
        self.commit(vec![flush, delete])
    }

    /// Packets by counter.
    pub(super) fn packets(&mut self) -> io::Result<BTreeMap<String, u64>> {
        let asked = message(GET_OBJECT, 0).text(1, self.name).be32(3, OBJECT_COUNTER);
        let mut packets = BTreeMap::new();
        self.netlink.dump(asked, |_, body| packets.extend(body.get(4..).and_then(counter_of)))?;
        Ok(packets)
    }

    fn commit(&mut self, messages: Vec<Message>) -> io::Result<()> {
        let edge = |kind| Message::new(kind, 0, &header(0, SUBSYSTEM >> 8));
        self.netlink.batch(edge(BATCH_BEGIN), messages, edge(BATCH_END))
    }
}

fn counter_of(object: &[u8]) -> Option<(String, u64)> {
    let name = attribute(object, 2)?;
    let name = String::from_utf8(name.split(|byte| *byte == 0).next()?.to_vec()).ok()?;
    let packets = attribute(attribute(object, 4)?, 2)?;
    Some((name, u64::from_be_bytes(packets.try_into().ok()?)))
}

/// One expression of a rule: a name, and what it is told.
fn expression(list: Message, name: &str, data: impl FnOnce(Message) -> Message) -> Message {
    list.nest(1, |element| element.text(1, name).nest(2, data))
}

fn expressions(mut list: Message, rule: &PortRule) -> Message {
    for (key, index) in [(META_IIF, rule.from), (META_OIF, rule.to)] {
        list = expression(list, "meta", |data| data.be32(1, REGISTER).be32(2, key));
        list = expression(list, "cmp", |data| {
            let value = index.to_ne_bytes();
            data.be32(1, REGISTER).be32(2, COMPARE_EQUAL).nest(3, |data| data.attr(1, &value))
        });
    }
    list = expression(list, "objref", |data| data.be32(1, OBJECT_COUNTER).text(2, &rule.counter));
    if !rule.drop {
        return list;
    }
    expression(list, "immediate", |data| {
        data.be32(1, REGISTER_VERDICT)
            .nest(2, |data| data.nest(2, |verdict| verdict.be32(1, VERDICT_DROP)))
    })
}
