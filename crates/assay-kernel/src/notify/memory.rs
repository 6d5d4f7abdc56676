//! The memory of a process whose call is stopped.
#![allow(unsafe_code)] // Copies between address spaces, which no safe crate does.

use std::io;

/// No path is longer.
const PATH_BYTES_MAX: usize = 4096;
/// A copy that begins in a page and does not leave it is done as a whole or not at all.
const PAGE_BYTES: u64 = 4096;

fn part(address: u64, length: usize) -> libc::iovec {
    libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length }
}

/// Reads as much as is there; how many bytes that were.
pub(super) fn read(thread: u32, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let ours = part(bytes.as_mut_ptr() as u64, bytes.len());
    let theirs = part(address, bytes.len());
    // SAFETY: the kernel writes at most `bytes.len()` bytes to `bytes`; the other address is that
    // of another process and is checked by the kernel.
    let count = unsafe {
        libc::process_vm_readv(thread as libc::pid_t, &raw const ours, 1, &raw const theirs, 1, 0)
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Writes all bytes.
pub(super) fn write(thread: u32, address: u64, bytes: &[u8]) -> io::Result<()> {
    let ours = part(bytes.as_ptr() as u64, bytes.len());
    let theirs = part(address, bytes.len());
    // SAFETY: the kernel only reads from `bytes`; the other address is that of another process
    // and is checked by the kernel.
    let count = unsafe {
        libc::process_vm_writev(thread as libc::pid_t, &raw const ours, 1, &raw const theirs, 1, 0)
    };
    match usize::try_from(count) {
        Err(_) => Err(io::Error::last_os_error()),
        Ok(count) if count < bytes.len() => Err(io::ErrorKind::WriteZero.into()),
        Ok(_) => Ok(()),
    }
}

/// Reads a path, up to the zero byte behind it.
pub(super) fn read_path(thread: u32, mut address: u64) -> io::Result<Vec<u8>> {
    let mut path = Vec::new();
    while path.len() < PATH_BYTES_MAX {
        // Behind the page nothing may be mapped.
        let length = usize::try_from(PAGE_BYTES - address % PAGE_BYTES).expect("a page");
        let mut bytes = vec![0; length];
        let count = read(thread, address, &mut bytes)?;
        bytes.truncate(count);
        if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            path.extend_from_slice(&bytes[..end]);
            return Ok(path);
        }
        path.extend_from_slice(&bytes);
        address += count as u64;
    }
    Err(io::ErrorKind::InvalidFilename.into())
}
