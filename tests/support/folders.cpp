// SPDX-License-Identifier: Apache-2.0
#include "tests/support/folders.hpp"

#include <fstream>
#include <iterator>

namespace npu {

std::string source_dir() {
  return NPU_SOURCE_DIR;
}
std::string binary_dir() {
  return NPU_BINARY_DIR;
}
std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace npu
