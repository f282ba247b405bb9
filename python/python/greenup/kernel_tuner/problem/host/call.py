"""The C++ function that stands between the tuner and host code.

The tuner calls it with the arguments of the problem file. The first call is the run that is checked. The second one makes as many
runs as the caller's ``iterations``, one after the other, asks before and after each if there are observers, and writes their times to
a file. All later ones are one run each.
"""

import json

import numpy as np

from ...arguments import by_bytes, c_type
from ...measure.check import SEPARATOR
from .structures import declared

#: Name of the function.
ENTRY = "greenup_kt_call"
_TEXT = """\
#define GREENUP_KT_TEXT_(...) #__VA_ARGS__
#define GREENUP_KT_TEXT(...) GREENUP_KT_TEXT_(__VA_ARGS__)
static const char greenup_kt_config[] = {key};
// Names of parameters are macros, also where headers use the same names.
{undefined}
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

{structures}
{declared}
typedef float (*greenup_kt_function)({types});
{variables}
static float greenup_kt_once(void) {{ return ((greenup_kt_function){target})({values}); }}

static int greenup_kt_silent = {silent};
static int greenup_kt_asked, greenup_kt_told;

/* Asks, and returns the number in the reply; nothing is asked any more after a reply that is none. */
static long greenup_kt_ask(const char *text) {{
    if (greenup_kt_silent) return 0;
    size_t length = strlen(text);
    if (write(greenup_kt_asked, text, length) != (ssize_t)length) {{ greenup_kt_silent = 1; return 0; }}
    char reply[64];
    size_t n = 0;
    while (n + 1 < sizeof reply && read(greenup_kt_told, reply + n, 1) == 1 && reply[n] != '\\n') n++;
    reply[n] = 0;
    char *end;
    long number = strtol(reply, &end, 10);
    if (end == reply) {{ greenup_kt_silent = 1; return 0; }}
    return number;
}}

static float greenup_kt_measure(void) {{
    const int runs = {runs};
    float *times = (float *)malloc(runs * sizeof *times);
    char *text = (char *)malloc(runs * 24 + sizeof greenup_kt_config + 64);
    double sum = 0.0;
    if (!times || !text) abort();
    if (!greenup_kt_silent) {{
        greenup_kt_asked = open({asked}, O_WRONLY);
        greenup_kt_told = open({told}, O_RDONLY);
        greenup_kt_silent = greenup_kt_asked < 0 || greenup_kt_told < 0;
    }}
    sprintf(text, "start" "\\037" "%s\\n", greenup_kt_config);
    long prologues = greenup_kt_ask(text);
    for (long i = 0; i < prologues; i++) {{
        sprintf(text, "prologue" "\\037" "%ld" "\\037" "before\\n", i);
        greenup_kt_ask(text);
        greenup_kt_once();
        sprintf(text, "prologue" "\\037" "%ld" "\\037" "after\\n", i);
        greenup_kt_ask(text);
    }}
    for (int i = 0; i < runs; i++) {{
        greenup_kt_ask("before\\n");
        times[i] = greenup_kt_once();
        greenup_kt_ask("after\\n");
        sum += times[i];
    }}
    char *end = text + sprintf(text, "measured");
    for (int i = 0; i < runs; i++) end += sprintf(end, "\\037" "%.9g", times[i]);
    strcpy(end, "\\n");
    long continuous = greenup_kt_ask(text);
    if (continuous > 0) {{
        greenup_kt_ask("continuous" "\\037" "before\\n");
        for (long i = 0; i < continuous; i++) greenup_kt_once();
        greenup_kt_ask("continuous" "\\037" "after\\n");
    }}
    FILE *file = fopen({times}, "a");
    if (file) {{
        fprintf(file, "%s\\036%s", greenup_kt_config, text + sizeof "measured");
        fclose(file);
    }}
    free(times);
    free(text);
    return (float)(sum / runs);
}}

extern "C" float {entry}({parameters}) {{
    static int calls = 0;
    {set}
    calls += calls < 3;
    return calls == 2 ? greenup_kt_measure() : greenup_kt_once();
}}
"""


def code(arguments, *, key, macros, target, runs, times, pipes=None):
    """The function's source text.

    ``key``: macros that tell a config from others; ``macros``: all names of macros; ``target``: the name that the linker knows the
    kernel by; ``pipes``: those of the observers' questions.
    """
    parameters, variables, types, values, sets, structures = [], [], [], [], [], []
    for i, argument in enumerate(arguments):
        name = f"greenup_kt_{i}"
        array = isinstance(argument, np.ndarray)
        kind = "void *" if array else c_type(argument.dtype) or f"greenup_kt_type_{i}"
        if not array and c_type(argument.dtype) is None:
            try:
                structures.append(declared(kind, argument.dtype))
            except TypeError as e:
                raise TypeError(f"Argument at position {i}: {e}") from None
        pointer = array or by_bytes(argument)
        taken = f"{_element(argument)} *" if pointer else kind
        parameters.append(f"{taken} given_{i}")
        variables.append(f"static {kind} {name};")
        types.append(kind)
        values.append(name)
        sets.append(f"memcpy(&{name}, given_{i}, sizeof {name});" if pointer and not array else f"{name} = given_{i};")
    asked, told = pipes or ("", "")
    return _TEXT.format(
        key=f' "\\x{ord(SEPARATOR):02x}" '.join(f"GREENUP_KT_TEXT({k})" for k in key) or '""',
        undefined="\n".join(f"#undef {m}" for m in macros),
        structures="\n".join(structures),
        declared=f'extern "C" void {target}(void);',
        types=", ".join(types) or "void",
        variables="\n".join(variables),
        target=target,
        values=", ".join(values),
        silent=int(pipes is None),
        runs=max(int(runs), 1),
        asked=json.dumps(str(asked)),
        told=json.dumps(str(told)),
        times=json.dumps(str(times)),
        entry=ENTRY,
        parameters=", ".join(parameters) or "void",
        set="\n    ".join(sets),
    )


def _element(argument):
    """Type of an element as the tuner declares it."""
    kind = argument.dtype.str[1:]
    return {"b1": "uint8_t", "c8": "float", "c16": "double"}.get(kind) or c_type(argument.dtype) or "uint8_t"


class Times:
    """The file of times: those of each config, in the unit that the kernel returns."""

    def __init__(self, file):
        self.file = file
        self._read, self._known = 0, {}

    def of(self, values):
        """Times of the config with these values; ``None`` if it was not measured."""
        try:
            with open(self.file, "rb") as file:
                file.seek(self._read)
                text = file.read()
        except FileNotFoundError:
            return None
        whole = text.rfind(b"\n") + 1
        self._read += whole
        for line in text[:whole].split(b"\n")[:-1]:
            key, _, times = line.decode(errors="replace").partition("\x1e")
            self._known[tuple(map(_plain, key.split(SEPARATOR)))] = [float(t) for t in times.split(SEPARATOR)]
        return self._known.pop(tuple(map(_plain, values)), None)


def _plain(value):
    """A value, whether it is written in C's or in Python's spelling."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return " ".join(str(value).split())
