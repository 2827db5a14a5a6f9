// SPDX-License-Identifier: Apache-2.0
// File descriptors and whole files.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::jit {

class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { reset(); }
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      reset();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void reset();

 private:
  int descriptor_ = -1;
};

// "what: text of errno"; kNotFound, kPermissionDenied or kIo.
tl::unexpected<Error> fail_errno(const std::string& what);

// From the file's beginning to its end. kIo: reading failed, or it has more than `most` bytes.
Result<std::vector<std::byte>> read_all(int descriptor, std::size_t most, const std::string& name);
Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t most);
Status write_all(int descriptor, ConstByteSpan bytes, const std::string& name);

}  // namespace npu::jit
