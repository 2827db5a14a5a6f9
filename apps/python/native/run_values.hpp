// SPDX-License-Identifier: Apache-2.0
// What a run has left, as Python's values; device.py says what the keys are.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "npu/driver/device_context.hpp"

namespace npu::python {

pybind11::dict to_dict(const abi::RunResult& result);
pybind11::dict to_dict(const abi::TaskRecord& record);
pybind11::dict to_dict(const abi::PmuRecord& record);
pybind11::dict to_dict(const driver::TensorCopy& copy);
pybind11::dict to_dict(const driver::RunReport& report);

template <class Record>
pybind11::list to_list(const std::vector<Record>& records) {
  pybind11::list all;
  for (const auto& record : records) all.append(to_dict(record));
  return all;
}

}  // namespace npu::python
