// SPDX-License-Identifier: Apache-2.0
// A kernel in memory: a shared object that was compiled for one key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/jit/export.hpp"

namespace npu::jit {

// The entry of every object: `extern "C" void run(block_num, stream, params)`.
using Run = void (*)(std::uint32_t block_num, void* stream, const void* params);

// Holds the object loaded, if it was to be. Whoever has one may call it, also after the cache has
// forgotten it.
class NPU_JIT_API Kernel {
 public:
  // Null: not loaded.
  Kernel(std::string key, std::vector<std::byte> image, void* handle, Run entry);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const std::string& key() const { return key_; }
  // The object's bytes, exactly those that are loaded.
  ConstByteSpan image() const { return {image_.data(), image_.size()}; }
  Run run() const { return run_; }

 private:
  std::string key_;
  std::vector<std::byte> image_;
  void* handle_;
  Run run_;
};

}  // namespace npu::jit
