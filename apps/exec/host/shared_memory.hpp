// SPDX-License-Identifier: Apache-2.0
// Memory that is mapped here and can be in a program as well. Its size is for good, so that a
// program cannot take it away under npusim.
#pragma once

#include "npu/base/byte_span.hpp"
#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::exec {

class SharedMemory {
 public:
  // kOutOfMemory. The size is rounded up to whole pages.
  static Result<SharedMemory> make(Bytes size);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  int file() const { return file_.get(); }
  ByteSpan bytes() const { return bytes_; }
  // Others map the file by themselves: nobody who comes later may.
  void close_file() { file_.reset(); }

 private:
  SharedMemory(FileDescriptor file, ByteSpan bytes) : file_(std::move(file)), bytes_(bytes) {}

  FileDescriptor file_;
  ByteSpan bytes_;
};

}  // namespace npu::exec
