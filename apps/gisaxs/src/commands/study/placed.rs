//! A case with what measures it, as a config of a sweep.

use crate::study::Case;
use greenup_app::study;
use greenup_device::affinity::Pin;
use greenup_space::Value;

/// A number of GPUs, or of threads and how they are pinned.
pub type Devices = (usize, Pin);

/// A case on some devices, one after another.
pub struct Placed<'a> {
    pub case: Case,
    pub on: &'a [Devices],
    pub gpus: bool,
}

/// Parameters of the sweep.
pub fn parameters(gpus: bool) -> Vec<&'static str> {
    let of_devices: &[_] = if gpus { &["gpus"] } else { &["threads", "pin"] };
    [
        &["method", "precision", "triangles", "points", "im_qz"],
        of_devices,
    ]
    .concat()
}

/// Cases that are measured on the same devices.
pub fn placed<'a>(cases: &[Case], on: &'a [Devices], gpus: bool) -> Vec<Placed<'a>> {
    cases
        .iter()
        .map(|c| Placed { case: *c, on, gpus })
        .collect()
}

impl study::Case for Placed<'_> {
    fn name(&self) -> String {
        self.case.name()
    }

    fn configs(&self) -> Vec<Vec<Value>> {
        let (case, text) = (&self.case, |s: &str| Value::Str(s.to_owned()));
        let config = |(n, pin): &Devices| {
            let mut config = vec![
                text(case.method.name()),
                text(case.precision.name()),
                Value::Int(case.triangles() as i64),
                Value::Int(case.points() as i64),
                Value::Float(case.im_qz),
                Value::Int(*n as i64),
            ];
            config.extend((!self.gpus).then(|| text(pin.name())));
            config
        };
        self.on.iter().map(config).collect()
    }
}
