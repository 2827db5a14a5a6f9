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

#include "compat/client/managed_view.hpp"
#include "compat/client/next_function.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

// Memory that the kernel reads, or that it writes.
bool bring(const void* bytes, std::size_t count, bool write) {
  return may_be_managed(bytes, count) && touch_managed(bytes, count, write);
}
bool bring(const iovec* parts, std::size_t count, bool write) {
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    any = bring(parts[i].iov_base, parts[i].iov_len, write) || any;
  }
  return any;
}
bool bring(const msghdr* message, std::size_t, bool write) {
  return message != nullptr && bring(message->msg_iov, message->msg_iovlen, write);
}

template <class Memory, class Call>
ssize_t with_pages(const Memory* memory, std::size_t count, bool write, Call call) {
  const bool managed = bring(memory, count, write);
  ssize_t done = call();
  while (managed && done < 0 && errno == EFAULT && bring(memory, count, write)) done = call();
  return done;
}

}  // namespace
}  // namespace npu::compat

using npu::compat::next_function;
using npu::compat::with_pages;

// NAME(parameters) of the C library, as `call`.
#define NPU_NEXT(name) static auto* const kNext = next_function<decltype(::name)>(#name)

extern "C" {

NPU_PUBLIC ssize_t read(int file, void* to, size_t count) {
  NPU_NEXT(read);
  return with_pages(to, count, true, [&] { return kNext(file, to, count); });
}

NPU_PUBLIC ssize_t pread(int file, void* to, size_t count, off_t at) {
  NPU_NEXT(pread);
  return with_pages(to, count, true, [&] { return kNext(file, to, count, at); });
}

NPU_PUBLIC ssize_t pread64(int file, void* to, size_t count, off64_t at) {
  NPU_NEXT(pread64);
  return with_pages(to, count, true, [&] { return kNext(file, to, count, at); });
}

NPU_PUBLIC ssize_t readv(int file, const iovec* parts, int count) {
  NPU_NEXT(readv);
  return with_pages(parts, static_cast<size_t>(std::max(count, 0)), true,
                    [&] { return kNext(file, parts, count); });
}

NPU_PUBLIC ssize_t write(int file, const void* from, size_t count) {
  NPU_NEXT(write);
  return with_pages(from, count, false, [&] { return kNext(file, from, count); });
}

NPU_PUBLIC ssize_t pwrite(int file, const void* from, size_t count, off_t at) {
  NPU_NEXT(pwrite);
  return with_pages(from, count, false, [&] { return kNext(file, from, count, at); });
}

NPU_PUBLIC ssize_t pwrite64(int file, const void* from, size_t count, off64_t at) {
  NPU_NEXT(pwrite64);
  return with_pages(from, count, false, [&] { return kNext(file, from, count, at); });
}

NPU_PUBLIC ssize_t writev(int file, const iovec* parts, int count) {
  NPU_NEXT(writev);
  return with_pages(parts, static_cast<size_t>(std::max(count, 0)), false,
                    [&] { return kNext(file, parts, count); });
}

NPU_PUBLIC ssize_t recv(int socket, void* to, size_t count, int flags) {
  NPU_NEXT(recv);
  return with_pages(to, count, true, [&] { return kNext(socket, to, count, flags); });
}

NPU_PUBLIC ssize_t recvmsg(int socket, msghdr* message, int flags) {
  NPU_NEXT(recvmsg);
  return with_pages(message, 1, true, [&] { return kNext(socket, message, flags); });
}

NPU_PUBLIC ssize_t send(int socket, const void* from, size_t count, int flags) {
  NPU_NEXT(send);
  return with_pages(from, count, false, [&] { return kNext(socket, from, count, flags); });
}

NPU_PUBLIC ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  NPU_NEXT(sendmsg);
  return with_pages(message, 1, false, [&] { return kNext(socket, message, flags); });
}

NPU_PUBLIC size_t fread(void* to, size_t size, size_t count, FILE* file) {
  NPU_NEXT(fread);
  npu::compat::bring(to, size * count, true);
  return kNext(to, size, count, file);
}

NPU_PUBLIC size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  NPU_NEXT(fwrite);
  npu::compat::bring(from, size * count, false);
  return kNext(from, size, count, file);
}

}  // extern "C"
