// SPDX-License-Identifier: Apache-2.0
#include "tests/support/folders.hpp"

namespace npu {

std::string source_dir() {
  return NPU_SOURCE_DIR;
}
std::string binary_dir() {
  return NPU_BINARY_DIR;
}

}  // namespace npu
