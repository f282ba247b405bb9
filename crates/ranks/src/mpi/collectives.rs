//! What ranks do together, by MPI.

use super::link::Requests;
use super::{FORWARDING, Mpi, PART};
use crate::alone::nan_to_infinity;
use crate::interface::{Link, Messages, Peer, Ranks};
use greenup_device::memory::{bytes, bytes_mut};
use std::ffi::{c_int, c_void};

/// Bytes as words, the last filled up with zeros.
fn packed(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0; bytes.len().div_ceil(8)];
    bytes_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

fn unpacked(words: &[u64], length: usize) -> Vec<u8> {
    bytes(words)[..length].to_vec()
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn local(&self) -> (usize, usize) {
        self.local
    }

    fn sum(&self, x: &mut [f64]) {
        let c = &self.calls.f.constants;
        self.reduce(x, c.double, c.sum);
    }

    fn sum_integers(&self, x: &mut [i64]) {
        let c = &self.calls.f.constants;
        self.reduce(x, c.int64, c.sum);
    }

    fn max(&self, x: &mut [f64]) {
        nan_to_infinity(x);
        let c = &self.calls.f.constants;
        self.reduce(x, c.double, c.max);
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) {
        let mut length = [bytes.len() as i64];
        let send = |data: *mut c_void, n: usize| {
            let (f, guard) = (&self.calls.f, self.calls.lock());
            let c = &f.constants;
            // SAFETY: `data` holds n words; all ranks call it with the same length.
            unsafe { (f.broadcast)(data, n as c_int, c.int64, 0, c.world) };
            drop(guard);
        };
        send(length.as_mut_ptr().cast(), 1);
        let mut words = packed(bytes);
        words.resize((length[0] as usize).div_ceil(8), 0);
        for part in words.chunks_mut(PART) {
            send(part.as_mut_ptr().cast(), part.len());
        }
        *bytes = unpacked(&words, length[0] as usize);
    }

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        if self.rank > 0 {
            self.words(&mut [bytes.len() as u64], 0, false);
            self.words(&mut packed(bytes), 0, false);
            return None;
        }
        let mut all = vec![bytes.to_vec()];
        for rank in 1..self.size {
            let mut length = [0];
            self.words(&mut length, rank, true);
            let mut words = vec![0; (length[0] as usize).div_ceil(8)];
            self.words(&mut words, rank, true);
            all.push(unpacked(&words, length[0] as usize));
        }
        Some(all)
    }

    fn exchange(&self, mut to: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut got = vec![Vec::new(); self.size];
        if let Some(own) = to.get_mut(self.rank) {
            got[self.rank] = std::mem::take(own);
        }
        // Each round pairs every rank with one receiver and one sender, so that no rank gets all messages at once.
        for round in 1..self.size {
            let next = (self.rank + round) % self.size;
            let last = (self.rank + self.size - round) % self.size;
            let message = to.get_mut(next).map(std::mem::take).unwrap_or_default();
            let mut length = [0];
            self.pass((&mut [message.len() as u64], next), (&mut length, last));
            let mut words = vec![0; (length[0] as usize).div_ceil(8)];
            let mut packed = packed(&message);
            drop(message);
            self.pass((&mut packed, next), (&mut words, last));
            got[last] = unpacked(&words, length[0] as usize);
        }
        got
    }

    fn barrier(&self) {
        let (f, guard) = (&self.calls.f, self.calls.lock());
        // SAFETY: all ranks call it.
        unsafe { (f.barrier)(f.constants.world) };
        drop(guard);
    }

    fn link(&self, peers: &[Peer]) -> Box<dyn Link> {
        Box::new(Requests {
            calls: self.calls.clone(),
            messages: Messages::new(peers),
            under_way: Vec::new(),
        })
    }

    fn abort(&self, message: &str, code: u8) -> ! {
        crate::interface::say(message);
        // Launchers drop what has not reached them.
        std::thread::sleep(FORWARDING);
        // Not locked: the lock's holder may wait for a rank that is lost.
        // SAFETY: ends the process.
        unsafe { (self.calls.f.abort)(self.calls.f.constants.world, code.into()) };
        std::process::exit(code.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_as_words() {
        for n in 0..20u8 {
            let bytes: Vec<u8> = (0..n).map(|i| 250 - i).collect();
            let words = packed(&bytes);
            assert_eq!(words.len(), usize::from(n).div_ceil(8));
            assert_eq!(unpacked(&words, bytes.len()), bytes);
        }
    }
}
