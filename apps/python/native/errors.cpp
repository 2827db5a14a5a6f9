// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/errors.hpp"

#include <pybind11/pybind11.h>

namespace npu::python {
namespace py = pybind11;

void translate_failures() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const Failure& failure) {
      const auto type = py::module_::import("npusim.errors").attr("Error");
      const auto& error = failure.error();
      const py::object value = type(std::string(to_string(error.code)), error.context);
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
}

}  // namespace npu::python
