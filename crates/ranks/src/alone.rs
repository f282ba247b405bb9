//! One rank.

use crate::interface::{Link, Messages, Peer, Ranks, end};

/// The only rank of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn local(&self) -> (usize, usize) {
        (0, 1)
    }

    fn sum(&self, _x: &mut [f64]) {}

    fn sum_integers(&self, _x: &mut [i64]) {}

    fn max(&self, x: &mut [f64]) {
        nan_to_infinity(x);
    }

    fn broadcast(&self, _bytes: &mut Vec<u8>) {}

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        Some(vec![bytes.to_vec()])
    }

    fn exchange(&self, to: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        to
    }

    fn barrier(&self) {}

    fn link(&self, peers: &[Peer]) -> Box<dyn Link> {
        Box::new(ToItself(Messages::new(peers)))
    }

    fn abort(&self, message: &str, code: u8) -> ! {
        end(message, code)
    }
}

pub(crate) fn nan_to_infinity(x: &mut [f64]) {
    for x in x.iter_mut().filter(|x| x.is_nan()) {
        *x = f64::INFINITY;
    }
}

/// A link without other ranks.
struct ToItself(Messages);

impl Link for ToItself {
    fn outgoing(&mut self, peer: usize) -> &mut [f64] {
        &mut self.0.outgoing[peer]
    }

    fn begin(&mut self) {}

    fn finish(&mut self) {
        let Messages {
            outgoing, incoming, ..
        } = &mut self.0;
        for (to, from) in incoming.iter_mut().zip(outgoing) {
            let n = to.len().min(from.len());
            to[..n].copy_from_slice(&from[..n]);
        }
    }

    fn incoming(&self, peer: usize) -> &[f64] {
        &self.0.incoming[peer]
    }
}
