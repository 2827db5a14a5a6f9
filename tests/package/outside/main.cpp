// SPDX-License-Identifier: Apache-2.0
// Opens the driver's VFIO platform where there is none, which must be a clear error.
#include <iostream>

#include "npu/driver/device.hpp"
#include "npu/driver/vfio.hpp"

int main() {
  npu::driver::VfioOptions options;
  options.vfio_path = "/nonexistent/vfio";
  const auto platform = npu::driver::open_vfio(options);
  if (platform) {
    std::cout << "a platform without a container node was opened\n";
    return 1;
  }
  std::cout << platform.error().message() << "\n";
  const bool clear = platform.error().code == npu::ErrorCode::kUnsupported &&
                     platform.error().context.find("/nonexistent/vfio") != std::string::npos;
  return clear ? 0 : 1;
}
