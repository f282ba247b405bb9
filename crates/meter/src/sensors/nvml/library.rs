//! NVML's library, loaded at run time: the functions that sensors and settings need, as `nvml.h` declares them.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;

/// Fields of `nvmlDeviceGetFieldValues`, and the scope of memory.
pub const POWER_AVERAGE: c_uint = 185;
pub const POWER_INSTANT: c_uint = 186;
pub const BOARD: c_uint = 0;
pub const MEMORY: c_uint = 2;

/// Clock domains of `nvmlDeviceGetClockInfo`.
pub const CLOCK_SM: c_uint = 1;
pub const CLOCK_MEMORY: c_uint = 2;

/// Why a GPU lowers its clocks: the names of the bits that mean it.
const THROTTLE: [(u64, &str); 8] = [
    (0x2, "applications_clocks_setting"),
    (0x4, "sw_power_cap"),
    (0x8, "hw_slowdown"),
    (0x10, "sync_boost"),
    (0x20, "sw_thermal_slowdown"),
    (0x40, "hw_thermal_slowdown"),
    (0x80, "hw_power_brake_slowdown"),
    (0x100, "display_clock_setting"),
];

/// A call that fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NvmlError {
    /// The library is not there.
    #[error("the library cannot be loaded: {0}")]
    Missing(String),
    /// The library has no such function.
    #[error("the library has no {0}")]
    Function(&'static str),
    /// `nvmlReturn_t` other than success, with the library's words.
    #[error("NVML error {code}: {text}")]
    Code {
        /// The code.
        code: c_uint,
        /// What the library says about it.
        text: String,
    },
}

type Result<T> = std::result::Result<T, NvmlError>;

/// The library, initialised until it is dropped.
pub struct Nvml(Library);

/// A GPU of the library.
pub struct Device<'a> {
    nvml: &'a Nvml,
    handle: *mut c_void,
}

/// `nvmlFieldValue_t`.
#[repr(C)]
struct FieldValue {
    field: c_uint,
    scope: c_uint,
    timestamp: i64,
    latency_us: i64,
    value_type: c_uint,
    returned: c_uint,
    value: [u8; 8],
}

/// `nvmlPciInfo_t`, third version.
#[repr(C)]
struct PciInfo {
    legacy: [u8; 16],
    numbers: [c_uint; 5],
    bus_id: [u8; 32],
}

/// Calls a function of the library whose arguments have these types.
macro_rules! call {
    ($nvml:expr, $name:literal, $($arg:expr => $type:ty),*) => {
        $nvml.function($name).and_then(|address| {
            // SAFETY: `nvml.h` declares the function so; pointers lead to values that outlive the call.
            let code = unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> c_uint>(address)($($arg),*)
            };
            $nvml.checked(code)
        })
    };
}

impl Nvml {
    /// Loads and initialises NVIDIA's library.
    pub fn init() -> Result<Self> {
        // The name without a version is that of the toolkit's stub.
        Self::at("libnvidia-ml.so.1".as_ref())
    }

    /// The same of another library.
    pub fn at(path: &OsStr) -> Result<Self> {
        // SAFETY: the code that the driver's library runs when it is loaded is the user's own.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|e| NvmlError::Missing(e.to_string()))?;
        // The library counts initialisations: one that failed has no end.
        let nvml = ManuallyDrop::new(Self(library));
        call!(nvml, "nvmlInit_v2",)?;
        Ok(ManuallyDrop::into_inner(nvml))
    }

    fn function(&self, name: &'static str) -> Result<*mut c_void> {
        // SAFETY: only the address is taken.
        let symbol = unsafe { self.0.get::<*mut c_void>(name.as_bytes()) };
        Ok(symbol.map_err(|_| NvmlError::Function(name))?.into_raw())
    }

