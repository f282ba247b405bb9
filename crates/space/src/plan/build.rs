//! A written space becomes a [`Space`].

use super::param::Param;
use crate::error::{ExprError, SpaceError};
use crate::expr::{Domain, Expr, ExprKind, Functions};
use crate::notation::{Definition, Facts, Strength, with_line};
use crate::plan::graph::lower::{Binding, Lowering};
use crate::plan::graph::op::{Bounds, Op, Type};
use crate::plan::graph::symbols::Symbols;
use crate::plan::graph::{CONSTANT, Graph, Id};
use crate::plan::nest::resolve::{Uses, levels};
use crate::plan::read::parsed::{ParsedDomain, check_names, parse_all};
use crate::plan::read::values::{list_bounds, static_lists, symbols, typed};
use crate::script::Scripts;
use crate::value::Value;
use hashbrown::HashMap;

/// Where the values of a level come from.
pub enum DomainNodes {
    List(Vec<u64>),
    /// Stop included.
    Range {
        start: Id,
        stop: Id,
        step: Id,
    },
    Divisors(Id),
    /// An expression or a closure of earlier parameters.
    Dynamic {
        expr: Expr,
        /// Names and nodes of the parameters it uses.
        uses: Vec<(String, Id)>,
    },
}

/// A filter, cut into parts that are decidable at different depths.
pub struct Filter {
    /// Name of the filter.
    pub name: String,
    /// Boolean expression.
    pub expression: String,
    /// Hard or soft.
    pub strength: Strength,
    /// Reason for the filter.
    pub because: Option<String>,
    /// The conjunction, part by part.
    pub parts: Vec<Part>,
}

/// A part of a filter that is tested on its own.
pub struct Part {
    /// Level at which it is decidable.
    pub level: i32,
    pub root: Id,
    /// Nodes that rise or fall where the part does: itself, or for an equality the two
    /// inequalities it stands for.
    pub edges: Vec<Id>,
}

impl Filter {
    /// Whether the filter was found true for every point without looking at any.
    pub fn always_true(&self, space: &Space) -> bool {
        self.parts
            .iter()
            .all(|p| space.graph.value(p.root) == Some(1))
    }
}

/// A space ready to be counted, enumerated, indexed and sampled.
///
/// ```
/// use greenup_space::{Facts, Index, Limits, Space, Value, count};
/// use std::sync::Arc;
///
/// let text = "
/// [parameters]
/// block = [16, 32, 64]
/// tile = '1 : block'
/// [hard]
/// divides = 'block % tile == 0'
/// ";
/// let space = Arc::new(Space::read(text, &Facts::new())?);
/// assert_eq!(count(&space, |_| true, &Limits::default())?, 5 + 6 + 7);
///
/// let index = Index::build(&space, &Limits::default())?;
/// assert_eq!(index.get(0), Some(vec![Value::Int(16), Value::Int(1)]));
/// let mut rng = fastrand::Rng::with_seed(1);
/// assert_eq!(index.sample(4, &mut rng, &|| false)?.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Space {
    /// Name of the space.
    pub name: String,
    /// Description.
    pub about: String,
    pub(crate) params: Vec<Param>,
    /// Declared index of the parameter of each level.
    pub(crate) levels: Vec<usize>,
    pub(crate) domains: Vec<DomainNodes>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) graph: Graph,
    pub(crate) symbols: Symbols,
    pub(crate) scripts: Option<Scripts>,
    pub(crate) constants: Vec<(String, Value)>,
    pub(crate) derived: Vec<(String, Expr)>,
}

type Built<T> = Result<T, SpaceError>;

impl Space {
    /// Reads and builds a space from a file's text, of any format.
    ///
    /// # Errors
    /// As [`Definition::read`] and [`Space::new`], with the line at fault.
    pub fn read(text: &str, facts: &Facts) -> Built<Self> {
        Self::new(&Definition::read(text, facts)?).map_err(|e| with_line(e, text))
    }

