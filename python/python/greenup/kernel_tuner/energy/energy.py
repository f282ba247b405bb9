"""Power over frequency: Kernel Tuner sets a GPU's clocks for it."""

from ..observers.absent import refusal

_REASON = "this tuner never sets clocks, which are shared by all who use a GPU: `greenup fit` models power over recorded clocks"
create_power_frequency_model = refusal("create_power_frequency_model", _REASON)
fit_power_frequency_model = refusal("fit_power_frequency_model", _REASON)
get_frequency_power_relation_fp32 = refusal("get_frequency_power_relation_fp32", _REASON)
get_frequency_range_around_ridge = refusal("get_frequency_range_around_ridge", _REASON)
