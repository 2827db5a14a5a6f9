# SPDX-License-Identifier: Apache-2.0
"""The names of the public chip runtime's Python package, for programs that import it: what is here
is npusim's (docs/python.md)."""
