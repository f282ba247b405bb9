"""JSON schemas of the T1 and T4 formats, version 1.0.0."""

VERSION = "1.0.0"
_SCHEMA = "http://json-schema.org/draft-07/schema#"
_TEXT, _NUMBER, _WHOLE, _OBJECT = ({"type": kind} for kind in ("string", "number", "integer", "object"))
_ANY = {"type": ["number", "string", "boolean", "object", "array"]}


def _one_of(*values):
    return {"enum": list(values)}


def _list(items=None):
    return {"type": "array", **({"items": items} if items else {})}


def _object(required=(), **properties):
    return {"type": "object", "required": list(required), "properties": properties}


_FILLS = _one_of("Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF")
_SCALARS = ["bool", *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")), "custom"]
_VECTORS = [f"{kind}{n}" for kind in ("half", "float", "double") for n in ("", 2, 4, 8, 16)]
_SIZE = _object(["X"], X=_TEXT, Y=_TEXT, Z=_TEXT)

_ARGUMENT = _object(
    ["Type", "MemoryType"],
    Name=_TEXT, Type=_one_of(*_SCALARS, *_VECTORS), Size={"type": ["integer", "string"]}, TypeSize=_WHOLE, FillType=_FILLS,
    FillValue=_NUMBER, DataSource=_TEXT, RandomSeed=_WHOLE, AccessType=_one_of("ReadOnly", "WriteOnly", "ReadWrite"),
    MemoryType=_one_of("Scalar", "Vector", "Local", "Symbol"),
)  # fmt: skip
_REFERENCE = _object(
    ["Name", "TargetName", "FillType"],
    Name=_TEXT, TargetName=_TEXT, FillType=_FILLS, FillValue=_NUMBER, DataSource=_TEXT, RandomSeed=_WHOLE, ValidationThreshold=_NUMBER,
    ValidationMethod=_one_of("AbsoluteDifference", "SideBySideComparison", "SideBySideRelativeComparison"),
)  # fmt: skip
_KERNEL = _object(
    ["Language", "KernelName", "KernelFile", "GlobalSize", "LocalSize"],
    Device=_object(PlatformId=_WHOLE, DeviceId=_WHOLE, Name=_TEXT), Language=_one_of("OpenCL", "CUDA", "Vulkan", "Hypertuner"),
    CompilerOptions=_list(_TEXT), Profiling={"type": "boolean"}, KernelName=_TEXT, KernelFile=_TEXT, SharedMemory=_WHOLE,
    GlobalSizeType=_one_of("OpenCL", "CUDA", "Vulkan"), SimulationInput=_TEXT, GlobalSize=_SIZE, LocalSize=_SIZE,
    Arguments=_list(_ARGUMENT), ReferenceArguments=_list(_REFERENCE),
)  # fmt: skip
_SPACE = _object(
    ["TuningParameters"],
    TuningParameters=_list(
        _object(["Name", "Type", "Values"], Name=_TEXT, Type=_one_of("int", "uint", "float", "bool", "string"), Values=_TEXT)
    ),
    Conditions=_list(_object(["Parameters", "Expression"], Parameters=_list(_TEXT), Expression=_TEXT)),
)

#: A T1 file.
INPUT = {
    "$schema": _SCHEMA,
    **_object(
        ["ConfigurationSpace", "KernelSpecification"],
        ConfigurationSpace=_SPACE,
        KernelSpecification=_KERNEL,
        Search=_object(["Name"], Name=_TEXT, Attributes=_list(_object(["Name", "Value"], Name=_TEXT, Value=_ANY))),
        Budget=_list(
            _object(
                ["Type", "BudgetValue"], Type=_one_of("TuningDuration", "ConfigurationCount", "ConfigurationFraction"), BudgetValue=_NUMBER
            )
        ),
        General=_OBJECT,
    ),
}
_RESULT = _object(
    ["configuration", "times", "invalidity", "correctness"],
    timestamp=_TEXT, configuration=_OBJECT, objectives=_list(_TEXT), correctness=_NUMBER,
    times=_object(
        compilation_time=_NUMBER, runtimes=_list(_NUMBER), framework=_NUMBER, search_algorithm=_NUMBER, validation=_NUMBER
    ),
    invalidity=_one_of("timeout", "compile", "runtime", "correctness", "constraints", "correct"),
    measurements=_list(_object(name=_TEXT, value={"type": ["number", "string", "array", "null"]}, unit=_TEXT)),
)  # fmt: skip
#: T4 files.
OUTPUT = {
    "results": {"$schema": _SCHEMA, **_object(schema_version=_TEXT, results=_list(_RESULT))},
    "metadata": {
        "$schema": _SCHEMA,
        **_object(
            schema_version=_TEXT,
            metadata=_object(
                zenodo=_OBJECT,
                operating_system=_TEXT,
                hardware=_object(hardware_description=_list()),
                environment=_object(device_query=_OBJECT, requirements=_list()),
            ),
        ),
    },
}
