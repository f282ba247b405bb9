//! Tensor maps of a problem: how its arrays are cut into boxes for the copy engine.

use super::cuda::{condition, expression};
use super::data::{Data, Type};
use super::error::ValueError;
use super::written::MapText;
use greenup_device::cuda::{MapElement, MapShape};
use greenup_space::expr::Expr;
use serde::{Deserialize, Serialize};

/// A map of a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// Number of its array among the arguments.
    pub argument: usize,
    /// Sizes and strides of the tensor map.
    pub shape: MapShape,
}

/// A map as expressions.
pub(super) struct Mapping {
    pub(super) argument: usize,
    pub(super) element: MapElement,
    pub(super) sizes: Vec<Expr>,
    pub(super) steps: Vec<Expr>,
    pub(super) cut: Vec<Expr>,
    pub(super) swizzle: u32,
    pub(super) when: Option<Expr>,
}

/// Number of an array among the arguments.
pub(super) fn array(data: &[Data], name: &str) -> Result<usize, ValueError> {
    let found = data.iter().position(|d| d.name == name && d.len.is_some());
    found.ok_or(ValueError::NoArray)
}

pub(super) fn maps(written: &[MapText], data: &[Data]) -> Result<Vec<Mapping>, ValueError> {
    let one = |m: &MapText| -> Result<Mapping, ValueError> {
        let fail = |cause: ValueError| ValueError::Map {
            of: m.of.clone(),
            cause: Box::new(cause),
        };
        let argument = array(data, &m.of).map_err(fail)?;
        let all = |v: &[toml::Value], what: &str| -> Result<Vec<Expr>, ValueError> {
            v.iter()
                .map(|v| expression(v, what))
                .collect::<Result<_, _>>()
                .map_err(fail)
        };
        let n = m.sizes.len();
        if !(1..=5).contains(&n) || m.cut.len() != n || m.steps.len() + 1 != n {
            return Err(fail(ValueError::MapSizes));
        }
        if ![0, 32, 64, 128].contains(&m.swizzle) {
            return Err(fail(ValueError::Swizzle(m.swizzle)));
        }
        Ok(Mapping {
            argument,
            element: match data[argument].kind {
                Type::F32 => MapElement::F32,
                Type::F64 => MapElement::F64,
                Type::I32 => MapElement::I32,
                Type::I64 => MapElement::I64,
                _ => return Err(fail(ValueError::MapElement)),
            },
            sizes: all(&m.sizes, "sizes")?,
            steps: all(&m.steps, "steps")?,
            cut: all(&m.cut, "box")?,
            swizzle: m.swizzle,
            when: condition(m.when.as_ref()).map_err(fail)?,
        })
    };
    written.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use crate::problem::tests::one_kernel;
    use crate::problem::{Problem, ProblemError};

    fn problem(language: &str, map: &str) -> Result<Problem, ProblemError> {
        let text = format!(
            "[parameters]\ntile = [8, 16]\n[[arguments]]\nname = \"x\"\ntype = \"f32\"\nsize = \"64\"\n[[arguments]]\nname = \"n\"\ntype = \"i32\"\nvalue = \"3\"\n[[maps]]\n{map}"
        );
        one_kernel(language, &text)
    }

    const GOOD: &str =
        "of = \"x\"\nsizes = [16, 4]\nsteps = [16]\nbox = [\"tile\", 4]\nwhen = \"tile == 8\"\n";

    #[test]
    fn a_map_follows_the_config() {
        let p = problem("cuda", GOOD).unwrap();
        let maps = p.maps(&[8.into()]).unwrap();
        assert_eq!((maps.len(), maps[0].argument), (1, 0));
        assert_eq!(maps[0].shape.cut, [8, 4]);
        assert!(p.maps(&[16.into()]).unwrap().is_empty());
    }

    #[test]
    fn maps_that_make_no_sense_are_refused() {
        for (from, to, word) in [
            ("of = \"x\"", "of = \"n\"", "no such array"),
            ("steps = [16]", "steps = []", "one step less"),
            ("of = \"x\"", "of = \"x\"\nswizzle = 48", "swizzle 48"),
        ] {
            let said = problem("cuda", &GOOD.replace(from, to)).err().unwrap();
            assert!(said.message.contains(word), "{said}");
        }
        let said = problem("c", GOOD).err().unwrap();
        assert!(said.message.contains("language is not cuda"), "{said}");
        let zero = problem(
            "cuda",
            &GOOD.replace("sizes = [16, 4]", "sizes = [16, \"tile - 8\"]"),
        );
        assert!(zero.unwrap().maps(&[8.into()]).is_err());
    }
}