    /// Builds the space.
    ///
    /// # Errors
    /// What is wrong with it, with the expression at fault: syntax, unknown or doubled names,
    /// cycles, values of the wrong type, an empty or doubled list.
    pub fn new(d: &Definition) -> Built<Self> {
        let scripts = d.script.as_deref().map(Scripts::new).transpose()?;
        check_names(d)?;
        let parsed = parse_all(d)?;
        let constants: HashMap<&str, &Value> =
            d.constants.iter().map(|(n, v)| (n.as_str(), v)).collect();
        let params: HashMap<&str, usize> = d
            .parameters
            .iter()
            .enumerate()
            .map(|(i, p)| (p.name.as_str(), i))
            .collect();
        let functions = scripts.as_ref().map(|s| s as &dyn Functions);
        let uses = Uses::new(d, &parsed, &constants, &params, functions)?;
        let lists = static_lists(d, &parsed, &uses, functions)?;
        let symbols = symbols(d, &lists, &parsed);
        let (chain, fixed) = levels(d, &parsed, &uses, &lists)?;

        let mut space = Self {
            name: d.name.clone(),
            about: d.about.clone(),
            params: Vec::with_capacity(d.parameters.len()),
            levels: chain.clone(),
            domains: Vec::with_capacity(chain.len()),
            filters: Vec::with_capacity(d.filters.len()),
            graph: Graph::default(),
            symbols,
            scripts,
            constants: d.constants.clone(),
            derived: parsed.derived.clone(),
        };
        let mut level_of = vec![None; d.parameters.len()];
        for (level, &p) in chain.iter().enumerate() {
            level_of[p] = Some(level);
        }
        for (i, p) in d.parameters.iter().enumerate() {
            let (kind, list) = match &lists[i] {
                Some(values) => {
                    let (kind, list) = typed(values, &space.symbols);
                    (kind, Some(list))
                }
                None => (Type::Int, None),
            };
            space.params.push(Param {
                name: p.name.clone(),
                kind,
                level: level_of[i],
                bounds: list
                    .as_deref()
                    .map_or(Bounds::ANY, |l| list_bounds(kind, l)),
                list,
            });
        }
        let mut names: HashMap<String, Binding> = d
            .constants
            .iter()
            .map(|(n, v)| (n.clone(), Binding::Constant(v.clone())))
            .collect();
        for (n, e) in &parsed.derived {
            names.insert(n.clone(), Binding::Derived(e.clone()));
        }
        let mut done = HashMap::new();
        for &p in &fixed {
            let bits = space.params[p].list.as_ref().map_or(0, |l| l[0].0);
            let id = space.graph.constant(bits, space.params[p].kind);
            names.insert(space.params[p].name.clone(), Binding::Param(id));
        }
        for (level, &p) in chain.iter().enumerate() {
            let domain =
                space.lower_domain(&parsed.domains[p], p, &mut done, &names, &uses.domain[p])?;
            space.domains.push(domain);
            let param = &space.params[p];
            let id = space.graph.param(level as u32, param.kind, param.bounds);
            names.insert(param.name.clone(), Binding::Param(id));
        }
        for (f, e) in d.filters.iter().zip(&parsed.filters) {
            let mut lowering = Lowering {
                graph: &mut space.graph,
                names: &names,
                symbols: &space.symbols,
                params: &space.params,
                done: &mut done,
                effort: 0,
            };
            let root = lowering
                .truth(e)
                .map_err(|e| e.within(&format!("filter `{}`", f.name), &f.expression))?;
            let parts = split(&mut space.graph, root);
            space.filters.push(Filter {
                name: f.name.clone(),
                expression: f.expression.clone(),
                strength: f.strength,
                because: f.because.clone(),
                parts,
            });
        }
        Ok(space)
    }

