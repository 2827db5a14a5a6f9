// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include "apps/demo/backend.hpp"
#include "npu/driver/vfio.hpp"

namespace npu::demo {

std::string driver_folder() {
  Dl_info library{};
  const auto address = reinterpret_cast<const void*>(&driver::open_vfio);
  if (::dladdr(address, &library) == 0 || library.dli_fname == nullptr) return {};
  const std::string path = library.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

Status run_on_vfio(const Program& program) {
  const auto platform = driver::open_vfio();
  if (!platform) return forward_error(platform);
  program(**platform);
  return {};
}

}  // namespace npu::demo
