//! Every fault that Assay has a name for: what it does, how it is proven, what to beware of.
//!
//! docs/faults.md is made from this table. A fault that cannot be injected here is in it, too, with
//! the reason: a plan that asks for it gets an answer instead of a fault that quietly did nothing.

/// A fault in the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CatalogRow {
    /// Its id, as plans and journals spell it.
    pub id: &'static str,
    /// What it belongs to.
    pub group: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// How it is done here.
    pub carried: Carried,
    /// What to beware of, or why it is not done here.
    pub caveat: &'static str,
}

/// Whether a fault can be injected by this crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carried {
    /// It can.
    Here {
        /// What is done.
        does: &'static str,
        /// The injector's counter.
        counter: &'static str,
        /// A victim's signal that fits.
        victim: &'static str,
        /// How it is undone.
        heal: &'static str,
    },
    /// It cannot; the caveat says why.
    Elsewhere,
}

/// All of them, by group.
pub const CATALOG: &[CatalogRow] = &[
    CatalogRow {
        id: "kill9",
        group: "Process",
        name: "hard kill",
        carried: Carried::Here {
            does: "sends SIGKILL and waits until the process is gone",
            counter: "processes gone",
            victim: "errors and timeouts of its clients; a line of its exit",
            heal: "the owner of the system starts the node again",
        },
        caveat: "loses no byte the kernel has taken: this is no power loss; a supervisor may \
                 restart at once, so identity is pid and start time; of `clients` and \
                 `some-clients` it hits their own processes, and the next operation of each \
                 starts a new one, which knows nothing of what the old one held",
    },
    CatalogRow {
        id: "term",
        group: "Process",
        name: "graceful stop",
        carried: Carried::Here {
            does: "sends SIGTERM",
            counter: "processes gone",
            victim: "its shutdown lines; connections closed in order",
            heal: "the owner of the system starts the node again",
        },
        caveat: "exercises the orderly path only and says nothing about durability; clients as \
                 with kill9",
    },
    CatalogRow {
        id: "pause",
        group: "Process",
        name: "freeze",
        carried: Carried::Here {
            does: "sends SIGSTOP and waits for state T; a process counts while its processor time \
                   stands still",
            counter: "processes stopped",
            victim: "a gap in heartbeats; timeouts of clients",
            heal: "SIGCONT; state is no longer T",
        },
        caveat: "the kernel goes on acknowledging TCP, so this is no partition; a node is stopped \
                 with all it has started; of `clients` and `some-clients` it hits their own \
                 processes, with all they have started",
    },
    CatalogRow {
        id: "ctr-restart",
        group: "Process",
        name: "restart",
        carried: Carried::Here {
            does: "sends SIGTERM, as a container engine would, and has the node started again",
            counter: "processes gone",
            victim: "its counter of restarts; connections closed in order",
            heal: "the owner of the system starts the node again",
        },
        caveat: "a node is a process here: its data directory stays, as a volume would",
    },
    CatalogRow {
        id: "cg-freeze",
        group: "Process",
        name: "freeze of a whole node",
        carried: Carried::Here {
            does: "freezes the control group of a node, children included",
            counter: "groups frozen that use no processor time",
            victim: "a gap in heartbeats; timeouts of clients",
            heal: "the group is thawed; the kernel says so",
        },
        caveat: "needs root and a node started in a control group; the kernel goes on \
                 acknowledging TCP; under version 1 of control groups what is frozen cannot be \
                 killed before it is thawed",
    },
    CatalogRow {
        id: "cpu-quota",
        group: "Process",
        name: "less processor time",
        carried: Carried::Here {
            does: "lets the control group of a node have a share of one core",
            counter: "periods held back",
            victim: "latencies of clients; heartbeats that come late",
            heal: "the limit is lifted; the kernel has none",
        },
        caveat: "needs root and a node started in a control group; a node that idles is never held \
                 back",
    },
    CatalogRow {
        id: "memory-limit",
        group: "Process",
        name: "less memory",
        carried: Carried::Here {
            does: "lets the control group of a node have so much memory",
            counter: "times memory was refused or a process killed for it",
            victim: "its end by signal 9, or allocations that fail",
            heal: "the limit is lifted; a node whose first process was killed is started again, \
                   and runs",
        },
        caveat: "needs root and a node started in a control group; refused if the node has more \
                 than that already; files it has cached are given up first",
    },
    CatalogRow {
        id: "fd-exhaustion",
        group: "Process",
        name: "no more descriptors",
        carried: Carried::Here {
            does: "lowers the soft limit on open files to what a process has open, for all \
                   processes of a node",
            counter: "processes without a descriptor left; who ended before it was hit does not \
                      count",
            victim: "EMFILE in its log; connections that are not accepted",
            heal: "the soft limit is raised again and read back; a node that has ended is started \
                   again, and runs",
        },
        caveat: "needs no privilege for processes of the same user; what is open stays open, and \
                 whoever closes something may open as much again; a process may raise its own \
                 soft limit",
    },
    CatalogRow {
        id: "part-full",
        group: "Network",
        name: "full partition",
        carried: Carried::Here {
            does: "drops all bytes between two sets of nodes, both ways",
            counter: "chunks dropped",
            victim: "timeouts on both sides",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "only what goes through the links is cut: a direct route is a bypass, seen as a \
                 counter that stands still",
    },
    CatalogRow {
        id: "part-asym",
        group: "Network",
        name: "one-way partition",
        carried: Carried::Here {
            does: "drops what one set says to the other, whoever made the connection",
            counter: "chunks dropped",
            victim: "timeouts on one side only",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "one-way for what applications say; the kernels go on acknowledging, as no \
                 packet filter could arrange; in a network of namespaces packets are dropped, and \
                 with them acknowledgements of the other way",
    },
    CatalogRow {
        id: "loss",
        group: "Network",
        name: "packet loss",
        carried: Carried::Here {
            does: "throws a share of the packets away, drawn from the seed",
            counter: "packets dropped",
            victim: "segments that TCP sends again; retries",
            heal: "rules are lifted; a packet passes",
        },
        caveat: "in a network of namespaces with a switch, or on ports of datagrams, and refused \
                 elsewhere; TCP repairs single losses",
    },
    CatalogRow {
        id: "delay",
        group: "Network",
        name: "latency",
        carried: Carried::Here {
            does: "keeps bytes back, with jitter from the seed",
            counter: "chunks delayed",
            victim: "latencies of clients",
            heal: "rules are lifted; what waits is let go",
        },
        caveat: "one direction unless both are given: round trips grow once, not twice",
    },
    CatalogRow {
        id: "rate",
        group: "Network",
        name: "bandwidth cap",
        carried: Carried::Here {
            does: "lets so many bytes per second pass, over each connection; in a network of \
                   namespaces over each link, and throws away what waits longer than 200 ms",
            counter: "chunks limited",
            victim: "throughput; latencies of large answers",
            heal: "rules are lifted; what waits is let go",
        },
        caveat: "small requests may never notice",
    },
    CatalogRow {
        id: "part-minority",
        group: "Network",
        name: "minority cut off",
        carried: Carried::Here {
            does: "cuts the largest minority off from the others",
            counter: "chunks dropped",
            victim: "timeouts of the minority; the majority goes on",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "members are the first of the given nodes: give them in the order of the moment",
    },
    CatalogRow {
        id: "part-majority",
        group: "Network",
        name: "majority cut off",
        carried: Carried::Here {
            does: "cuts a majority off from the others and from clients",
            counter: "chunks dropped",
            victim: "no progress for clients",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "only clients that were given as outside are cut",
    },
    CatalogRow {
        id: "leader-iso",
        group: "Network",
        name: "leader isolation",
        carried: Carried::Here {
            does: "cuts one node off, found just before",
            counter: "chunks dropped",
            victim: "a new election; timeouts at the old leader",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "the leader may change between the look and the cut: look again",
    },
    CatalogRow {
        id: "dup",
        group: "Network",
        name: "duplication",
        carried: Carried::Here {
            does: "sends a share of the packets twice, drawn from the seed",
            counter: "packets duplicated",
            victim: "segments that TCP got twice",
            heal: "rules are lifted; a packet passes",
        },
        caveat: "in a network of namespaces with a switch, or on ports of datagrams, and refused \
                 elsewhere; TCP removes duplicates before applications see them",
    },
    CatalogRow {
        id: "reorder",
        group: "Network",
        name: "reordering",
        carried: Carried::Here {
            does: "keeps a share of the packets back for 20 ms, or datagrams until the next one, \
                   so that others overtake them",
            counter: "packets reordered",
            victim: "segments that came to TCP out of order",
            heal: "rules are lifted; a packet passes",
        },
        caveat: "in a network of namespaces with a switch, or on ports of datagrams, and refused \
                 elsewhere; one that nothing follows is not counted",
    },
    CatalogRow {
        id: "meta-out",
        group: "Network",
        name: "metadata store outage",
        carried: Carried::Here {
            does: "drops all bytes to the store",
            counter: "chunks dropped",
            victim: "errors that name the store",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "caches mask it: operations that must ask the store have to be under way",
    },
    CatalogRow {
        id: "dns-out",
        group: "Network",
        name: "names out of reach",
        carried: Carried::Here {
            does: "leaves questions for names without an answer",
            counter: "questions for names unanswered",
            victim: "lookups that fail for the moment (EAI_AGAIN); connects that wait for a name",
            heal: "questions are answered again; one is asked to see it",
        },
        caveat: "in a network of namespaces only; a node that was given addresses, or keeps names \
                 once it knows them, does not notice",
    },
    CatalogRow {
        id: "part-bridge",
        group: "Network",
        name: "bridge",
        carried: Carried::Here {
            does: "two halves that do not see each other, and one node that sees both",
            counter: "chunks dropped",
            victim: "timeouts between the halves",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "needs three nodes",
    },
    CatalogRow {
        id: "part-ring",
        group: "Network",
        name: "ring",
        carried: Carried::Here {
            does: "each node sees a majority, and no two the same",
            counter: "chunks dropped",
            victim: "timeouts between nodes that are not neighbours",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "needs four nodes",
    },
    CatalogRow {
        id: "half-open",
        group: "Network",
        name: "half-open connections",
        carried: Carried::Here {
            does: "stops reading: buffers fill and senders stall",
            counter: "chunks held",
            victim: "timeouts; writes that block",
            heal: "rules are lifted; what waited arrives",
        },
        caveat: "a sender notices only when the buffers of two kernels are full, or by the \
                 missing answer",
    },
    CatalogRow {
        id: "reset",
        group: "Network",
        name: "connection reset",
        carried: Carried::Here {
            does: "resets open connections (RST), once",
            counter: "connections reset",
            victim: "ECONNRESET at both ends",
            heal: "nothing to undo",
        },
        caveat: "clients that connect again at once may hardly notice",
    },
    CatalogRow {
        id: "refuse",
        group: "Network",
        name: "refusal",
        carried: Carried::Here {
            does: "resets new connections on arrival",
            counter: "connections refused",
            victim: "failed connects and first requests",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "the connect itself succeeds and the first read fails: the port stays ours; \
                 connections that are open stay open, so put a `reset` into its window if clients \
                 keep theirs",
    },
    CatalogRow {
        id: "slice",
        group: "Network",
        name: "small writes",
        carried: Carried::Here {
            does: "hands bytes on in small pieces",
            counter: "chunks sliced",
            victim: "readers that expected whole messages fail",
            heal: "rules are lifted",
        },
        caveat: "a kernel may join pieces again before they are read",
    },
    CatalogRow {
        id: "disk-full",
        group: "Storage",
        name: "disk full",
        carried: Carried::Here {
            does: "takes room for junk until not a byte fits",
            counter: "bytes of junk",
            victim: "ENOSPC in the node's log",
            heal: "the junk is removed; a node that has ended is started again, and runs",
        },
        caveat: "needs root, and a node with its data on a volume of its own, so that nobody else \
                 runs out of space; refused where free space exceeds the quota; what a node has \
                 allocated beforehand hides it",
    },
    CatalogRow {
        id: "fsync-loss",
        group: "Storage",
        name: "power loss",
        carried: Carried::Here {
            does: "stops the nodes, cuts their volumes off at once and kills them: what they had \
                   not synced is gone. As root a volume is an ext4 of its own, otherwise a \
                   directory by FUSE that takes back what was not synced",
            counter: "volumes cut; it says so where they were by FUSE",
            victim: "refused connections; recovery finds less than was written",
            heal: "the volume works again, an ext4 after replaying its journal, and that is \
                   proven by a synced write; the owner of the system starts the node again",
        },
        caveat: "needs root, or fusermount3 (package fuse3), and a node whose data lies on a \
                 volume of its own, and is refused otherwise; ext4 commits every five seconds by \
                 itself, so only what is younger is surely lost (by FUSE: names after five \
                 seconds, contents after thirty); a cache inside the disk and torn sectors are \
                 not imitated",
    },
    CatalogRow {
        id: "slow-disk",
        group: "Storage",
        name: "slow disk",
        carried: Carried::Here {
            does: "lets the control group of a node write only so many bytes or times a second to \
                   its volume",
            counter: "times a disk had used up its limit, over a fifth of a second or more; each \
                      disk once at least",
            victim: "how long its syncs take; latencies of clients",
            heal: "the limit is lifted; the kernel has none",
        },
        caveat: "needs root, and a node started in a control group with its data on a volume of \
                 its own; under version 1 of control groups only syncs and direct writes are \
                 slowed",
    },
    CatalogRow {
        id: "fs-readonly",
        group: "Storage",
        name: "file system turned read-only",
        carried: Carried::Here {
            does: "makes the node's ext4 find an error, on which it turns read-only; without root \
                   a directory by FUSE refuses changes in the same way",
            counter: "volumes read-only; it says so where they were by FUSE",
            victim: "EROFS in the node's log, or EIO: the write that is under way finds the error",
            heal: "the node is killed, its volume mounted again and proven by a synced write; the \
                   owner of the system starts the node again",
        },
        caveat: "needs root, or fusermount3 (package fuse3), and a node whose data lies on a \
                 volume of its own, and is refused otherwise; healing ends the node: the file \
                 system comes back only by mounting it",
    },
    CatalogRow {
        id: "torn-tail",
        group: "Storage",
        name: "torn write",
        carried: Carried::Here {
            does: "turns the last bytes of a file that are not zero into zeros",
            counter: "bits and bytes different",
            victim: "what recovery says about the end of its log",
            heal: "the original is put back and read again, unless the node has written since, \
                   which is said; a node that did not start on the damage is started again",
        },
        caveat: "needs no privilege; while the node is down: one that runs has the end in memory",
    },
    CatalogRow {
        id: "bitflip",
        group: "Storage",
        name: "bit flip",
        carried: Carried::Here {
            does: "turns single bits of a file over, at places drawn from the seed",
            counter: "bits and bytes different",
            victim: "checksum errors in the node's log, or none: that is the finding",
            heal: "the original is put back and read again, unless the node has written since, \
                   which is said; a node that did not start on the damage is started again",
        },
        caveat: "a node that does not read the file again never meets it",
    },
    CatalogRow {
        id: "fsync-fail",
        group: "Storage",
        name: "fsync failure",
        carried: Carried::Here {
            does: "answers fsync and its relatives below the node's directory with EIO",
            counter: "calls failed",
            victim: "EIO in the node's log; a node that ends; writes refused",
            heal: "the rule is lifted; the next sync passes, or a node that has ended is started \
                   again, and runs",
        },
        caveat: "needs a node started under watch; what was written stays in the kernel, so \
                 nothing is lost unless the node gives it up; syncing by io_submit is not seen, \
                 nor is a write that is its own sync (O_SYNC, O_DSYNC, RWF_DSYNC); sync(2) cannot \
                 fail",
    },
    CatalogRow {
        id: "slow-fsync",
        group: "Storage",
        name: "slow fsync",
        carried: Carried::Here {
            does: "keeps fsync and its relatives below the node's directory waiting",
            counter: "calls delayed",
            victim: "latencies of writes; warnings about a slow disk in the node's log",
            heal: "the rule is lifted; what waits is let go",
        },
        caveat: "needs a node started under watch; reading and writing are not slowed, not even a \
                 write that is its own sync (O_SYNC, O_DSYNC, RWF_DSYNC)",
    },
    CatalogRow {
        id: "disk-readonly",
        group: "Storage",
        name: "disk turned read-only",
        carried: Carried::Here {
            does: "answers writing, growing, cutting and opening to write with EROFS, below the \
                   node's directory",
            counter: "calls failed",
            victim: "EROFS in the node's log; writes refused",
            heal: "the rule is lifted; the next write passes, or a node that has ended is started \
                   again, and runs",
        },
        caveat: "needs a node started under watch, which costs time at each write, also to \
                 sockets; by answering system calls: removing, renaming, mapped memory and \
                 writing by io_submit still work, as they would not on such a disk",
    },
    CatalogRow {
        id: "disk-enospc",
        group: "Storage",
        name: "writes without space",
        carried: Carried::Here {
            does: "answers writing, allocating and making files with ENOSPC, below the node's \
                   directory",
            counter: "calls failed",
            victim: "ENOSPC in the node's log; writes refused",
            heal: "the rule is lifted; the next write passes, or a node that has ended is started \
                   again, and runs",
        },
        caveat: "needs a node started under watch, which costs time at each write, also to \
                 sockets; overwriting fails, too, as on a file system that never overwrites \
                 in place; a disk that is really full is disk-full",
    },
    CatalogRow {
        id: "corrupt",
        group: "Storage",
        name: "damaged file",
        carried: Carried::Here {
            does: "turns bits over or cuts the end off",
            counter: "bits and bytes different",
            victim: "integrity errors in the node's log",
            heal: "the original is put back and read again, unless the node has written since, \
                   which is said; a node that did not start on the damage is started again",
        },
        caveat: "one replica only, to keep the cluster alive",
    },
    CatalogRow {
        id: "backup-race",
        group: "Storage",
        name: "backup and restore race",
        carried: Carried::Elsewhere,
        caveat: "belongs to the workload: the system's own backup runs under load",
    },
    CatalogRow {
        id: "skew",
        group: "Time",
        name: "clock skew",
        carried: Carried::Here {
            does: "moves the time of day of a process, by answering its looks at the clock; with \
                   preload by a library it loads",
            counter: "looks at a moved clock; with preload the milliseconds it is off",
            victim: "time stamps in its log; leases that end early or late",
            heal: "the rule is lifted; the right time is seen; a node that has ended is started \
                   again, and runs",
        },
        caveat: "needs a node started under watch, or with preload libfaketime and a node that is \
                 linked dynamically, and is refused otherwise; timers and the monotonic clock are \
                 not moved",
    },
    CatalogRow {
        id: "slowclock",
        group: "Time",
        name: "slow clock",
        carried: Carried::Here {
            does: "lets the time of day of a process run at another rate, from where it was",
            counter: "looks at a moved clock",
            victim: "time stamps in its log fall behind",
            heal: "the rule is lifted; the clock jumps to the right time",
        },
        caveat: "needs a node started under watch; timers and the monotonic clock keep their rate, \
                 and most leases are measured by those",
    },
    CatalogRow {
        id: "roll",
        group: "Cluster",
        name: "rolling restart",
        carried: Carried::Here {
            does: "restarts the nodes one by one, whoever leads the last; each has an equal part \
                   of the window",
            counter: "processes gone, one in each turn",
            victim: "its counter of restarts, one for each node; an election at the end",
            heal: "each node is started again within its turn",
        },
        caveat: "a node that takes longer to start than its turn lengthens the window; the next \
                 one waits until it is ready",
    },
    CatalogRow {
        id: "roll-wrong",
        group: "Cluster",
        name: "rolling restart, wrong order",
        carried: Carried::Here {
            does: "restarts the nodes one by one, whoever leads always the next, unless it had its \
                   turn",
            counter: "processes gone, one in each turn",
            victim: "elections, more than one",
            heal: "each node is started again within its turn",
        },
        caveat: "needs a role `leader`; a round in which leadership never moved tested nothing, so \
                 ask for elections",
    },
    CatalogRow {
        id: "splitbrain",
        group: "Cluster",
        name: "split-brain attempt",
        carried: Carried::Here {
            does: "leader isolation held longer than an election takes",
            counter: "chunks dropped",
            victim: "two nodes that call themselves leader",
            heal: "rules are lifted; a new connection passes",
        },
        caveat: "competing leaders are a victim's signal; the cut alone proves nothing",
    },
    CatalogRow {
        id: "slow-follower",
        group: "Cluster",
        name: "slow node",
        carried: Carried::Here {
            does: "delays all links of one node",
            counter: "chunks delayed",
            victim: "its latencies against those of others",
            heal: "rules are lifted; what waits is let go",
        },
        caveat: "a leader notices as well",
    },
    CatalogRow {
        id: "mixed-ver",
        group: "Cluster",
        name: "mixed versions",
        carried: Carried::Elsewhere,
        caveat: "belongs to the system: it starts nodes of two versions",
    },
    CatalogRow {
        id: "roll-up",
        group: "Cluster",
        name: "rolling upgrade",
        carried: Carried::Elsewhere,
        caveat: "belongs to the system: it starts nodes of the next version",
    },
    CatalogRow {
        id: "cfg-div",
        group: "Cluster",
        name: "diverging configuration",
        carried: Carried::Elsewhere,
        caveat: "belongs to the system: it starts a node with another value",
    },
    CatalogRow {
        id: "auth-div",
        group: "Cluster",
        name: "diverging credentials",
        carried: Carried::Elsewhere,
        caveat: "belongs to the system: it rotates a secret on all nodes but one",
    },
    CatalogRow {
        id: "compact",
        group: "Cluster",
        name: "compaction during reads",
        carried: Carried::Elsewhere,
        caveat: "belongs to the workload: it triggers the system's compaction",
    },
    CatalogRow {
        id: "rebalance",
        group: "Cluster",
        name: "rebalance during writes",
        carried: Carried::Elsewhere,
        caveat: "belongs to the workload: it triggers the system's rebalancing",
    },
];
