// SPDX-License-Identifier: Apache-2.0
// Copies between memory of the program and memory of a process on the card. They go through a
// staging buffer that the card may use, and each call returns when its bytes have arrived. One task
// at a time may call it.
#pragma once

#include <memory>

#include "npu/base/byte_span.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

class NPU_API StagedCopies {
 public:
  // `process` outlives it. `staging`: bytes of the buffer, which is the largest single copy.
  // kOutOfMemory; what ExecutionStream::open() says.
  static Result<std::unique_ptr<StagedCopies>> open(ProcessContext& process, Bytes staging = 4_MiB);
  ~StagedCopies();
  StagedCopies(const StagedCopies&) = delete;
  StagedCopies& operator=(const StagedCopies&) = delete;

  // kDeviceFault: the card has no such memory; kTimeout: a copy has not ended in 10 s; what
  // ExecutionStream::submit() says. After an error the next call works again.
  Status write(DeviceAddress to, ConstByteSpan from);
  Status read(DeviceAddress from, ByteSpan to);
  // Other work, in order, waited for. Errors as above.
  Status run(const abi::QueueEntry* entries, std::size_t count);
  // `object` and `declared` as of KernelModule::load().
  Result<std::shared_ptr<const KernelModule>> load(ConstByteSpan object, Bytes declared = 0);

  struct Impl;  // the driver's own

 private:
  explicit StagedCopies(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
