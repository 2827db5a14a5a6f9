// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/program_digest.hpp"

#include <link.h>

#include "tools/reports/digest.hpp"
#include "tools/reports/input_file.hpp"

namespace npu::sweep {
namespace {

int add_driver(dl_phdr_info* object, std::size_t, void* digests) {
  const std::string name = object->dlpi_name;
  if (name.find("/libnpudrv") != std::string::npos) {
    *static_cast<std::string*>(digests) += file_digest(name);
  }
  return 0;
}

}  // namespace

std::string file_digest(const std::string& path) {
  const auto text = reports::read_file(path);
  return text ? reports::sha256_text(*text) : "";
}

const std::string& program_digest() {
  static const std::string kDigest = [] {
    std::string digests = file_digest("/proc/self/exe");
    ::dl_iterate_phdr(add_driver, &digests);
    return reports::sha256_text(digests);
  }();
  return kDigest;
}

}  // namespace npu::sweep
