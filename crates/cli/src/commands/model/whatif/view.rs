//! The roofline that a question is about.

use crate::args::WhatifArgs;
use greenup_app::error::Result;
use greenup_model::{EnergyRoofline, Machine, Op};

/// Of the operation asked for, or the machine's main one, and its memory.
pub(super) fn view(args: &WhatifArgs, machine: &Machine) -> Result<EnergyRoofline> {
    let flop = args.flop.or(machine.main_flop()).unwrap_or(Op::F64);
    Ok(machine.roofline(flop, Op::Dram)?)
}
