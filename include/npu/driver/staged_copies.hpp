// SPDX-License-Identifier: Apache-2.0
// Copies between ordinary host memory and device memory of a process, through a staging buffer.
// Each call waits for its copies. Only one task at a time may use it.
#pragma once

#include <memory>

#include "npu/base/byte_span.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

class NPU_API StagedCopies {
 public:
  // `process` outlives it. `staging`: bytes of the buffer; larger copies are split.
  // Errors are those of ProcessContext::allocate_host() and ExecutionStream::open().
  static Result<std::unique_ptr<StagedCopies>> open(ProcessContext& process, Bytes staging = 4_MiB);
  ~StagedCopies();
  StagedCopies(const StagedCopies&) = delete;
  StagedCopies& operator=(const StagedCopies&) = delete;

  // Copy any number of bytes. After an error the next call works again.
  // kDeviceFault: the address is not mapped.
  // kTimeout: a copy did not end within 10 s.
  // Also the errors of ExecutionStream::submit().
  Status write(DeviceAddress to, ConstByteSpan from);
  Status read(DeviceAddress from, ByteSpan to);
  // Submits other entries, in order, and waits for them. Errors as write().
  Status run(const abi::QueueEntry* entries, std::size_t count);
  // KernelModule::load() with this object's copies.
  Result<std::shared_ptr<const KernelModule>> load(ConstByteSpan object, Bytes declared = 0);

  struct Impl;  // the driver's own

 private:
  explicit StagedCopies(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
