//! Functions with their names resolved to slots.

use crate::expr::{BinaryOp, CompareOp, Form, UnaryOp};
use crate::script::values::item::Item;

/// One function.
pub struct Function {
    pub name: String,
    pub at: usize,
    /// Names of the slots; parameters come first.
    pub slots: Vec<String>,
    pub parameters: usize,
    /// Values of the last parameters.
    pub defaults: Vec<Item>,
    /// It has `yield`.
    pub generator: bool,
    pub body: Block,
    /// Levels that its evaluation recurses.
    pub height: usize,
}

pub type Block = Vec<Statement>;

pub struct Statement {
    pub at: usize,
    /// Steps that it takes.
    pub steps: u64,
    pub what: Do,
}

pub enum Do {
    Nothing,
    Value(Node),
    /// Each target gets the value.
    Assign(Vec<Target>, Node),
    Update(Target, BinaryOp, Node),
    If(Vec<(Node, Block)>, Block),
    While(Node, Block),
    For(Target, Node, Block),
    Break,
    Continue,
    Return(Option<Node>),
    Yield(Node),
}

/// What an assignment changes.
pub enum Target {
    Slot(usize),
    Element(Box<Node>, Box<Node>, usize),
    Unpack(Vec<Target>, usize),
}

/// An expression, and the byte where it stands.
pub struct Node {
    pub at: usize,
    pub kind: Kind,
}

pub enum Kind {
    Constant(Item),
    Slot(usize),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<(Node, Node)>),
    Compare(Box<Node>, Vec<(CompareOp, Node)>),
    All(Vec<Node>),
    Any(Vec<Node>),
    /// Condition, then, otherwise.
    IfElse(Box<[Node; 3]>),
    List(Vec<Node>),
    Tuple(Vec<Node>),
    Set(Vec<Node>),
    Dict(Vec<(Node, Node)>),
    Index(Box<(Node, Node)>),
    Slice(Box<(Node, [Option<Node>; 3])>),
    /// A function of the script.
    Call(usize, Vec<Node>),
    /// A function of expressions.
    Function(&'static str, Vec<Node>),
    Method(Box<Node>, String, Vec<Node>),
    Comprehension(Form, Box<Node>, Vec<Loop>),
}

pub struct Loop {
    pub target: Target,
    pub source: Node,
    pub conditions: Vec<Node>,
    /// Steps of each element.
    pub steps: u64,
}
