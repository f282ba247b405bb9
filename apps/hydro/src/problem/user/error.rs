//! Errors of problem files.

use greenup_space::expr::ExpressionError;

/// What is wrong with a problem file.
#[derive(Debug, thiserror::Error)]
pub enum ProblemFileError {
    /// The text is not TOML, or has an unknown key or a value of the wrong type.
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// There is no material.
    #[error("there is no [[material]]")]
    NoMaterial,
    /// A material is invalid.
    #[error("material {number}: {cause}")]
    Material {
        /// Its number in the file, from 1.
        number: usize,
        /// What is wrong with it.
        cause: MaterialError,
    },
    /// A key of `[walls]` is not an attribute, which is a positive integer.
    #[error("walls: invalid attribute `{0}` of the mesh")]
    Attribute(String),
    /// An unknown kind of wall.
    #[error(
        "walls: {number}: `{text}`: a wall is \"x\", \"y\", \"z\", \"fixed\", \"free\" or {{ velocity = [...] }}"
    )]
    Wall {
        /// Attribute of the wall.
        number: u32,
        /// The kind in the file.
        text: String,
    },
    /// A velocity of a wall is neither a finite number nor "free".
    #[error("walls: {0}: a velocity is made of finite numbers and \"free\"")]
    WallVelocity(u32),
    /// An attribute has two walls.
    #[error("walls: `{}` and `{}` are both attribute {number}: leave one of them", keys[0], keys[1])]
    WallTwice {
        /// The attribute.
        number: u32,
        /// Its keys in the file.
        keys: [String; 2],
    },
    /// A vector acts along a direction that the mesh does not have.
    #[error("{what}: it acts along {axis}, which a mesh of {dim} dimensions does not have")]
    Beyond {
        /// The key.
        what: String,
        /// The direction.
        axis: &'static str,
        /// Dimension of the mesh.
        dim: usize,
    },
    /// The energy of the point source is below 0.
    #[error("point_energy {0}: it must be 0 or more")]
    PointEnergy(f64),
    /// A vector has more than three components.
    #[error("{0} has more than 3 components")]
    Components(&'static str),
    /// A number is infinite or NaN.
    #[error("gravity or point_energy: {0} is not finite")]
    NotFinite(f64),
}

/// What is wrong with a material.
#[derive(Debug, thiserror::Error)]
pub enum MaterialError {
    /// The adiabatic index is not above 1.
    #[error("gamma {0}: it must be above 1")]
    Gamma(f64),
    /// The pressure p∞ is not finite.
    #[error("p_inf {0}: not finite")]
    PInf(f64),
    /// A field is infinite or NaN.
    #[error("{key} = {value}: it must be finite")]
    NotFinite {
        /// Its key.
        key: &'static str,
        /// The number.
        value: f64,
    },
    /// Both or none of pressure and energy are given.
    #[error("give either pressure or energy")]
    PressureOrEnergy,
    /// `where` has no value at the centre of a zone.
    #[error("`where` of material {number} has no value at its centre {centre:?}")]
    NoValue {
        /// Number of the material, from 1.
        number: usize,
        /// Centre of the zone.
        centre: Vec<f64>,
    },
    /// No material is defined for a zone.
    #[error(
        "no material fits its attribute {attribute} and its centre {centre:?}. Fix: add a [[material]] without `where`"
    )]
    NoneFits {
        /// Attribute of the zone in the mesh.
        attribute: u32,
        /// Centre of the zone.
        centre: Vec<f64>,
    },
    /// An expression is invalid.
    #[error("`{text}`: {cause}")]
    Expression {
        /// The expression.
        text: String,
        /// What is wrong with it.
        cause: ExpressionError,
    },
}
