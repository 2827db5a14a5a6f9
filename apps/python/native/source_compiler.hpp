// SPDX-License-Identifier: Apache-2.0
// Source files of users compiled as operators are (kernels/operators/sources.hpp), through the same
// cache.
#pragma once

#include <pybind11/pybind11.h>

namespace npu::python {

void bind_source_compiler(pybind11::module_& module);

}  // namespace npu::python
