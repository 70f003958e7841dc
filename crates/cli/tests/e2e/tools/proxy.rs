//! A way to the server that can be cut, fall silent, or hold a commit or its answer back.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How the client tells the server to commit.
const COMMIT: &[u8] = b"Q\0\0\0\x0bcommit\0";

/// What happens, once, on the first connection on which it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Once the client has sent so many bytes, both sides are cut off.
    CutAfter(usize),
    /// Once the client has sent so many bytes, nothing more is taken from it.
    SilentAfter(usize),
    /// The commit does not reach the server until it is let go.
    HoldCommit,
    /// The answer to the commit does not reach the client until it is let go.
    HoldAnswer,
}

/// What becomes of what is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It goes on its way.
    Pass,
    /// Both sides are cut off.
    Cut,
    /// Both sides are cut off, and whoever comes later is turned away.
    CutForGood,
}

/// A port on 127.0.0.1 that leads to a server's socket.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    held: Receiver<()>,
    go: Sender<Then>,
}

struct Shared {
    socket: PathBuf,
    fault: Mutex<Option<Fault>>,
    closed: AtomicBool,
    held: Mutex<Sender<()>>,
    go: Mutex<Receiver<Then>>,
}

impl Proxy {
    pub(crate) fn new(socket: PathBuf, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((tell, held), (go, going)) = (channel(), channel());
        let shared = Arc::new(Shared {
            socket,
            fault: Mutex::new(Some(fault)),
            closed: AtomicBool::new(false),
            held: Mutex::new(tell),
            go: Mutex::new(going),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if serving.closed.load(Ordering::SeqCst) {
                    return;
                }
                serving.serve(client.unwrap());
            }
        });
        Self { port, shared, held, go }
    }

    /// The URL of a database, by this way.
    pub(crate) fn url(&self, direct: &str, parameters: &str) -> String {
        let name = direct.rsplit('/').next().unwrap();
        format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable{parameters}", self.port)
    }

    /// Waits until the fault has come about.
    pub(crate) fn wait(&self) {
        self.held.recv_timeout(Duration::from_secs(60)).expect("the fault comes about");
    }

    /// Lets go what is held.
    pub(crate) fn then(&self, then: Then) {
        self.go.send(then).unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        // Wakes the one that waits for clients.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    /// Joins a client to the server, or turns it away where there is none.
    fn serve(self: &Arc<Self>, client: TcpStream) {
        let Ok(server) = UnixStream::connect(&self.socket) else { return };
        let answer_held = Arc::new(AtomicBool::new(false));
        let link = || Link {
            client: client.try_clone().unwrap(),
            server: server.try_clone().unwrap(),
            answer_held: Arc::clone(&answer_held),
            shared: Arc::clone(self),
        };
        let (up, down) = (link(), link());
        std::thread::spawn(move || up.up());
        std::thread::spawn(move || down.down());
    }

    /// Takes the fault where it is one of these.
    fn take(&self, fits: impl Fn(Fault) -> bool) -> Option<Fault> {
        self.fault.lock().unwrap().take_if(|fault| fits(*fault))
    }

    /// Says that the fault has come about, and waits for what is to happen then.
    fn hold(&self) -> Then {
        let _ = self.held.lock().unwrap().send(());
        let then = self.go.lock().unwrap().recv().unwrap_or(Then::Cut);
        if then == Then::CutForGood {
            self.closed.store(true, Ordering::SeqCst);
        }
        then
    }
}

/// One client and its connection to the server.
struct Link {
    client: TcpStream,
    server: UnixStream,
    answer_held: Arc<AtomicBool>,
    shared: Arc<Shared>,
}

impl Link {
    fn up(mut self) {
        let mut buffer = vec![0; 1 << 16];
        let mut sent = 0;
        while let Ok(length @ 1..) = self.client.read(&mut buffer) {
            sent += length;
            if self.passes(sent, buffer[..length].ends_with(COMMIT)) == Then::Pass
                && self.server.write_all(&buffer[..length]).is_ok()
            {
                continue;
            }
            break;
        }
        self.cut();
    }

    fn passes(&self, sent: usize, commit: bool) -> Then {
        let fault = self.shared.take(|fault| match fault {
            Fault::CutAfter(limit) | Fault::SilentAfter(limit) => sent >= limit,
            Fault::HoldCommit | Fault::HoldAnswer => commit,
        });
        match fault {
            None => Then::Pass,
            Some(Fault::CutAfter(_)) => Then::Cut,
            Some(Fault::SilentAfter(_) | Fault::HoldCommit) => self.shared.hold(),
            Some(Fault::HoldAnswer) => {
                self.answer_held.store(true, Ordering::SeqCst);
                Then::Pass
            }
        }
    }

    fn down(mut self) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = self.server.read(&mut buffer) {
            let held = self.answer_held.swap(false, Ordering::SeqCst);
            if held && self.shared.hold() != Then::Pass {
                break;
            }
            if self.client.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        self.cut();
    }

    fn cut(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}
