// SPDX-License-Identifier: Apache-2.0
#include "demo/backend.hpp"
#include "npu/driver/vfio.hpp"

namespace npu::demo {

Status run_on_vfio(const Program& program) {
  const auto platform = driver::open_vfio();
  if (!platform) return forward_error(platform);
  program(**platform);
  return {};
}

}  // namespace npu::demo