    fn checked(&self, code: c_uint) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        Err(NvmlError::Code {
            code,
            text: self.text(code).unwrap_or_else(|| "unknown".to_owned()),
        })
    }

    /// The library's words about a code.
    fn text(&self, code: c_uint) -> Option<String> {
        type ErrorString = unsafe extern "C" fn(c_uint) -> *const c_char;
        let address = self.function("nvmlErrorString").ok()?;
        // SAFETY: `nvml.h` declares the function so; it takes any code.
        let text = unsafe { std::mem::transmute::<*mut c_void, ErrorString>(address)(code) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, it ends with a zero byte and lives as long as the library.
        Some(
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned(),
        )
    }

    /// Number of GPUs.
    pub fn count(&self) -> Result<u32> {
        let mut n = 0;
        call!(self, "nvmlDeviceGetCount_v2", &raw mut n => *mut c_uint)?;
        Ok(n)
    }

    /// The GPU of a number.
    pub fn device(&self, index: u32) -> Result<Device<'_>> {
        let mut handle = std::ptr::null_mut();
        call!(self, "nvmlDeviceGetHandleByIndex_v2", index => c_uint, &raw mut handle => *mut *mut c_void)?;
        Ok(Device { nvml: self, handle })
    }

    /// The GPU at a place on the bus.
    pub fn device_at(&self, bus_id: &str) -> Result<Device<'_>> {
        let text = CString::new(bus_id).unwrap_or_default();
        let mut handle = std::ptr::null_mut();
        call!(self, "nvmlDeviceGetHandleByPciBusId_v2", text.as_ptr() => *const c_char, &raw mut handle => *mut *mut c_void)?;
        Ok(Device { nvml: self, handle })
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // Nothing can be done about a failure.
        let _ = call!(self, "nvmlShutdown",);
    }
}

