//! What expressions of scripts have on top: methods, slices, dictionaries, comprehensions of several names and loops.

use super::{Expr, ExprKind, Form};

/// Kinds of nodes that only scripts have.
#[derive(Clone, Debug, PartialEq)]
pub enum OfScript {
    /// `of.name(args)`.
    Method {
        /// The value.
        of: Expr,
        /// Name of the method.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `of[from:to:step]`.
    Slice {
        /// The value.
        of: Expr,
        /// First, end and step.
        bounds: [Option<Expr>; 3],
    },
    /// `{key: value}`.
    Dict(Vec<(Expr, Expr)>),
    /// `[item for … in … if …]`.
    Comprehension {
        /// The brackets.
        form: Form,
        /// Value of each element.
        item: Expr,
        /// The loops, outermost first.
        loops: Vec<Loop>,
    },
}

/// A loop of a comprehension.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// A name, or a tuple of names.
    pub target: Expr,
    /// What has the elements.
    pub source: Expr,
    /// Elements for which one is false are left out.
    pub conditions: Vec<Expr>,
}

impl OfScript {
    /// Calls `f` with each direct part.
    pub(super) fn children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Method { of, args, .. } => {
                f(of);
                args.iter().for_each(f);
            }
            Self::Slice { of, bounds } => {
                f(of);
                bounds.iter().flatten().for_each(f);
            }
            Self::Dict(items) => {
                for (key, value) in items {
                    f(key);
                    f(value);
                }
            }
            Self::Comprehension { item, loops, .. } => {
                for l in loops {
                    f(&l.source);
                    l.conditions.iter().for_each(&mut *f);
                }
                f(item);
            }
        }
    }
}

impl From<OfScript> for ExprKind {
    fn from(e: OfScript) -> Self {
        Self::Script(Box::new(e))
    }
}
