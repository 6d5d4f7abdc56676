//! Which addresses belong to everybody.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public network: not of this machine, of a network behind it,
/// of a cloud's metadata, nor one with another meaning.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match (a, b) {
        // This network, private networks, this machine, reserved and multicast.
        (0 | 10 | 127 | 224.., _) => true,
        // Shared by carriers.
        (100, 64..=127) => true,
        // Link-local, where clouds tell their secrets.
        (169, 254) => true,
        (172, 16..=31) => true,
        // Assignments of protocols, documentation, relays of 6to4, private.
        (192, 0) => matches!(c, 0 | 2),
        (192, 88) => c == 99,
        (192, 168) => true,
        // Measuring networks.
        (198, 18 | 19) => true,
        // Documentation.
        (198, 51) => c == 100,
        (203, 0) => c == 113,
        _ => false,
    };
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // An address of the old kind in another dress is what it is.
    if let Some(inner) = inner_v4(&segments) {
        return is_public_v4(inner);
    }
    // Only 2000::/3 is given out at all; of it, what is for protocols and documentation is not.
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_special =
        matches!((segments[0], segments[1]), (0x2001, 0..=0x01ff | 0x0db8) | (0x3fff, 0..=0x0fff));
    is_global && !is_special
}

/// The address within: mapped, compatible, translated (NAT64) or relayed (6to4).
fn inner_v4(segments: &[u16; 8]) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(join(*high, *low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(*high, *low)),
        [0x2002, high, low, ..] => Some(join(*high, *low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_network_are_public() {
        let public = "1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 \
            192.0.1.1 192.88.98.1 198.17.0.1 198.20.0.1 223.255.255.255 2606:4700::1111 \
            2a00:1450::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1";
        let other = "0.0.0.0 0.1.2.3 10.0.0.1 127.0.0.1 127.255.255.254 100.64.0.1 100.127.0.1 \
            169.254.169.254 169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 \
            192.88.99.1 192.168.1.1 198.18.0.1 198.19.1.1 198.51.100.7 203.0.113.9 224.0.0.1 \
            239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 \
            ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1::1 2002:a9fe:a9fe:: 2001:db8::1 \
            2001::1 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 100::1 4000::1";
        for (list, expected) in [(public, true), (other, false)] {
            for text in list.split_whitespace() {
                let address = text.parse().expect(text);
                assert_eq!(is_public(address), expected, "{text}");
            }
        }
    }
}
