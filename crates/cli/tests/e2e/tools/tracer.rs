//! Stops the command just before each of the changes that it makes to the file system, and before it connects to a
//! server: to kill it there or ask it to end, to make the call fail, or to do something else first. The same steps each time, and
//! without its help.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// `op` of a system call that begins, and of one that ends.
const ENTRY: u8 = 1;
const EXIT: u8 = 2;

/// What a command is about to do.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Its number, from 0.
    pub(crate) nth: usize,
    /// The system call.
    pub(crate) call: &'static str,
    /// The paths that it names.
    pub(crate) paths: Vec<String>,
}

impl Step {
    /// Whether a path that it names ends so.
    pub(crate) fn is_of(&self, ending: &str) -> bool {
        self.paths.iter().any(|path| path.ends_with(ending))
    }

    /// Whether it renames something.
    pub(crate) fn renames(&self) -> bool {
        self.call.starts_with("rename")
    }
}

/// What becomes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is done.
    GoOn,
    /// The command is killed before it.
    Kill,
    /// The command is asked to end by a SIGTERM just before it.
    AskToEnd,
    /// It is not done, and fails with this error.
    Fail(i32),
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) status: ExitStatus,
    /// What it said.
    pub(crate) err: String,
}

/// Starts the command and asks before each of its steps what becomes of it.
///
/// # Errors
/// Where this system does not let one process trace another.
#[allow(clippy::zombie_processes, reason = "it is waited for as the thread that it is traced as")]
pub(crate) fn trace(command: &Command, turn: impl FnMut(&Step) -> Turn) -> Result<Traced, Errno> {
    let mut child = stopped(command).spawn().unwrap();
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
    let status = Follower { pid, steps: 0, failing: Vec::new(), killed: false, turn }.follow();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    Ok(Traced { status, err })
}

/// Starts the command and kills it before its step number `nth`, from 0. How it ended, and before which system
/// call it was killed, if it was; an error where this system does not let one process trace another.
pub(crate) fn kill_before_change(
    command: &Command,
    nth: usize,
) -> Result<(ExitStatus, Option<&'static str>), Errno> {
    let mut killed = None;
    let ended = trace(command, |step| {
        if step.nth != nth {
            return Turn::GoOn;
        }
        killed = Some(step.call);
        Turn::Kill
    })?;
    Ok((ended.status, killed))
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
    stopped.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    stopped
}

struct Follower<F> {
    pid: Pid,
    /// Steps so far.
    steps: usize,
    /// Threads in a call that is to fail, with its error.
    failing: Vec<(Pid, i32)>,
    killed: bool,
    turn: F,
}

impl<F: FnMut(&Step) -> Turn> Follower<F> {
    fn follow(mut self) -> ExitStatus {
        loop {
            match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)).unwrap() {
                WaitStatus::Exited(ended, code) if ended == self.pid => {
                    return ExitStatus::from_raw(code << 8);
                }
                WaitStatus::Signaled(ended, signal, _) if ended == self.pid => {
                    return ExitStatus::from_raw(signal as i32);
                }
                WaitStatus::PtraceSyscall(thread) => {
                    self.at_call(thread);
                    go_on(thread, None);
                }
                WaitStatus::PtraceEvent(thread, ..) => go_on(thread, None),
                WaitStatus::Stopped(thread, signal) => go_on(thread, Some(signal)),
                _ => {}
            }
        }
    }

    fn at_call(&mut self, thread: Pid) {
        if self.killed {
            return;
        }
        match ptrace::syscall_info(thread).map(|info| info.op) {
            Ok(ENTRY) => {}
            Ok(EXIT) => return self.fail(thread),
            _ => return,
        }
        let Some((call, paths)) = step(thread) else { return };
        let step = Step { nth: self.steps, call, paths };
        self.steps += 1;
        match (self.turn)(&step) {
            Turn::GoOn => {}
            Turn::Kill => {
                self.killed = true;
                kill(self.pid, Signal::SIGKILL).unwrap();
            }
            Turn::AskToEnd => kill(self.pid, Signal::SIGTERM).unwrap(),
            Turn::Fail(error) => {
                self.failing.push((thread, error));
                // No system call has this number: nothing is done.
                set_registers(thread, |registers| registers.orig_rax = u64::MAX);
            }
        }
    }

    /// Gives a call that was not made its error.
    fn fail(&mut self, thread: Pid) {
        if let Some(at) = self.failing.iter().position(|(failing, _)| *failing == thread) {
            let (_, error) = self.failing.swap_remove(at);
            set_registers(thread, |registers| registers.rax = (-i64::from(error)).cast_unsigned());
        }
    }
}

fn set_registers(thread: Pid, change: impl FnOnce(&mut libc::user_regs_struct)) {
    let mut registers = ptrace::getregs(thread).unwrap();
    change(&mut registers);
    ptrace::setregs(thread, registers).unwrap();
}

fn go_on(thread: Pid, signal: Option<Signal>) {
    // One that was just killed can't go on.
    let gone = ptrace::syscall(thread, signal);
    assert!(matches!(gone, Ok(()) | Err(Errno::ESRCH)), "{gone:?}");
}

/// The step that a thread is about to make, if its call is one, and the paths that it names.
fn step(thread: Pid) -> Option<(&'static str, Vec<String>)> {
    let call = std::fs::read_to_string(format!("/proc/{thread}/syscall")).ok()?;
    let mut words = call.split(' ');
    let number: libc::c_long = words.next()?.parse().ok()?;
    let arguments: Vec<u64> =
        words.map_while(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()).collect();
    let creates = |at: usize| arguments.get(at).is_some_and(|flags| flags & libc::O_CREAT as u64 != 0);
    let (call, paths): (_, &[usize]) = match number {
        libc::SYS_openat if creates(2) => ("openat", &[1]),
        libc::SYS_mkdirat => ("mkdirat", &[1]),
        libc::SYS_unlinkat => ("unlinkat", &[1]),
        libc::SYS_renameat => ("renameat", &[1, 3]),
        libc::SYS_renameat2 => ("renameat2", &[1, 3]),
        libc::SYS_linkat => ("linkat", &[1, 3]),
        libc::SYS_fsync => ("fsync", &[]),
        libc::SYS_flock => ("flock", &[]),
        libc::SYS_connect => ("connect", &[]),
        libc::SYS_mkdir => ("mkdir", &[0]),
        libc::SYS_unlink => ("unlink", &[0]),
        libc::SYS_rmdir => ("rmdir", &[0]),
        libc::SYS_rename => ("rename", &[0, 1]),
        libc::SYS_link => ("link", &[0, 1]),
        _ => return None,
    };
    Some((call, paths.iter().filter_map(|at| text(thread, *arguments.get(*at)?)).collect()))
}

/// The text at an address of a process, to its zero byte.
fn text(thread: Pid, address: u64) -> Option<String> {
    use std::os::unix::fs::FileExt;
    let memory = std::fs::File::open(format!("/proc/{thread}/mem")).ok()?;
    let mut bytes = [0; 4096];
    // Up to the end of the page at least, beyond which there may be nothing.
    let read = memory.read_at(&mut bytes, address).ok()?;
    let end = bytes[..read].iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}
