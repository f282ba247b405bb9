//! Messages of fixed lengths between processes.

use super::library::Handle;
use super::{Calls, LINK, Mpi};
use crate::interface::{Link, Messages, end};
use std::sync::Arc;

/// A link between processes.
pub(super) struct Requests {
    pub(super) calls: Arc<Calls>,
    pub(super) messages: Messages,
    pub(super) under_way: Vec<Handle>,
}

impl Link for Requests {
    fn outgoing(&mut self, peer: usize) -> &mut [f64] {
        &mut self.messages.outgoing[peer]
    }

    fn begin(&mut self) {
        let Self {
            calls,
            messages,
            under_way,
        } = self;
        let f = &calls.f;
        for (i, peer) in messages.peers.iter().enumerate() {
            let of = (f.constants.double, peer.rank, LINK);
            let (incoming, outgoing) = (&mut messages.incoming[i], &mut messages.outgoing[i]);
            // SAFETY: the link owns the buffers, gives none away before `finish`, and waits when it is dropped.
            unsafe {
                let data = (incoming.as_mut_ptr().cast(), incoming.len());
                Mpi::begin(calls, f.receive, data, of, under_way);
                let data = (outgoing.as_mut_ptr().cast(), outgoing.len());
                Mpi::begin(calls, f.send, data, of, under_way);
            }
        }
    }

    fn finish(&mut self) {
        // SAFETY: the buffers are this link's.
        unsafe { self.calls.wait(&mut self.under_way) };
    }

    fn incoming(&self, peer: usize) -> &[f64] {
        &self.messages.incoming[peer]
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        if !self.under_way.is_empty() {
            if std::thread::panicking() {
                end("a rank failed while messages were under way", 1);
            }
            self.finish();
        }
    }
}
