// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/id_order.hpp"

#include <fstream>

namespace npu::exec {

pid_t IdOrder::kernel_count() {
  static const pid_t kCount = [] {
    constexpr pid_t kUsual = 32'768;
    std::ifstream file("/proc/sys/kernel/pid_max");
    pid_t most = 0;
    return file >> most && most > 0 ? most : kUsual;
  }();
  return kCount;
}

}  // namespace npu::exec
