//! Regions of one thread: its stack, and what was counted since the collector came last.
//!
//! Only the thread and the collector use it. The collector holds the lock for the short time of a copy, some hundred
//! times a second, so the thread nearly always finds it free.

use crate::clock::now;
use crate::names::{self, OTHER, PathId, ROOT};
use crate::notes::{Note, Notes};
use crate::spin::Spin;
use hashbrown::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Regions that may be open in a thread at a time; deeper ones are not recorded.
pub const MOST_DEPTH: usize = 256;

/// Ends of regions that wait for the collector, with a line each; then the thread waits.
const MOST_RECORDS: usize = 16_384;

/// What was counted of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Ends.
    pub calls: u64,
    /// Time inside, ns.
    pub inclusive: u64,
    /// Time inside and in no region within, ns.
    pub exclusive: u64,
    /// Shortest and longest call, ns; without calls `u64::MAX` and 0.
    pub shortest: u64,
    /// Longest call, ns.
    pub longest: u64,
}

impl Counted {
    pub const NOTHING: Self = Self {
        calls: 0,
        inclusive: 0,
        exclusive: 0,
        shortest: u64::MAX,
        longest: 0,
    };

    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.inclusive += other.inclusive;
        self.exclusive += other.exclusive;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
    }
}

/// One end of a region, for a line.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub path: PathId,
    pub thread: u64,
    pub from: u64,
    pub to: u64,
}

/// What an end did.
pub struct Ended {
    /// Length of the region, ns, if it was open.
    pub length: Option<u64>,
    /// Whether the thread must wait until its lines are taken.
    pub is_full: bool,
}

struct Node {
    path: PathId,
    name: Arc<[u8]>,
    children: HashMap<Arc<[u8]>, u32>,
    /// The child entered last: most programs repeat themselves.
    last: u32,
    counted: Counted,
    /// In the list of what the collector must see.
    listed: bool,
    /// Whether the collector knows that this thread was here.
    known: bool,
}

#[derive(Clone, Copy)]
struct Frame {
    node: u32,
    start: u64,
    /// Until when the time inside is counted.
    inclusive_to: u64,
    /// The same of the time in no region within; of the innermost region only.
    exclusive_to: u64,
}

struct Inner {
    nodes: Vec<Node>,
    stack: Vec<Frame>,
    listed: Vec<u32>,
    records: Vec<Record>,
    /// Begins beyond the greatest depth.
    too_deep: u64,
    /// The node of all regions beyond the greatest number of paths.
    other: Option<u32>,
}

/// A thread that has been in a region.
pub struct ThreadState {
    /// Its number in this process, from 0.
    pub number: u64,
    inner: Spin<Inner>,
    ended: AtomicBool,
    lines: bool,
}

impl ThreadState {
    pub fn new(number: u64, lines: bool) -> Self {
        let root = Node::new(ROOT, Arc::from(&b""[..]));
        Self {
            number,
            inner: Spin::new(Inner {
                nodes: vec![root],
                stack: Vec::with_capacity(16),
                listed: Vec::new(),
                records: Vec::new(),
                too_deep: 0,
                other: None,
            }),
            ended: AtomicBool::new(false),
            lines,
        }
    }

    /// Begins a region.
    pub fn begin(&self, name: &[u8], paths: &Mutex<names::Paths>, notes: &Notes) {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        if inner.stack.len() >= MOST_DEPTH {
            inner.too_deep += 1;
            notes.add(Note::TooDeep, || String::from_utf8_lossy(name).into_owned());
            return;
        }
        let parent = inner.stack.last().map_or(0, |f| f.node);
        let node = match inner.child(parent, name) {
            Some(node) => node,
            None => inner.add_child(parent, name, paths, notes),
        };
        // The clock is read last, so that what was before is not in the region.
        let t = now();
        if let Some(top) = inner.stack.last_mut() {
            let (outer, from) = (top.node, top.exclusive_to);
            inner.count(outer, |c| c.exclusive += t.saturating_sub(from));
        }
        inner.stack.push(Frame {
            node,
            start: t,
            inclusive_to: t,
            exclusive_to: t,
        });
    }

    /// Ends a region; without a name the innermost one.
    #[inline]
    pub fn end(&self, name: Option<&[u8]>, notes: &Notes) -> Ended {
        let t = now();
        let mut inner = self.inner.lock();
        Ended {
            length: self.end_at(&mut inner, t, name, notes),
            is_full: inner.records.len() >= MOST_RECORDS,
        }
    }

    fn end_at(&self, inner: &mut Inner, t: u64, name: Option<&[u8]>, notes: &Notes) -> Option<u64> {
        if inner.too_deep > 0 {
            inner.too_deep -= 1;
            return None;
        }
        let shown = || {
            name.map_or("(innermost)".into(), |n| {
                String::from_utf8_lossy(n).into_owned()
            })
        };
        let Some(top) = inner.stack.last() else {
            notes.add(Note::NotOpen, shown);
            return None;
        };
        if let Some(name) = name
            && !inner.nodes[top.node as usize].is(name)
        {
            let open = |f: &Frame| inner.nodes[f.node as usize].is(name);
            let Some(at) = inner.stack.iter().rposition(open) else {
                notes.add(Note::NotOpen, shown);
                return None;
            };
            while inner.stack.len() > at + 1 {
                let inside = inner.stack[inner.stack.len() - 1].node;
                notes.add(Note::EndedByOuter, || inner.name(inside));
                self.close(inner, t);
            }
        }
        self.close(inner, t)
    }

