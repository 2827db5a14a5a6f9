// SPDX-License-Identifier: Apache-2.0
// A kernel that makes ready what it is told to, and does nothing with it: what is left is what a
// launch of such a kernel costs.
#include "kernels/device/shipped/ready.hpp"

namespace npu::kernels::ready {
namespace {

int ready(platform::AicorePort& port) {
  const Work work = from_words(aicore::Arguments(port, kWords).words<kWords>());
  if (!valid(work)) return aicore::kBadArguments;
  vector::set_up(port, work.set_up, work.structure, work.bytes);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::ready

NPU_KERNEL(npu::kernels::ready::ready, npu::kernels::ready::kWords)
