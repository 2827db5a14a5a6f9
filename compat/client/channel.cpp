// SPDX-License-Identifier: Apache-2.0
#include "compat/client/channel.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>

#include <new>

#include "compat/client/connect.hpp"
#include "compat/protocol/futex.hpp"

namespace npu::compat {
namespace {

// Answers of calls that need little simulation come within this many looks.
constexpr unsigned kLooks = 300;
constexpr long kLookAtSocket = 100'000'000;  // ns

}  // namespace

Channel::Channel(int socket, void* memory)
    : socket_(socket),
      slot_(static_cast<Slot*>(memory)),
      window_(static_cast<std::byte*>(memory) + kWindowOffset) {}

Channel::~Channel() {
  ::munmap(static_cast<void*>(slot_), kChannelBytes);
  ::close(socket_);
}

bool Channel::wait_for_answer(std::uint32_t number) {
  for (unsigned look = 0; look < kLooks; ++look) {
    if (slot_->answered.load(std::memory_order_acquire) == number) return true;
    pause_core();
  }
  slot_->program_sleeps.store(1, std::memory_order_seq_cst);
  bool there = true;
  for (;;) {
    const auto seen = slot_->answered.load(std::memory_order_seq_cst);
    if (seen == number) break;
    futex_wait(slot_->answered, seen, kLookAtSocket);
    if (slot_->answered.load(std::memory_order_acquire) == number) break;
    pollfd hung{socket_, 0, 0};
    if (::poll(&hung, 1, 0) > 0) {
      there = false;
      break;
    }
  }
  slot_->program_sleeps.store(0, std::memory_order_relaxed);
  return there;
}

int Channel::call(Call call, std::size_t bytes) {
  if (lost_) return kNoServer;
  slot_->call = static_cast<std::uint32_t>(call);
  slot_->bytes = static_cast<std::uint32_t>(bytes);
  const bool parent = has_children();
  slot_->single_threaded = __libc_single_threaded != 0 && !parent ? 1 : 0;
  slot_->has_children = parent ? 1 : 0;
  slot_->work = work_.done();
  const auto number = slot_->posted.load(std::memory_order_relaxed) + 1;
  slot_->posted.store(number, std::memory_order_seq_cst);
  if (slot_->server_sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(slot_->posted);
  if (!wait_for_answer(number)) {
    lost_ = true;
    return kNoServer;
  }
  work_.begin();
  return slot_->status;
}

void* Channel::take_memory(std::size_t* size) {
  Descriptor descriptor;
  const int file = receive(socket_, &descriptor, sizeof descriptor);
  if (file < 0) return nullptr;
  void* const memory =
      ::mmap(nullptr, descriptor.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return nullptr;
  *size = descriptor.size;
  return memory;
}

void Channel::end() {
  if (lost_) return;
  slot_->call = static_cast<std::uint32_t>(Call::kEnd);
  slot_->bytes = 0;
  slot_->posted.fetch_add(1, std::memory_order_seq_cst);
  if (slot_->server_sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(slot_->posted);
}

}  // namespace npu::compat
