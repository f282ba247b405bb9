"""Arguments of kernels and their answers."""

from .values import Writer, by_bytes, c_type, check_answer, compared_by_tuner, has_nan, name_of, return_to, to_numpy

__all__ = ["Writer", "by_bytes", "check_answer", "compared_by_tuner", "has_nan", "name_of", "return_to", "to_numpy"]
