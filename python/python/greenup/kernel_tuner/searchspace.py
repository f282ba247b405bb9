"""The configs of a search: those that meet all restrictions, by Greenup's index of the space."""

import itertools
import json
import math
import random

import numpy as np

from .. import Space
from .._native import GreenupError
from .space import restrictions as limits
from .util import default_block_size_names

#: Options of Kernel Tuner's construction of a space. Greenup's index needs none of them but the default of neighbours.
_CONSTRUCTION = ("build_neighbors_index", "neighbor_method", "framework", "solver_method", "path_to_ATF_cache", "defer_construction")

#: Configs for which functions of Python are called only to count them.
COUNTED = 1_000_000


class Searchspace:
    """A space of parameters with restrictions. Configs are tuples of values in the order of the parameters.

    ``max_threads`` bounds the product of the parameters ``block_size_x/y/z``.
    """

    def __init__(self, tune_params, restrictions=None, max_threads=1024, block_size_names=None, *, seed=None, **options):
        unknown = [o for o in options if o not in _CONSTRUCTION]
        if unknown:
            raise TypeError(f"searchspace_construction_options: unknown options {', '.join(unknown)}")
        self.tune_params = {name: list(values) for name, values in tune_params.items()}
        self.param_names = list(self.tune_params)
        self.params_values = [tuple(values) for values in self.tune_params.values()]
        self.num_params = len(self.param_names)
        self.neighbor_method = options.get("neighbor_method")
        self.random = random if seed is None else random.Random(seed)
        for name, values in self.tune_params.items():
            _check_distinct(name, values)
        self.restrictions = limits.as_list(restrictions)
        blocks = [n for n in block_size_names or default_block_size_names if n in self.tune_params]
        if blocks and max_threads is not None:
            self.restrictions = [*self.restrictions, f"{' * '.join(blocks)} <= {max_threads}"]
        for name, values in self.tune_params.items():
            if not values:
                raise ValueError(f"Tune parameter {name} has no values")
        self._index()
        self._list = self._numbers = self._matrix = None

    def _index(self):
        """Makes the index: restrictions become its filters where that can be done, the rest stays in ``_tests``."""
        codes = {name: _codes(values) for name, values in self.tune_params.items()}
        try:
            self._make(codes, {name: name for name in codes}, self.restrictions)
        except GreenupError:
            # Names or values that a space does not have: numbers stand for them.
            codes = {name: list(range(len(values))) for name, values in self.tune_params.items()}
            self._make(codes, {name: f"kt_{i}" for i, name in enumerate(codes)}, self.restrictions)

    def _make(self, codes, names, restrictions):
        filters, self._tests = [], []
        for restriction in restrictions:
            text = limits.as_filter(restriction, self.tune_params, codes, names)
            if text is None:
                self._tests.append(restriction)
            else:
                filters.append(text)
        lines = ['name = "kernel_tuner"', "[parameters]"]
        lines += [f"{names[name]} = {json.dumps(values, ensure_ascii=False)}" for name, values in codes.items()]
        lines += ["[hard]", *(f"kt_filter_{i} = {json.dumps(f, ensure_ascii=False)}" for i, f in enumerate(filters))]
        self._filtered = bool(filters)
        #: Greenup's space; its filters are those restrictions that it knows.
        self.space = Space("\n".join(lines))
        self.space.count()
        self._names = [names[name] for name in codes]
        self._codes = list(codes.values())
        self._places = [{code: i for i, code in enumerate(values)} for values in self._codes]

    # --- points of Greenup's space ---

    def indices_of(self, point):
        """Number of each parameter's value at a point of ``space``."""
        return tuple(places[point[name]] for places, name in zip(self._places, self._names))

    def config_of(self, point):
        """The config of a point of ``space``."""
        return tuple(values[i] for values, i in zip(self.params_values, self.indices_of(point)))

    def point_of(self, config):
        """The point of ``space`` of a config; ``None`` if a value is none of its parameter's."""
        point = {}
        for name, codes, values, value in zip(self._names, self._codes, self.params_values, config):
            at = _find(values, value)
            if at is None:
                return None
            point[name] = codes[at]
        return point

    def passes(self, config):
        """Whether a config of ``space`` meets the restrictions that are not its filters."""
        if not self._tests:
            return True
        params = dict(zip(self.param_names, config))
        return all(limits.holds(r, params) for r in self._tests)

    # --- all configs ---

    @property
    def list(self):
        """All configs, in the order of the parameters' values."""
        if self._list is None:
            if self._filtered:
                found = sorted(self.indices_of(point) for point in self.space)
                configs = (tuple(values[i] for values, i in zip(self.params_values, at)) for at in found)
            else:
                configs = itertools.product(*self.params_values)
            self._list = [c for c in configs if self.passes(c)] if self._tests else list(configs)
        return self._list

    def sorted_list(self):
        """All configs, in the order of the parameters' values."""
        return self.list

    @property
    def size(self):
        """Number of configs."""
        return len(self.list) if self._tests else self.most()

    def __len__(self):
        return self.size

    def most(self):
        """Number of configs, before the restrictions that only Python knows."""
        return self.space.count()

    def counted(self):
        """Number of configs as text; where counting would ask functions of Python too often, only a bound."""
        return str(self.size) if not self._tests or self.most() <= COUNTED else f"at most {self.most()}"

    def get_list_dict(self):
        """Number of each config in ``list``."""
        if self._numbers is None:
            self._numbers = {config: i for i, config in enumerate(self.list)}
        return self._numbers

    def get_param_config_index(self, config):
        """Number of a config in ``list``."""
        return self.get_list_dict()[tuple(config)]

    def get_param_indices(self, config):
        """Number of each value of a config among its parameter's."""
        return tuple(values.index(v) for values, v in zip(self.params_values, config))

    def get_param_config_from_param_indices(self, indices):
        """The config of these values."""
        return tuple(values[i] for values, i in zip(self.params_values, indices))

    def is_param_config_valid(self, config):
        """Whether a config meets all restrictions."""
        config = tuple(config)
        point = self.point_of(config) if len(config) == self.num_params else None
        return point is not None and point in self.space and self.passes(config)

    def get_random_sample(self, num_samples):
        """Different configs, each as likely as any other; all of them if there are no more."""
        most = self.most()
        if not self._tests and num_samples < most:
            return [self.config_of(self.space[i]) for i in self.random.sample(range(most), num_samples)]
        found = {}
        for _ in range(100 * num_samples if most > 10_000 else 0):
            config = self.config_of(self.space[self.random.randrange(most)])
            if self.passes(config):
                found[config] = None
                if len(found) >= num_samples:
                    return list(found)
        return self.random.sample(self.list, min(num_samples, len(self.list)))

    def get_true_tunable_params(self):
        """Values of each parameter that are part of a config; parameters with one value are left out."""
        columns = {name: dict.fromkeys(column) for name, column in zip(self.param_names, zip(*self.list))}
        return {name: [v for v in self.tune_params[name] if v in used] for name, used in columns.items() if len(used) > 1}

    # --- neighbours ---

    def _distances(self, config, true_values):
        """For each config of ``list``, how many values away it is in each parameter; ``true_values`` leaves out values of no config."""
        if self._matrix is None:
            self._matrix = np.array([self.get_param_indices(c) for c in self.list], dtype=np.int64).reshape(-1, self.num_params)
        own = np.array(self.get_param_indices(config))
        if not true_values:
            return np.abs(self._matrix - own)
        out = []
        for column, at in zip(self._matrix.T, own):
            used = np.unique(np.append(column, at))
            out.append(np.abs(np.searchsorted(used, column) - np.searchsorted(used, at)))
        return np.array(out).T

    def get_neighbors(self, config, neighbor_method=None):
        """Neighbours of a config: ``Hamming`` differ in one parameter, ``adjacent`` and ``strictly-adjacent`` by at most one value in
        each; the former counts only values of valid configs."""
        method = neighbor_method or self.neighbor_method
        if method not in ("Hamming", "adjacent", "strictly-adjacent"):
            raise ValueError(f"Neighbor method is {method}, must be one of Hamming, adjacent, strictly-adjacent")
        away = self._distances(tuple(config), method == "adjacent")
        if method == "Hamming":
            near = (away > 0).sum(axis=1) == 1
        else:
            largest = away.max(axis=1)
            near = (largest <= 1) & (largest > 0)
        return [self.list[i] for i in np.flatnonzero(near)]

    get_neighbors_no_cache = get_neighbors

    def get_random_neighbor(self, config, neighbor_method=None):
        """One of the neighbours of a config; ``None`` if it has none."""
        near = self.get_neighbors(config, neighbor_method)
        return self.random.choice(near) if near else None

    def get_param_neighbors(self, config, index, neighbor_method=None, randomize=False):
        """Other values of one parameter with which the config stays valid."""
        config = tuple(config)
        near = self.get_neighbors(config, neighbor_method)
        values = [c[index] for c in near if c[:index] + c[index + 1 :] == config[:index] + config[index + 1 :]]
        if randomize:
            self.random.shuffle(values)
        return values


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _codes(values):
    """What stands for values in Greenup's space: they themselves, or their numbers where it cannot tell them apart."""
    plain = [_plain(v) for v in values]
    fine = all(
        isinstance(v, (bool, str)) or isinstance(v, int) and abs(v) < 2**53 or isinstance(v, float) and math.isfinite(v) for v in plain
    )
    return plain if fine and len(set(plain)) == len(plain) else list(range(len(values)))


def _find(values, value):
    """Number of a value; one of its own type before one that is equal."""
    found = None
    for i, v in enumerate(values):
        if v is value or type(v) is type(value) and v == value:
            return i
        if found is None and isinstance(v, str) == isinstance(value, str) and v == value:
            found = i
    return found


def _check_distinct(name, values):
    try:
        kinds = {(type(v), v) for v in values}
    except TypeError:
        return
    if len(kinds) < len(values):
        raise ValueError(f"Tune parameter {name} has a value twice: {values}")
