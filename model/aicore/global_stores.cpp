// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/global_stores.hpp"

#include <vector>

#include "model/aicore/arithmetic/reduce_elements.hpp"

namespace npu::model {

CommandFault GlobalStores::write(std::uint64_t to, const unsigned char* from, Bytes length) const {
  const bool reduces = reduction_.operation != abi::ReduceOperation::kNone;
  const auto completion =
      reduces ? reduce(to, from, length) : memory_.write(Writer::kAiCore, space_, to, from, length);
  if (completion == Completion::kSuccess) return {};
  return {device_fault(completion), to, space_, true};
}

Completion GlobalStores::reduce(std::uint64_t to, const unsigned char* from, Bytes length) const {
  std::vector<unsigned char> there(length);
  const auto found = memory_.read(space_, to, there.data(), length);
  if (found != Completion::kSuccess) return found;
  reduce_elements(reduction_.element, reduction_.operation, there.data(), from, length);
  return memory_.write(Writer::kAiCore, space_, to, there.data(), length);
}

}  // namespace npu::model
