//! From texts to expression trees and the values of independent parameters.

pub(super) mod derived;
pub(super) mod parsed;
pub(super) mod values;
