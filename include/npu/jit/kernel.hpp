// SPDX-License-Identifier: Apache-2.0
// A kernel in memory: the shared object for one key. KernelCache returns it.
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
// An entry that an object may have: `extern "C" void reference(params, inputs, results)`: what the
// operator has to give, computed on the host. Elements are doubles; an input that is left out is
// null.
using Reference = void (*)(const void* params, const double* const* inputs, double* const* results);

// Keeps the object loaded, if it was loaded. It can be called even after the cache has dropped it.
class NPU_JIT_API Kernel {
 public:
  // `handle` and `entry` null: not loaded.
  Kernel(std::string key, std::vector<std::byte> image, void* handle, Run entry,
         Reference computed = nullptr);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const std::string& key() const { return key_; }
  // The bytes of the object, exactly as loaded.
  ConstByteSpan image() const { return {image_.data(), image_.size()}; }
  Run run() const { return run_; }
  // Null: it has none.
  Reference reference() const { return reference_; }

 private:
  std::string key_;
  std::vector<std::byte> image_;
  void* handle_;
  Run run_;
  Reference reference_;
};

}  // namespace npu::jit
