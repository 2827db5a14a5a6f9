# SPDX-License-Identifier: Apache-2.0
"""What machine a platform is: the public names of platforms, and npusim's configurations."""

from . import _npusim

RUNTIME = "host_build_graph"  # the host builds the graph of a run

# Of the public names: the configuration by the number of cards.
_PUBLIC = {
    "a2a3": {1: "910b2", 2: "system-2x910b2"},
    "a5": {1: "950"},
}
_SIMULATED = "sim"  # the public names of simulators end so; here both are


def configuration_of(platform, cards=1):
    """The configuration of a platform with so many cards: `str`.

    Args:
        platform: "a2a3", "a2a3sim", "a5", "a5sim", or a configuration as `Simulator` takes it.
        cards: how many cards the machine needs; a configuration is taken as it is.

    Raises:
        ValueError: there is no such configuration, or none with so many cards.
    """
    platform = str(platform)
    known = _PUBLIC.get(platform.removesuffix(_SIMULATED))
    if known is None:
        _npusim.check_configuration(platform)
        return platform
    for most, config in sorted(known.items()):
        if cards <= most:
            return config
    raise ValueError(f"platform '{platform}': found {cards} cards; allowed: up to {max(known)}, or "
                     "the configuration of a machine with more")


def check_runtime(name):
    """Raises ValueError if there is no such runtime."""
    if name != RUNTIME:
        raise ValueError(f"runtime: found '{name}'; allowed: {RUNTIME}")