    /// Ends what is open, as the thread does.
    pub fn finish(&self, notes: &Notes) {
        let Some(mut inner) = self.inner.lock_soon() else {
            return;
        };
        let t = now();
        while let Some(&Frame { node, .. }) = inner.stack.last() {
            notes.add(Note::OpenAtEnd, || inner.name(node));
            self.close(&mut inner, t);
        }
        drop(inner);
        self.ended.store(true, Ordering::Release);
    }

    /// Names of the open regions, the outermost first, of a thread that was forked.
    pub fn open(&self) -> Vec<Arc<[u8]>> {
        let Some(inner) = self.inner.lock_soon() else {
            return Vec::new();
        };
        let name = |f: &Frame| inner.nodes[f.node as usize].name.clone();
        inner.stack.iter().map(name).collect()
    }

    fn close(&self, inner: &mut Inner, t: u64) -> Option<u64> {
        let frame = inner.stack.pop()?;
        let length = t.saturating_sub(frame.start);
        inner.count(frame.node, |c| {
            c.calls += 1;
            c.inclusive += t.saturating_sub(frame.inclusive_to);
            c.exclusive += t.saturating_sub(frame.exclusive_to);
            c.shortest = c.shortest.min(length);
            c.longest = c.longest.max(length);
        });
        if let Some(outer) = inner.stack.last_mut() {
            outer.exclusive_to = t;
        }
        if self.lines {
            inner.records.push(Record {
                path: inner.nodes[frame.node as usize].path,
                thread: self.number,
                from: frame.start,
                to: t,
            });
        }
        Some(length)
    }

    /// Whether the thread must wait until its lines are taken.
    pub fn is_full(&self) -> bool {
        self.lines && self.inner.lock().records.len() >= MOST_RECORDS
    }

    /// Gives what was counted since the last time: path, counts, whether the thread is new there. Regions that are open
    /// count until now. Returns whether the thread has ended, and all is given.
    pub fn drain(
        &self,
        mut take: impl FnMut(PathId, Counted, bool),
        records: Option<&mut Vec<Record>>,
    ) -> bool {
        let ended = self.ended.load(Ordering::Acquire);
        let Some(mut inner) = self.inner.lock_soon() else {
            return false;
        };
        let inner = &mut *inner;
        let t = now();
        for i in 0..inner.stack.len() {
            let innermost = i + 1 == inner.stack.len();
            let frame = &mut inner.stack[i];
            let inclusive = t.saturating_sub(frame.inclusive_to);
            frame.inclusive_to = t;
            let exclusive = if innermost {
                let time = t.saturating_sub(frame.exclusive_to);
                frame.exclusive_to = t;
                time
            } else {
                0
            };
            let node = frame.node;
            inner.count(node, |c| {
                c.inclusive += inclusive;
                c.exclusive += exclusive;
            });
        }
        for i in inner.listed.drain(..) {
            let node = &mut inner.nodes[i as usize];
            take(node.path, node.counted, !node.known);
            node.counted = Counted::NOTHING;
            node.listed = false;
            node.known = true;
        }
        if let Some(records) = records {
            records.append(&mut inner.records);
        }
        ended
    }
}

impl Node {
    fn new(path: PathId, name: Arc<[u8]>) -> Self {
        Self {
            path,
            name,
            children: HashMap::new(),
            last: 0,
            counted: Counted::NOTHING,
            listed: false,
            known: false,
        }
    }

    fn is(&self, name: &[u8]) -> bool {
        *self.name == *name || self.path == OTHER || *self.name == *names::cut(name)
    }
}

impl Inner {
    #[inline]
    fn child(&mut self, parent: u32, name: &[u8]) -> Option<u32> {
        let node = &self.nodes[parent as usize];
        if node.last != 0 && *self.nodes[node.last as usize].name == *name {
            return Some(node.last);
        }
        let found = *node.children.get(names::cut(name))?;
        self.nodes[parent as usize].last = found;
        Some(found)
    }

    #[cold]
    fn add_child(
        &mut self,
        parent: u32,
        name: &[u8],
        paths: &Mutex<names::Paths>,
        notes: &Notes,
    ) -> u32 {
        let short: Arc<[u8]> = Arc::from(names::cut(name));
        if short.len() < name.len() {
            notes.add(Note::Cut, || String::from_utf8_lossy(&short).into_owned());
        }
        let path = {
            let mut paths = paths.lock().unwrap_or_else(PoisonError::into_inner);
            paths.inside(self.nodes[parent as usize].path, &short)
        };
        if path == OTHER {
            notes.add(Note::TooMany, || {
                String::from_utf8_lossy(&short).into_owned()
            });
            if let Some(i) = self.other {
                return i;
            }
        }
        let i = self.nodes.len() as u32;
        self.nodes.push(Node::new(path, short.clone()));
        if path == OTHER {
            self.other = Some(i);
            return i;
        }
        self.nodes[parent as usize].children.insert(short, i);
        self.nodes[parent as usize].last = i;
        i
    }

    #[inline]
    fn count(&mut self, node: u32, add: impl FnOnce(&mut Counted)) {
        let n = &mut self.nodes[node as usize];
        add(&mut n.counted);
        if !n.listed {
            n.listed = true;
            self.listed.push(node);
        }
    }

    fn name(&self, node: u32) -> String {
        String::from_utf8_lossy(&self.nodes[node as usize].name).into_owned()
    }
}
