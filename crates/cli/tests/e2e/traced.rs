//! Kills the command just before one of the changes that it makes to the file system: the same one each time, and
//! without its help.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// `op` of a system call that begins.
const ENTRY: u8 = 1;

/// Starts the command and kills it before its change number `nth`, from 0. How it ended, and before which system
/// call it was killed, if it was; an error where this system does not let one process trace another.
#[allow(clippy::zombie_processes, reason = "it is waited for as the thread that it is traced as")]
pub(crate) fn kill_before_change(
    command: &Command,
    nth: usize,
) -> Result<(ExitStatus, Option<&'static str>), Errno> {
    let mut stopped = stopped(command);
    let child = stopped.spawn().unwrap();
    let pid = Pid::from_raw(child.id().try_into().unwrap());
    // Only what this thread started is waited for: other tests run beside it.
    assert!(matches!(waitpid(pid, Some(WaitPidFlag::WUNTRACED)), Ok(WaitStatus::Stopped(..))));
    let options = Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL;
    if let Err(error) = ptrace::seize(pid, options) {
        kill(pid, Signal::SIGKILL).unwrap();
        waitpid(pid, None).unwrap();
        return Err(error);
    }
    kill(pid, Signal::SIGCONT).unwrap();
    Ok(follow(pid, nth))
}

/// The same command, stopped before it begins.
fn stopped(command: &Command) -> Command {
    let mut stopped = Command::new("sh");
    stopped
        .args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => stopped.env(name, value),
            None => stopped.env_remove(name),
        };
    }
    stopped.current_dir(command.get_current_dir().unwrap());
    stopped.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    stopped
}

fn follow(pid: Pid, nth: usize) -> (ExitStatus, Option<&'static str>) {
    let mut changes = 0;
    let mut killed = None;
    loop {
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)).unwrap() {
            WaitStatus::Exited(ended, code) if ended == pid => {
                return (ExitStatus::from_raw(code << 8), killed);
            }
            WaitStatus::Signaled(ended, signal, _) if ended == pid => {
                return (ExitStatus::from_raw(signal as i32), killed);
            }
            WaitStatus::PtraceSyscall(thread) => {
                let change = change(thread).filter(|_| killed.is_none());
                if change.is_some() && changes == nth {
                    killed = change;
                    kill(pid, Signal::SIGKILL).unwrap();
                }
                changes += usize::from(change.is_some());
                go_on(thread, None);
            }
            WaitStatus::PtraceEvent(thread, ..) => go_on(thread, None),
            WaitStatus::Stopped(thread, signal) => go_on(thread, Some(signal)),
            _ => {}
        }
    }
}

fn go_on(thread: Pid, signal: Option<Signal>) {
    // One that was just killed can't go on.
    let gone = ptrace::syscall(thread, signal);
    assert!(matches!(gone, Ok(()) | Err(Errno::ESRCH)), "{gone:?}");
}

/// The change of the file system that a thread is about to make, if it is one.
fn change(thread: Pid) -> Option<&'static str> {
    if ptrace::syscall_info(thread).ok()?.op != ENTRY {
        return None;
    }
    let call = std::fs::read_to_string(format!("/proc/{thread}/syscall")).ok()?;
    let mut words = call.split(' ');
    let number: libc::c_long = words.next()?.parse().ok()?;
    let argument = |at: usize| i32::from_str_radix(words.clone().nth(at)?.trim_start_matches("0x"), 16).ok();
    match number {
        libc::SYS_openat => (argument(2)? & libc::O_CREAT != 0).then_some("openat"),
        libc::SYS_mkdirat => Some("mkdirat"),
        libc::SYS_unlinkat => Some("unlinkat"),
        libc::SYS_renameat => Some("renameat"),
        libc::SYS_renameat2 => Some("renameat2"),
        libc::SYS_linkat => Some("linkat"),
        libc::SYS_fsync => Some("fsync"),
        libc::SYS_flock => Some("flock"),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => Some("mkdir"),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink => Some("unlink"),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rmdir => Some("rmdir"),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => Some("rename"),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link => Some("link"),
        _ => None,
    }
}