    fn lower_domain(
        &mut self,
        parsed: &ParsedDomain,
        p: usize,
        done: &mut HashMap<String, Id>,
        names: &HashMap<String, Binding>,
        uses: &[usize],
    ) -> Built<DomainNodes> {
        if let Some(list) = &self.params[p].list {
            return Ok(DomainNodes::List(list.iter().map(|(b, _)| *b).collect()));
        }
        let ParsedDomain::Expr(domain, text) = parsed else {
            return Ok(DomainNodes::List(Vec::new()));
        };
        let what = format!("parameter `{}`", self.params[p].name);
        let mut lowering = Lowering {
            graph: &mut self.graph,
            names,
            symbols: &self.symbols,
            params: &self.params,
            done,
            effort: 0,
        };
        let mut int = |e: &Expr| -> Result<Id, ExprError> {
            let id = lowering.value(e)?;
            if lowering.graph.node(id).kind != Type::Int {
                return Err(ExprError::new(
                    "a range that depends on parameters is of integers",
                    e.span,
                ));
            }
            Ok(id)
        };
        let lowered = match domain {
            Domain::Range { start, stop, step } => (|| {
                let (start, stop) = (int(start)?, int(stop)?);
                let step = match step {
                    Some(e) => int(e)?,
                    None => int(&Expr::from(Value::Int(1)))?,
                };
                Ok(DomainNodes::Range { start, stop, step })
            })(),
            Domain::Values(e) => match &e.kind {
                ExprKind::Call(f, args) if f == "divisors" && args.len() == 1 => {
                    int(&args[0]).map(DomainNodes::Divisors)
                }
                _ => Ok(DomainNodes::Dynamic {
                    expr: e.clone(),
                    uses: uses
                        .iter()
                        .filter_map(|&q| {
                            let name = &self.params[q].name;
                            match names.get(name) {
                                Some(Binding::Param(id)) => Some((name.clone(), *id)),
                                _ => None,
                            }
                        })
                        .collect(),
                }),
            },
        };
        let domain = lowered.map_err(|e: ExprError| e.within(&what, text))?;
        let b = |id: Id| self.graph.node(id).bounds;
        self.params[p].bounds = match &domain {
            DomainNodes::Range { start, stop, step } => {
                let (s, e, t) = (b(*start), b(*stop), b(*step));
                if t.lo >= 1 {
                    Bounds::ints(s.lo, e.hi.max(s.lo))
                } else if t.hi <= -1 {
                    Bounds::ints(e.lo.min(s.hi), s.hi)
                } else {
                    Bounds::ints(s.lo.min(e.lo), s.hi.max(e.hi))
                }
            }
            DomainNodes::Divisors(of) => {
                let of = b(*of);
                Bounds::ints(1, of.hi.max(of.lo.saturating_neg()).max(1))
            }
            _ => Bounds::ANY,
        };
        Ok(domain)
    }
}

/// Cuts a conjunction into parts, each with the level at which it is tested. A part that may have
/// no value waits for the parts written before it, which may guard it.
fn split(graph: &mut Graph, root: Id) -> Vec<Part> {
    let mut roots = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        if graph.node(id).op == Op::And {
            let [a, b, _] = graph.node(id).args;
            stack.push(b);
            stack.push(a);
        } else {
            roots.push(id);
        }
    }
    let mut deepest = CONSTANT;
    let mut parts = Vec::with_capacity(roots.len());
    for root in roots {
        let n = *graph.node(root);
        deepest = deepest.max(n.level);
        let [a, b, _] = n.args;
        let le = match n.op {
            Op::Eq if graph.node(a).kind == Type::Int => Some(Op::Le),
            Op::FloatEq => Some(Op::FloatLe),
            _ => None,
        };
        parts.push(Part {
            level: if n.may_fail { deepest } else { n.level },
            root,
            edges: match le {
                Some(le) => vec![
                    graph.apply(le, &[a, b], Type::Int),
                    graph.apply(le, &[b, a], Type::Int),
                ],
                None => vec![root],
            },
        });
    }
    parts
}
