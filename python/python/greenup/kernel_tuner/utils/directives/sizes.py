"""Sizes of arrays: numbers, macros of the code, or values of the caller."""

import math
import re


class ArraySize:
    """Sizes of an array along its dimensions."""

    def __init__(self):
        self.size = []

    def __iter__(self):
        return iter(self.size)

    def __len__(self):
        return len(self.size)

    def clear(self):
        """Forgets all dimensions."""
        self.size.clear()

    def get(self):
        """Number of elements; 0 without a dimension."""
        return math.prod(self.size) if self.size else 0

    def add(self, dim):
        """Adds a dimension of at least one element."""
        if dim >= 1:
            self.size.append(dim)


def _number(text, preprocessor, dimensions):
    """The number that a text is or names; 0 if nobody knows it."""
    if dimensions and text in dimensions:
        return int(dimensions[text])
    for line in [f"#define {text} {text}", *(preprocessor or ())]:
        found = re.match(rf"\s*#\s*define\s+{re.escape(text)}\s+(\d+)\s*$", line)
        if found:
            return int(found[1])
    return 0


def parse_size(size, preprocessor=None, dimensions=None):
    """Sizes along the dimensions of ``size``: a number, a name, or several with commas between them."""
    out = ArraySize()
    for text in str(size).split(","):
        out.add(_number(text.strip(), preprocessor, dimensions))
    return out
