"""Code with directives, and T1 files, as Kernel Tuner's interface reads them."""

import json
import shutil

import numpy as np
import pytest

from greenup.kernel_tuner import tune_kernel, tune_kernel_T1
from greenup.kernel_tuner.file_utils import get_input_file, input_file_schema, output_file_schema
from greenup.kernel_tuner.utils import directives
from greenup.kernel_tuner.utils.directives import Code, Cxx, Fortran, OpenACC, OpenMP, process_directives

N = 64
CXX = f"""
#include <stdlib.h>
#define N {N}
int main(void) {{
#pragma tuner initialize
    const float factor = 2;
#pragma tuner stop
    #pragma tuner start scale y(float*:N) x(float*:N) n(int:N)
    #pragma omp target teams distribute parallel for num_threads(threads)
    for (int i = 0; i < n; i++) y[i] = factor * x[i];
    #pragma tuner stop
}}
"""
F90 = f"""
#define N {N}
!$tuner start scale y(float*:N) x(float*:N) n(int:N)
!$omp parallel do num_threads(threads)
do i = 1, n
  y(i) = 2 * x(i)
enddo
!$omp end parallel do
!$tuner stop
"""


def tuned(source, code, **more):
    functions, given = process_directives(code, source)
    y, x, n = given["scale"]
    assert y.size == N and n == N and x.dtype == np.float32
    right = [2 * x, None, None]
    results, _ = tune_kernel("scale", functions["scale"], N, given["scale"], {"threads": [1, 2]}, answer=right, quiet=True, **more)
    return results


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_section_of_cxx_can_be_tuned():
    results = tuned(CXX, Code(OpenMP(), Cxx()), compiler_options=["-fopenmp"])
    assert [r["threads"] for r in results] == [1, 2] and all(r["time"] > 0 for r in results)


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
def test_a_section_of_fortran_can_be_tuned():
    source = "\n".join(["!$tuner initialize", "integer :: i", "!$tuner stop", F90])
    results = tuned(source, Code(OpenMP(), Fortran()), compiler="gfortran", compiler_options=["-fopenmp"])
    assert len(results) == 2 and all("__error__" not in r for r in results)


def test_regions_of_openacc_say_that_their_arrays_are_there():
    source = CXX.replace("omp target teams distribute parallel for num_threads(threads)", "acc parallel loop")
    functions, _ = process_directives(Code(OpenACC(), Cxx()), source, user_dimensions={"N": 8})
    text = functions["scale"]
    assert "#pragma acc parallel loop present(y[:8]) present(x[:8])" in text
    assert "#pragma acc enter data create(y[:8])" in text and "#pragma acc exit data copyout(x[:8])" in text
    assert 'extern "C" float scale(float * y, float * x, int n)' in text and "#define N 8" in text
    own = source.replace("parallel loop", "parallel loop copy(y)")
    assert "present" not in process_directives(Code(OpenACC(), Cxx()), own)[0]["scale"]


def test_sections_with_continued_lines_and_names_that_begin_alike():
    source = "#pragma tuner start a \\\n x(float*:4,2)\none\n#pragma tuner stop\n#pragma tuner start ab\ntwo\n#pragma tuner stop\n"
    code = Code(OpenMP(), Cxx())
    assert directives.extract_directive_code(source, code) == {"a": "one", "ab": "two"}
    assert list(directives.extract_directive_code(source, code, "a")) == ["a"]
    assert directives.extract_directive_data(source, code) == {"a": {"x": ["float*", "4,2"]}, "ab": {}}
    assert directives.parse_size("4,2").get() == 8 and directives.parse_size("SIZE", ["#define SIZES 3"]).get() == 0
    with pytest.raises(ValueError, match="x is a real"):
        directives.extract_directive_signature("!$tuner start a x(real*:4)\n!$tuner stop", Code(OpenMP(), Fortran()))


# --- T1 files --------------------------------------------------------------------------------------------------------


