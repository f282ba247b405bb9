//! Textures of a problem: arrays that kernels read by the texture units.

use super::cuda::{condition, expression};
use super::data::Data;
use super::error::ValueError;
use super::maps::array;
use super::written::TextureText;
use greenup_space::expr::Expr;
use serde::{Deserialize, Serialize};

/// A texture of a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextureOf {
    /// Number of its array among the arguments.
    pub argument: usize,
    /// Bytes of a texel: 4, 8 or 16.
    pub texel: u64,
}

/// A texture as expressions.
pub(super) struct Texturing {
    pub(super) argument: usize,
    pub(super) texel: Expr,
    pub(super) when: Option<Expr>,
}

pub(super) fn textures(
    written: &[TextureText],
    data: &[Data],
) -> Result<Vec<Texturing>, ValueError> {
    let one = |t: &TextureText| -> Result<Texturing, ValueError> {
        let fail = |cause: ValueError| ValueError::Texture {
            of: t.of.clone(),
            cause: Box::new(cause),
        };
        Ok(Texturing {
            argument: array(data, &t.of).map_err(fail)?,
            when: condition(t.when.as_ref()).map_err(fail)?,
            texel: expression(&t.texel, "texel").map_err(fail)?,
        })
    };
    written.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use crate::problem::tests::one_kernel;
    use crate::problem::{Problem, ProblemError};

    fn problem(language: &str, texture: &str) -> Result<Problem, ProblemError> {
        let text = format!(
            "[parameters]\nwide = [1, 2, 3]\n[[arguments]]\nname = \"n\"\ntype = \"i32\"\nvalue = \"3\"\n[[arguments]]\nname = \"x\"\ntype = \"f64\"\nsize = \"64\"\n[[textures]]\n{texture}"
        );
        one_kernel(language, &text)
    }

    const GOOD: &str = "of = \"x\"\ntexel = \"8 * wide\"\nwhen = \"wide > 1\"\n";

    #[test]
    fn a_texture_follows_the_config() {
        let p = problem("cuda", GOOD).unwrap();
        assert!(p.textures(&[1.into()]).unwrap().is_empty());
        let textures = p.textures(&[2.into()]).unwrap();
        assert_eq!(
            (textures.len(), textures[0].argument, textures[0].texel),
            (1, 1, 16)
        );
        let said = p.textures(&[3.into()]).unwrap_err().to_string();
        assert!(said.contains("24"), "{said}");
    }

    #[test]
    fn textures_that_make_no_sense_are_refused() {
        let said = problem("cuda", &GOOD.replace("\"x\"", "\"n\""))
            .err()
            .unwrap();
        assert!(said.message.contains("no such array"), "{said}");
        let said = problem("c", GOOD).err().unwrap();
        assert!(said.message.contains("has [[textures]]"), "{said}");
    }
}
