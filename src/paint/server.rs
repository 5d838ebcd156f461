//! Accepts connections on the loopback address, one thread each.
//!
//! A synchronous server suits one user with a few tabs: an answer that is not there yet is a thread that waits. Where all threads are taken,
//! further connections wait in the system's queue until one ends; a client that sends nothing loses its thread after a while.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::http::{Service, converse};

/// The most connections at once.
const MAX_CONNECTIONS: usize = 256;
/// Enough for a request; nothing here is recursive.
const STACK: usize = 512 << 10;
/// Ports tried after the one wanted.
const N_PORTS: u16 = 100;

/// Binds the port wanted on 127.0.0.1, or one of the next, or any that is free.
pub(super) fn bind(port: u16) -> std::io::Result<TcpListener> {
    let wanted = (0..N_PORTS).map_while(|i| port.checked_add(i)).chain([0]);
    let mut last = None;
    for port in wanted {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
}

/// Stops a server from another thread.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    is_requested: Arc<AtomicBool>,
    address: SocketAddr,
}

impl Stop {
    pub(super) fn new(listener: &TcpListener) -> std::io::Result<Self> {
        Ok(Self { is_requested: Arc::default(), address: listener.local_addr()? })
    }

    /// Ends [`serve`]: a connection wakes it.
    pub(super) fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

/// Answers until a stop is requested.
pub(super) fn serve(listener: &TcpListener, service: &Arc<impl Service + 'static>, stop: &Stop) {
    let slots = Arc::new(Slots::default());
    loop {
        slots.take();
        let stream = match listener.accept() {
            _ if stop.is_requested.load(Ordering::SeqCst) => return,
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of file descriptors, most likely: others must end first.
                slots.give();
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
        };
        let (service, own) = (Arc::clone(service), Slot(Arc::clone(&slots)));
        let run = move || {
            converse(stream, &*service);
            drop(own);
        };
        // Without a thread the connection is closed and its slot given back.
        let _ = std::thread::Builder::new().name("request".into()).stack_size(STACK).spawn(run);
    }
}

/// How many connections there are.
#[derive(Debug, Default)]
struct Slots {
    taken: Mutex<usize>,
    freed: Condvar,
}

impl Slots {
    fn take(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self.freed.wait_while(taken, |n| *n >= MAX_CONNECTIONS).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
    }

    fn give(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.freed.notify_one();
    }
}

/// Gives its place back when dropped, also by a panic.
struct Slot(Arc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.give();
    }
}
