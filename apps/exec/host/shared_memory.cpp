// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace npu::exec {

Result<SharedMemory> SharedMemory::make(Bytes size) {
  constexpr Bytes kPage = 4096;
  const Bytes whole = (size + kPage - 1) / kPage * kPage;
  FileDescriptor file(::memfd_create("npusim", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  void* memory = MAP_FAILED;
  if (whole >= size && file && ::ftruncate(file.get(), static_cast<off_t>(whole)) == 0 &&
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    memory = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  }
  if (memory == MAP_FAILED) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes of shared memory: {}", size, std::strerror(errno)));
  }
  return SharedMemory(std::move(file), {static_cast<std::byte*>(memory), whole});
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::move(other.file_)), bytes_(std::exchange(other.bytes_, ByteSpan{})) {}

SharedMemory::~SharedMemory() {
  if (bytes_.data != nullptr) ::munmap(bytes_.data, bytes_.size);
}

}  // namespace npu::exec
