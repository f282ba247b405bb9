"""Structures that host code takes by value, as types of C++ with the members of their NumPy type."""

from ...arguments import c_type

#: Larger ones are passed in memory, whatever their members are.
_IN_REGISTERS = 16


def declared(name, dtype):
    """The declaration of a type ``name`` that is passed as the structure of a NumPy type is.

    Raises TypeError if that depends on members which the type does not tell.
    """
    if dtype.kind == "c":
        part = "float" if dtype.itemsize == 8 else "double"
        return f"struct {name} {{ {part} re, im; }};"
    if dtype.names is None:
        if dtype.itemsize <= _IN_REGISTERS:
            raise TypeError(
                f"a structure of {dtype.itemsize} bytes without members: how it is passed depends on them. Give it a NumPy type with fields"
            )
        return f"struct {name} {{ uint64_t words[{dtype.itemsize // 8}]; uint8_t rest[{dtype.itemsize % 8}]; }};"
    return f"struct {name} {{\n{_members(dtype)}\n}}{_packed(dtype)};\nstatic_assert(sizeof({name}) == {dtype.itemsize}, \"size\");"


def _members(dtype):
    lines, end = [], 0
    for i, field in enumerate(dtype.names):
        kind, offset = dtype.fields[field][:2]
        if _packed(dtype) and offset > end:
            lines.append(f"    uint8_t gap_{i}[{offset - end}];")
        lines.append(f"    {_member(f'm{i}', kind)}")
        end = offset + kind.itemsize
    if _packed(dtype) and dtype.itemsize > end:
        lines.append(f"    uint8_t gap[{dtype.itemsize - end}];")
    return "\n".join(lines)


def _member(name, kind):
    base, shape = kind.subdtype or (kind, ())
    size = "".join(f"[{n}]" for n in shape)
    if base.names is not None:
        return f"struct {{\n{_members(base)}\n}}{_packed(base)} {name}{size};"
    if base.kind == "c":
        return f"{'float' if base.itemsize == 8 else 'double'} {name}{size}[2];"
    return f"{c_type(base) or 'uint8_t'} {name}{size}" + ("" if c_type(base) else f"[{base.itemsize}]") + ";"


def _alignment(kind):
    base = kind.subdtype[0] if kind.subdtype else kind
    if base.names is not None:
        return 1 if _packed(base) else max((_alignment(base.fields[f][0]) for f in base.names), default=1)
    return base.alignment if c_type(base) or base.kind == "c" else 1


def _packed(dtype):
    """The attribute of a structure whose members do not lie where C++ puts them; empty if they do."""
    end, most = 0, 1
    for field in dtype.names:
        kind, offset = dtype.fields[field][:2]
        alignment = _alignment(kind)
        if offset != -(-end // alignment) * alignment:
            return " __attribute__((packed))"
        end, most = offset + kind.itemsize, max(most, alignment)
    return "" if dtype.itemsize == -(-end // most) * most else " __attribute__((packed))"
