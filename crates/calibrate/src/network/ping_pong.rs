//! Messages and all-reduces of ranks. All ranks call the same functions; results are those of rank 0.

use super::{Messages, Size};
use greenup_meter::{Meter, Observer, Run, Summary};
use greenup_ranks::{Link, Peer, Ranks};
use std::time::Instant;

/// Largest message, words of 8 bytes: 8 MiB.
const MAX_WORDS: usize = 1 << 20;
/// Words of the messages whose energy is measured: 1 MiB.
const ENERGY_WORDS: usize = 1 << 17;
/// Samples of a size.
const SAMPLES: usize = 9;

/// Two links between ranks 0 and 1: there and back. Other ranks have none.
struct PingPong {
    there: Box<dyn Link>,
    back: Box<dyn Link>,
    first: bool,
    plays: bool,
}

impl PingPong {
    fn new(ranks: &dyn Ranks, words: usize) -> Self {
        let me = ranks.rank();
        let plays = me < 2;
        let link = |from: usize| {
            let own = |is| if is { words } else { 0 };
            let peer = Peer {
                rank: 1 - me.min(1),
                send: own(me == from),
                receive: own(me != from),
            };
            ranks.link(if plays {
                std::slice::from_ref(&peer)
            } else {
                &[]
            })
        };
        Self {
            there: link(0),
            back: link(1),
            first: me == 0,
            plays,
        }
    }

    fn round(&mut self) {
        if !self.plays {
            return;
        }
        let (words, back) = (&mut self.there, &mut self.back);
        words.begin();
        words.finish();
        if !self.first && !back.outgoing(0).is_empty() {
            // What came goes back, so that each side touches it.
            back.outgoing(0).copy_from_slice(words.incoming(0));
        }
        back.begin();
        back.finish();
    }
}

/// Repetitions of a sample of some words: a few milliseconds.
fn repetitions(words: usize, quick: bool) -> usize {
    let most = if quick { 100 } else { 400 };
    ((1 << 20) / words.max(1)).clamp(4, most)
}

/// Seconds of a repetition on this rank, which all begin together.
fn timed(ranks: &dyn Ranks, n: usize, mut one: impl FnMut()) -> f64 {
    ranks.barrier();
    let start = Instant::now();
    for _ in 0..n {
        one();
    }
    start.elapsed().as_secs_f64() / n as f64
}

/// Samples of some words, after one that warms up.
fn samples(ranks: &dyn Ranks, n: usize, mut one: impl FnMut()) -> Option<Summary> {
    timed(ranks, n.div_ceil(4), &mut one);
    let all: Vec<f64> = (0..SAMPLES).map(|_| timed(ranks, n, &mut one)).collect();
    Summary::of(&all)
}

/// Measures messages between ranks 0 and 1, and all-reduces of all ranks. On one rank alone there is nothing to measure.
pub fn measure(ranks: &dyn Ranks, quick: bool, observer: &dyn Observer) -> Messages {
    let mut out = Messages {
        ranks: ranks.size(),
        messages: Vec::new(),
        all_reduces: Vec::new(),
    };
    if ranks.size() < 2 {
        return out;
    }
    let sizes = |most: usize| {
        let step = if quick { 4 } else { 2 };
        std::iter::successors(Some(1usize), move |w| Some(w * step)).take_while(move |w| *w <= most)
    };
    observer.stage("messages", sizes(MAX_WORDS).count() + sizes(4096).count());
    for words in sizes(MAX_WORDS) {
        let mut game = PingPong::new(ranks, words);
        let round = samples(ranks, repetitions(words, quick), || game.round());
        out.messages.extend(round.map(|t| Size {
            bytes: 8.0 * words as f64,
            time_s: t.scaled(0.5),
        }));
        observer.step(&format!("{} bytes", 8 * words));
    }
    for words in sizes(4096) {
        let mut x = vec![1.0; words];
        let time = samples(ranks, repetitions(words, quick), || {
            ranks.sum(&mut x);
            // Sums of sums overflow.
            x.fill(1.0);
        });
        out.all_reduces.extend(time.map(|time_s| Size {
            bytes: 8.0 * words as f64,
            time_s,
        }));
        observer.step(&format!("all-reduce of {} bytes", 8 * words));
    }
    out
}

/// Repeats ping-pongs of a mebibyte for as long as rank 0 asks for: rank 0 measures them, the others play along. Returns on
/// rank 0 the power, W, and the bytes sent a second.
pub fn power(
    ranks: &dyn Ranks,
    meter: Option<&mut Meter>,
    observer: &dyn Observer,
) -> Option<(f64, f64)> {
    let mut game = PingPong::new(ranks, ENERGY_WORDS);
    let go_on = |yes: bool| {
        let mut x = [f64::from(u8::from(yes))];
        ranks.max(&mut x);
        x[0] > 0.0
    };
    let mut batch = || {
        for _ in 0..16 {
            game.round();
        }
    };
    let Some(meter) = meter.filter(|_| ranks.rank() == 0) else {
        while go_on(false) {
            batch();
        }
        return None;
    };
    let measured = meter.measure(observer, &mut |seconds| {
        let start = Instant::now();
        let mut rounds = 0.0;
        while start.elapsed().as_secs_f64() < seconds {
            go_on(true);
            batch();
            rounds += 16.0;
        }
        Ok::<_, std::convert::Infallible>(Run {
            iterations: rounds,
            seconds: start.elapsed().as_secs_f64(),
        })
    });
    go_on(false);
    let m = measured.ok()??;
    let power = m.power_w?.median;
    Some((power, 2.0 * 8.0 * ENERGY_WORDS as f64 / m.time_s.median))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::line;
    use greenup_meter::observe::Silent;
    use greenup_ranks::threads;

    /// What the first of some ranks measures.
    fn measured(ranks: usize) -> Messages {
        let all = threads::run(ranks, |r| Ok::<_, ()>(measure(&*r, true, &Silent)));
        all.unwrap().swap_remove(0)
    }

    #[test]
    fn ranks_measure_their_messages() {
        let m = measured(3);
        assert_eq!((m.ranks, m.messages.len(), m.all_reduces.len()), (3, 11, 7));
        assert!(m.messages.iter().all(|s| s.time_s.median > 0.0));
        assert!(m.stage_s().unwrap().value > 0.0);
    }

    #[test]
    fn larger_messages_take_longer() {
        let grows = |m: &Messages| {
            m.messages[10].time_s.median > m.messages[0].time_s.median
                && line(&m.messages).is_ok_and(|l| l.bandwidth_bytes_per_s.value > 1e6)
        };
        // Two ranks, for each of which most hosts have a core. What else runs there spoils some attempts.
        let odd: Vec<Messages> = (0..3)
            .map(|_| measured(2))
            .take_while(|m| !grows(m))
            .collect();
        assert!(odd.len() < 3, "{odd:?}");
    }

    #[test]
    fn all_play_until_the_first_has_measured() {
        let powers = threads::run(3, |r| {
            let mut meter = Meter::time_only(greenup_meter::Policy {
                window_s: 0.02,
                warmup_s: 0.0,
                ..greenup_meter::Policy::quick()
            });
            let own = (r.rank() == 0).then_some(&mut meter);
            Ok::<_, ()>(power(&*r, own, &Silent))
        });
        // Without a sensor there is no power.
        assert_eq!(powers, Ok(vec![None, None, None]));
    }

    #[test]
    fn one_rank_has_nothing_to_measure() {
        let m = measure(&greenup_ranks::Alone, true, &Silent);
        assert!(m.messages.is_empty() && m.stage_s().is_none());
    }
}
