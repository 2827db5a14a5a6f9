// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/channel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "apps/compat/protocol/futex.hpp"

namespace npu::exec {
namespace {

// Looks before sleeping: the next call of a program that does little besides comes within them.
constexpr unsigned kLooks = 300;

}  // namespace

Channel::Channel(FileDescriptor socket, SharedMemory memory)
    : socket_(std::move(socket)), memory_(std::move(memory)) {
  new (memory_.bytes().data) compat::Slot;
}

bool Channel::has_posted() const {
  return slot().posted.load(std::memory_order_acquire) != taken_;
}

bool Channel::posts_the_end() const {
  return has_posted() && __atomic_load_n(&slot().call, __ATOMIC_RELAXED) ==
                             static_cast<std::uint32_t>(compat::Call::kEnd);
}

bool Channel::single_threaded() const {
  return __atomic_load_n(&slot().single_threaded, __ATOMIC_RELAXED) != 0;
}

bool Channel::had_children() const {
  return __atomic_load_n(&slot().has_children, __ATOMIC_RELAXED) != 0;
}

CallRecord Channel::take() {
  taken_ = slot().posted.load(std::memory_order_acquire);
  CallRecord record;
  const auto call = __atomic_load_n(&slot().call, __ATOMIC_RELAXED);
  const Bytes bytes = __atomic_load_n(&slot().bytes, __ATOMIC_RELAXED);
  if (bytes <= compat::kWindow && call < static_cast<std::uint32_t>(compat::Call::kCount)) {
    record.call = static_cast<compat::Call>(call);
  }
  record.work = __atomic_load_n(&slot().work, __ATOMIC_RELAXED);
  record.bytes = std::min<Bytes>(bytes, compat::kWindow);
  record.device = __atomic_load_n(&slot().device, __ATOMIC_RELAXED);
  for (std::size_t i = 0; i < compat::kWords; ++i) {
    record.words[i] = __atomic_load_n(&slot().words[i], __ATOMIC_RELAXED);
  }
  record.window = {memory_.bytes().data + compat::kWindowOffset, compat::kWindow};
  return record;
}

std::vector<std::uint64_t> Channel::stack() const {
  const auto& shown =
      *reinterpret_cast<const compat::CallStack*>(memory_.bytes().data + compat::kStackOffset);
  const auto count = __atomic_load_n(&shown.count, __ATOMIC_RELAXED);
  std::vector<std::uint64_t> frames(std::min<std::uint64_t>(count, compat::CallStack::kMost));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i] = __atomic_load_n(&shown.frames[i], __ATOMIC_RELAXED);
  }
  return frames;
}

void Channel::answer(int status, const CallRecord& call) {
  for (std::size_t i = 0; i < compat::kWords; ++i) {
    __atomic_store_n(&slot().words[i], call.words[i], __ATOMIC_RELAXED);
  }
  __atomic_store_n(&slot().status, status, __ATOMIC_RELAXED);
  slot().answered.store(taken_, std::memory_order_seq_cst);
  if (slot().program_sleeps.load(std::memory_order_seq_cst) != 0) {
    compat::futex_wake(slot().answered);
  }
}

void Channel::wait(long nanoseconds) {
  for (unsigned look = 0; look < kLooks; ++look) {
    if (has_posted()) return;
    compat::pause_core();
  }
  slot().server_sleeps.store(1, std::memory_order_seq_cst);
  if (!has_posted()) compat::futex_wait(slot().posted, taken_, nanoseconds);
  slot().server_sleeps.store(0, std::memory_order_relaxed);
}

Status Channel::send(const SharedMemory& memory) {
  const compat::Descriptor packet{memory.bytes().size};
  return send_descriptor(
      socket_.get(), {reinterpret_cast<const std::byte*>(&packet), sizeof packet}, memory.file());
}

Status send_descriptor(int socket, ConstByteSpan packet, int file) {
  iovec part{const_cast<std::byte*>(packet.data), packet.size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
      static_cast<ssize_t>(packet.size)) {
    return {};
  }
  return fail(ErrorCode::kIo, std::string("a program's socket: ") + std::strerror(errno));
}

}  // namespace npu::exec
