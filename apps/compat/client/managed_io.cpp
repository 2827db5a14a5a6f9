// SPDX-License-Identifier: Apache-2.0
// Input and output from and to managed memory: the kernel, which copies, does not call anybody for
// a page. The C library's functions of these names are hidden by ours in programs that are linked
// to this library: pages come first, and once more if they have gone again.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/next_function.hpp"
#include "apps/compat/client/watched_pinned.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

// Memory that the kernel reads, or that it writes.
bool fault_in(const void* bytes, std::size_t count, bool write) {
  const bool watched = touch_watched(bytes, count, write);
  return (may_be_managed(bytes, count) && touch_managed(bytes, count, write)) || watched;
}
bool fault_in(const iovec* parts, std::size_t count, bool write) {
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    any = fault_in(parts[i].iov_base, parts[i].iov_len, write) || any;
  }
  return any;
}
bool fault_in(const msghdr* message, std::size_t, bool write) {
  return message != nullptr && fault_in(message->msg_iov, message->msg_iovlen, write);
}

template <class Memory, class Call>
ssize_t with_pages(const Memory* memory, std::size_t count, bool write, Call call) {
  const bool managed = fault_in(memory, count, write);
  ssize_t done = call();
  while (managed && done < 0 && errno == EFAULT && fault_in(memory, count, write)) done = call();
  return done;
}

}  // namespace
}  // namespace npu::compat

using npu::compat::with_pages;

namespace {

// Those that are hidden here.
auto next_read = npu::compat::next_of(&::read, "read");
auto next_pread = npu::compat::next_of(&::pread, "pread");
auto next_pread64 = npu::compat::next_of(&::pread64, "pread64");
auto next_readv = npu::compat::next_of(&::readv, "readv");
auto next_write = npu::compat::next_of(&::write, "write");
auto next_pwrite = npu::compat::next_of(&::pwrite, "pwrite");
auto next_pwrite64 = npu::compat::next_of(&::pwrite64, "pwrite64");
auto next_writev = npu::compat::next_of(&::writev, "writev");
auto next_recv = npu::compat::next_of(&::recv, "recv");
auto next_recvmsg = npu::compat::next_of(&::recvmsg, "recvmsg");
auto next_send = npu::compat::next_of(&::send, "send");
auto next_sendmsg = npu::compat::next_of(&::sendmsg, "sendmsg");
auto next_fread = npu::compat::next_of(&::fread, "fread");
auto next_fwrite = npu::compat::next_of(&::fwrite, "fwrite");

__attribute__((constructor)) void look_up_input_and_output() {
  next_read.get();
  next_pread.get();
  next_pread64.get();
  next_readv.get();
  next_write.get();
  next_pwrite.get();
  next_pwrite64.get();
  next_writev.get();
  next_recv.get();
  next_recvmsg.get();
  next_send.get();
  next_sendmsg.get();
  next_fread.get();
  next_fwrite.get();
}

}  // namespace

extern "C" {

NPU_PUBLIC ssize_t read(int file, void* to, size_t count) {
  auto* const next = next_read.get();
  return with_pages(to, count, true, [&] { return next(file, to, count); });
}

NPU_PUBLIC ssize_t pread(int file, void* to, size_t count, off_t at) {
  auto* const next = next_pread.get();
  return with_pages(to, count, true, [&] { return next(file, to, count, at); });
}

NPU_PUBLIC ssize_t pread64(int file, void* to, size_t count, off64_t at) {
  auto* const next = next_pread64.get();
  return with_pages(to, count, true, [&] { return next(file, to, count, at); });
}

NPU_PUBLIC ssize_t readv(int file, const iovec* parts, int count) {
  auto* const next = next_readv.get();
  return with_pages(parts, static_cast<size_t>(std::max(count, 0)), true,
                    [&] { return next(file, parts, count); });
}

NPU_PUBLIC ssize_t write(int file, const void* from, size_t count) {
  auto* const next = next_write.get();
  return with_pages(from, count, false, [&] { return next(file, from, count); });
}

NPU_PUBLIC ssize_t pwrite(int file, const void* from, size_t count, off_t at) {
  auto* const next = next_pwrite.get();
  return with_pages(from, count, false, [&] { return next(file, from, count, at); });
}

NPU_PUBLIC ssize_t pwrite64(int file, const void* from, size_t count, off64_t at) {
  auto* const next = next_pwrite64.get();
  return with_pages(from, count, false, [&] { return next(file, from, count, at); });
}

NPU_PUBLIC ssize_t writev(int file, const iovec* parts, int count) {
  auto* const next = next_writev.get();
  return with_pages(parts, static_cast<size_t>(std::max(count, 0)), false,
                    [&] { return next(file, parts, count); });
}

NPU_PUBLIC ssize_t recv(int socket, void* to, size_t count, int flags) {
  auto* const next = next_recv.get();
  return with_pages(to, count, true, [&] { return next(socket, to, count, flags); });
}

NPU_PUBLIC ssize_t recvmsg(int socket, msghdr* message, int flags) {
  auto* const next = next_recvmsg.get();
  return with_pages(message, 1, true, [&] { return next(socket, message, flags); });
}

NPU_PUBLIC ssize_t send(int socket, const void* from, size_t count, int flags) {
  auto* const next = next_send.get();
  return with_pages(from, count, false, [&] { return next(socket, from, count, flags); });
}

NPU_PUBLIC ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  auto* const next = next_sendmsg.get();
  return with_pages(message, 1, false, [&] { return next(socket, message, flags); });
}

NPU_PUBLIC size_t fread(void* to, size_t size, size_t count, FILE* file) {
  auto* const next = next_fread.get();
  npu::compat::fault_in(to, size * count, true);
  return next(to, size, count, file);
}

NPU_PUBLIC size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  auto* const next = next_fwrite.get();
  npu::compat::fault_in(from, size * count, false);
  return next(from, size, count, file);
}

}  // extern "C"
