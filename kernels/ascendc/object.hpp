// SPDX-License-Identifier: Apache-2.0
// What a compiled kernel's object says of its parameters and of the variables in global memory.
#pragma once

#include <string>
#include <vector>

#include "npu/abi/kernel_file.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::ascendc {

struct ObjectContents {
  Bytes layout = 0;  // where its abi::KernelLayout is
  std::vector<abi::KernelFileParameter> parameters;
  bool parameters_known = true;
  bool prints = false;                             // it has kPrints of print.hpp
  std::vector<abi::KernelFileVariable> variables;  // of kVariableSection, by offset
  std::vector<std::byte> values;                   // that the variables have at first: the section
};

// kWrongData: it is no object that entry_of() ends.
Result<ObjectContents> contents_of(ConstByteSpan object);

}  // namespace npu::ascendc