/// The text in a field that ends with a zero byte.
fn text(field: &[u8]) -> String {
    let end = field.iter().position(|b| *b == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

impl Device<'_> {
    /// Its number.
    pub fn index(&self) -> Result<u32> {
        let mut n = 0;
        call!(self.nvml, "nvmlDeviceGetIndex", self.handle => *mut c_void, &raw mut n => *mut c_uint)?;
        Ok(n)
    }

    /// Its place on the bus.
    pub fn bus_id(&self) -> Result<String> {
        let mut info = PciInfo {
            legacy: [0; 16],
            numbers: [0; 5],
            bus_id: [0; 32],
        };
        call!(self.nvml, "nvmlDeviceGetPciInfo_v3", self.handle => *mut c_void, &raw mut info => *mut PciInfo)?;
        Ok(text(&info.bus_id))
    }

    /// Its name.
    pub fn name(&self) -> Result<String> {
        let mut name = [0u8; 96];
        call!(self.nvml, "nvmlDeviceGetName", self.handle => *mut c_void, name.as_mut_ptr().cast() => *mut c_char, name.len() as c_uint => c_uint)?;
        Ok(text(&name))
    }

    /// Energy since the driver was loaded, J.
    pub fn energy_j(&self) -> Result<f64> {
        let mut millijoules = 0;
        call!(self.nvml, "nvmlDeviceGetTotalEnergyConsumption", self.handle => *mut c_void, &raw mut millijoules => *mut u64)?;
        Ok(millijoules as f64 * 1e-3)
    }

    /// Average power, W.
    pub fn power_w(&self) -> Result<f64> {
        let mut milliwatts = 0;
        call!(self.nvml, "nvmlDeviceGetPowerUsage", self.handle => *mut c_void, &raw mut milliwatts => *mut c_uint)?;
        Ok(f64::from(milliwatts) * 1e-3)
    }

    /// A field of power, W, of the board or of its memory.
    pub fn field_w(&self, field: c_uint, scope: c_uint) -> Result<f64> {
        let mut v = FieldValue {
            field,
            scope,
            timestamp: 0,
            latency_us: 0,
            value_type: 0,
            returned: 0,
            value: [0; 8],
        };
        call!(self.nvml, "nvmlDeviceGetFieldValues", self.handle => *mut c_void, 1 => c_int, &raw mut v => *mut FieldValue)?;
        self.nvml.checked(v.returned)?;
        // `nvmlValueType_t`: double, unsigned int, signed long long; the others are unsigned, and the rest of their bytes is zero.
        let milliwatts = match v.value_type {
            0 => f64::from_ne_bytes(v.value),
            1 => {
                let [a, b, c, d, ..] = v.value;
                f64::from(u32::from_ne_bytes([a, b, c, d]))
            }
            4 => i64::from_ne_bytes(v.value) as f64,
            _ => u64::from_ne_bytes(v.value) as f64,
        };
        Ok(milliwatts * 1e-3)
    }

    /// Clock of a domain, Hz.
    pub fn clock_hz(&self, domain: c_uint) -> Result<f64> {
        let mut mhz = 0;
        call!(self.nvml, "nvmlDeviceGetClockInfo", self.handle => *mut c_void, domain => c_uint, &raw mut mhz => *mut c_uint)?;
        Ok(f64::from(mhz) * 1e6)
    }

    /// Temperature of the chip, °C.
    pub fn temperature_c(&self) -> Result<f64> {
        let mut t = 0;
        call!(self.nvml, "nvmlDeviceGetTemperature", self.handle => *mut c_void, 0 => c_uint, &raw mut t => *mut c_uint)?;
        Ok(f64::from(t))
    }

    /// Power limit that holds, W.
    pub fn enforced_limit_w(&self) -> Result<f64> {
        let mut milliwatts = 0;
        call!(self.nvml, "nvmlDeviceGetEnforcedPowerLimit", self.handle => *mut c_void, &raw mut milliwatts => *mut c_uint)?;
        Ok(f64::from(milliwatts) * 1e-3)
    }

    /// Why its clocks are lower than they could be; an idle GPU has no reason.
    pub fn throttle(&self) -> Result<Vec<String>> {
        let mut bits = 0;
        call!(self.nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", self.handle => *mut c_void, &raw mut bits => *mut u64)?;
        let set = THROTTLE.iter().filter(|(bit, _)| bits & bit != 0);
        Ok(set.map(|(_, name)| (*name).to_owned()).collect())
    }

    /// Holds the clock of the multiprocessors, MHz.
    pub fn lock_clock(&mut self, mhz: u32) -> Result<()> {
        call!(self.nvml, "nvmlDeviceSetGpuLockedClocks", self.handle => *mut c_void, mhz => c_uint, mhz => c_uint)
    }

    /// Gives the clock of the multiprocessors free.
    pub fn free_clock(&mut self) -> Result<()> {
        call!(self.nvml, "nvmlDeviceResetGpuLockedClocks", self.handle => *mut c_void)
    }

    /// Holds the clock of the memory, MHz.
    pub fn lock_memory_clock(&mut self, mhz: u32) -> Result<()> {
        call!(self.nvml, "nvmlDeviceSetMemoryLockedClocks", self.handle => *mut c_void, mhz => c_uint, mhz => c_uint)
    }

    /// Gives the clock of the memory free.
    pub fn free_memory_clock(&mut self) -> Result<()> {
        call!(self.nvml, "nvmlDeviceResetMemoryLockedClocks", self.handle => *mut c_void)
    }

    /// Power limit that was set, mW.
    pub fn limit_mw(&self) -> Result<u32> {
        let mut milliwatts = 0;
        call!(self.nvml, "nvmlDeviceGetPowerManagementLimit", self.handle => *mut c_void, &raw mut milliwatts => *mut c_uint)?;
        Ok(milliwatts)
    }

    /// Sets the power limit, mW.
    pub fn set_limit_mw(&mut self, milliwatts: u32) -> Result<()> {
        call!(self.nvml, "nvmlDeviceSetPowerManagementLimit", self.handle => *mut c_void, milliwatts => c_uint)
    }
}
