//! System calls that are refused: those with which kernels are attacked and sandboxes are left.
//!
//! No program that builds, tests or edits software needs one of them. A list of what is allowed
//! would be shorter to argue for and would break programs with every new kernel.

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io;

/// Refused with "operation not permitted".
const REFUSED: &[libc::c_long] = &[
    // Other namespaces, other roots.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Large parts of the kernel that are seldom needed and often broken.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
];
/// On x86 a second table of the same calls begins here; rules are made for both.
const X32: i64 = 0x4000_0000;

/// Refuses them from now on, and with `sockets` every way to speak to somebody who is not a child.
pub(super) fn apply(sockets: bool) -> io::Result<()> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED {
        refuse(&mut refused, *call, Vec::new());
    }
    if sockets {
        refuse(&mut refused, libc::SYS_socket, Vec::new());
    }
    refuse(&mut refused, libc::SYS_clone, vec![new_users()?]);
    install(refused, libc::EPERM)?;
    // What this one is asked for cannot be seen by a filter; libraries know how to do without.
    let mut unknown = BTreeMap::new();
    refuse(&mut unknown, libc::SYS_clone3, Vec::new());
    install(unknown, libc::ENOSYS)
}

fn refuse(all: &mut BTreeMap<i64, Vec<SeccompRule>>, call: libc::c_long, rules: Vec<SeccompRule>) {
    #[cfg(target_arch = "x86_64")]
    all.insert(call | X32, rules.clone());
    all.insert(call, rules);
}

/// A clone with a user namespace, in which it would be root again.
fn new_users() -> io::Result<SeccompRule> {
    let flag = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
    let asked =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag);
    let rule = asked.and_then(|asked| SeccompRule::new(vec![asked]));
    rule.map_err(io::Error::other)
}

fn install(rules: BTreeMap<i64, Vec<SeccompRule>>, error: libc::c_int) -> io::Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refusal = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, arch);
    let program = filter.and_then(seccompiler::BpfProgram::try_from);
    apply_filter(&program.map_err(io::Error::other)?).map_err(io::Error::other)
}
