// SPDX-License-Identifier: Apache-2.0
// What a client shares with a server by descriptor.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <utility>

#include "tests/support/vfio_user/client.hpp"

namespace npu::test::vfio_user {

SharedMemory::SharedMemory(std::size_t size, unsigned memfd_flags)
    : fd_(::memfd_create("client", MFD_CLOEXEC | memfd_flags)), size_(size), data_(nullptr) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return;
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (mapped != MAP_FAILED) data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
  ::close(fd_);
}

EventFd::EventFd(std::uint64_t initial) : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (initial != 0) {
    [[maybe_unused]] const ssize_t done = ::write(fd_, &initial, sizeof initial);
  }
}

EventFd::~EventFd() {
  if (fd_ >= 0) ::close(fd_);
}

EventFd::EventFd(EventFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

std::uint64_t EventFd::take() {
  std::uint64_t count = 0;
  return ::read(fd_, &count, sizeof count) == sizeof count ? count : 0;
}

std::uint64_t EventFd::take_within(int milliseconds) {
  pollfd state{fd_, POLLIN, 0};
  return ::poll(&state, 1, milliseconds) > 0 ? take() : 0;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace npu::test::vfio_user
