// SPDX-License-Identifier: Apache-2.0
// An object as it lies in the folder: its bytes, and behind them what says that they are those that
// were written, for that toolchain and that key. A loader of ELF files does not look there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::jit {

// Digests in hexadecimal digits.
struct ObjectName {
  std::string toolchain;
  std::string key;
};

std::vector<std::byte> seal(const ObjectName& name, ConstByteSpan object);
// The object without what is behind it. kWrongData: it is not what was sealed under that name.
Result<std::vector<std::byte>> unseal(const ObjectName& name, std::vector<std::byte> sealed);

}  // namespace npu::jit