@pytest.fixture
def t1(tmp_path):
    (tmp_path / "scale.c").write_text("float scale(float *y, const float *x, float a) { for (int i = 0; i < 8; i++) y[i] = a * x[i]; return tile; }")
    arguments = [
        {"Name": "y", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0] * max(tile)", "FillType": "Constant", "FillValue": 0},
        {"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": 8, "FillType": "Random", "RandomSeed": 1},
        {"Name": "a", "Type": "float", "MemoryType": "Scalar", "FillValue": 2},
    ]
    data = {
        "ConfigurationSpace": {
            "TuningParameters": [{"Name": "tile", "Type": "int", "Values": "[2**i for i in range(3)]"}],
            "Conditions": [{"Parameters": ["tile"], "Expression": "tile != 2"}],
        },
        "KernelSpecification": {
            "Language": "C", "KernelName": "scale", "KernelFile": "scale.c", "ProblemSize": [2], "Arguments": arguments,
            "GlobalSize": {"X": "1"}, "LocalSize": {"X": "1"},
        },
        "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 9}],
    }  # fmt: skip
    return data, tmp_path / "t1.json"


def test_a_t1_file_is_tuned(t1):
    data, file = t1
    file.write_text(json.dumps(data))
    results, env = tune_kernel_T1(file, output_T4=False, iterations=2)
    assert sorted((r["tile"], r["times"]) for r in results) == [(1, [1, 1]), (4, [4, 4])] and env["best_config"]["tile"] == 1
    metadata, found = tune_kernel_T1(str(file), cache_filepath=file.parent / "cache")
    assert len(found["results"]) == 2 and "hardware" in metadata["metadata"]
    (file.parent / "scale.c").write_text("nothing is compiled")
    assert len(tune_kernel_T1(file, cache_filepath=file.parent / "cache", simulation_mode=True, output_T4=False)[0]) == 2


def test_what_a_t1_file_lacks_is_named(t1):
    data, file = t1
    kernel = data["KernelSpecification"]
    for change, error, match in (
        ({"ProblemSize": None}, ValueError, "has no ProblemSize"),
        ({"KernelFile": "none.c"}, FileNotFoundError, "KernelFile"),
        ({"Arguments": [{"Name": "a", "Type": "float4", "MemoryType": "Vector", "Size": 1}]}, NotImplementedError, "argument a"),
    ):
        changed = {k: v for k, v in {**kernel, **change}.items() if v is not None}
        file.write_text(json.dumps({**data, "KernelSpecification": changed}))
        with pytest.raises(error, match=match):
            tune_kernel_T1(file)
    file.write_text(json.dumps({**data, "Budget": [{"Type": "ConfigurationFraction", "BudgetValue": 0.1}]}))
    with pytest.raises(NotImplementedError, match="ConfigurationFraction"):
        tune_kernel_T1(file)


def test_schemas(t1):
    jsonschema = pytest.importorskip("jsonschema")
    data, file = t1
    data["KernelSpecification"]["Language"] = "CUDA"
    file.write_text(json.dumps(data))
    assert get_input_file(file) == data
    del data["KernelSpecification"]["KernelName"]
    file.write_text(json.dumps(data))
    with pytest.raises(jsonschema.ValidationError, match="KernelName"):
        get_input_file(file)
    assert get_input_file(file, validate=False) == data
    for version, schema in (input_file_schema(), output_file_schema("results"), output_file_schema("metadata")):
        assert version == "1.0.0"
        jsonschema.Draft7Validator.check_schema(schema)
    with pytest.raises(ValueError, match="results, metadata"):
        output_file_schema("other")


def test_our_schemas_accept_what_kernel_tuners_own_accept(t1):
    theirs = pytest.importorskip("kernel_tuner.file_utils")
    jsonschema = pytest.importorskip("jsonschema")
    data, _ = t1
    data["KernelSpecification"]["Language"] = "CUDA"
    jsonschema.validate(data, theirs.input_file_schema()[1])
    jsonschema.validate(data, input_file_schema()[1])
