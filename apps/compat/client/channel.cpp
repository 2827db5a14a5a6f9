// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/channel.hpp"

#include <execinfo.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "apps/compat/client/connect.hpp"
#include "apps/compat/client/watched_pinned.hpp"
#include "apps/compat/protocol/futex.hpp"

namespace npu::compat {
namespace {

// Answers of calls that need little simulation come within this many looks.
constexpr unsigned kLooks = 300;
constexpr long kLookAtSocket = 100'000'000;  // ns

// The thread is in a call, at this frame, for as long as it lives.
class Frame {
 public:
  Frame(const void*& place, const void* frame) : place_(place) { place_ = frame; }
  ~Frame() { place_ = nullptr; }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  const void*& place_;
};

}  // namespace

Channel::Channel(FileDescriptor socket, void* memory)
    : socket_(std::move(socket)),
      slot_(static_cast<Slot*>(memory)),
      window_(static_cast<std::byte*>(memory) + kWindowOffset) {}

Channel::~Channel() {
  ::munmap(static_cast<void*>(slot_), kChannelBytes);
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
    pollfd hung{socket_.get(), 0, 0};
    if (::poll(&hung, 1, 0) > 0) {
      there = false;
      break;
    }
  }
  slot_->program_sleeps.store(0, std::memory_order_relaxed);
  return there;
}

// Whether the thread is in a call still. Of one that a handler has left by siglongjmp() the frame
// is gone: the caller's lies above it, which on a stack for signals alone says nothing.
bool Channel::is_nested(const void* frame) const {
  if (frame_ == nullptr) return false;
  stack_t stack{};
  if (::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0) return true;
  return frame < frame_;
}

void Channel::show_stack() {
  void* frames[CallStack::kMost];
  const int count = ::backtrace(frames, static_cast<int>(CallStack::kMost));
  auto& stack = *reinterpret_cast<CallStack*>(reinterpret_cast<std::byte*>(slot_) + kStackOffset);
  stack.count = static_cast<std::uint64_t>(std::max(count, 0));
  for (std::size_t i = 0; i < stack.count; ++i) {
    stack.frames[i] = reinterpret_cast<std::uintptr_t>(frames[i]);
  }
}

void Channel::post(Call call, std::size_t bytes) {
  if (races_are_looked_for()) show_stack();
  slot_->call = static_cast<std::uint32_t>(call);
  slot_->bytes = static_cast<std::uint32_t>(bytes);
  slot_->posted.fetch_add(1, std::memory_order_seq_cst);
  if (slot_->server_sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(slot_->posted);
}

int Channel::call(Call call, const Words& words, std::uint64_t device, std::size_t bytes) {
  const int status = call_alone(call, words, device, bytes);
  if (status != 0 || !races_are_looked_for()) return status;
  const Words answer = slot_->words;
  returned_from(*this, call, words, answer);
  slot_->words = answer;
  return status;
}

int Channel::call_alone(Call call, const Words& words, std::uint64_t device, std::size_t bytes) {
  const void* const here = __builtin_frame_address(0);
  if (is_nested(here)) return kInCall;
  const auto before = slot_->posted.load(std::memory_order_relaxed);
  // The answer to a call that was left is still to come.
  if (!lost_) lost_ = !wait_for_answer(before);
  if (lost_) return kNoServer;
  const Frame frame(frame_, here);
  slot_->words = words;
  slot_->device = device;
  const unsigned family = children();
  slot_->single_threaded = __libc_single_threaded != 0 && family == 0 ? 1 : 0;
  slot_->has_children = family;
  slot_->work = work_.done();
  post(call, bytes);
  if (!wait_for_answer(before + 1)) {
    lost_ = true;
    return kNoServer;
  }
  work_.begin();
  return slot_->status;
}

FileDescriptor Channel::take_file() {
  Descriptor descriptor;
  return receive(socket_.get(), &descriptor, sizeof descriptor);
}

void* Channel::take_memory(std::size_t* size) {
  Descriptor descriptor;
  const FileDescriptor file = receive(socket_.get(), &descriptor, sizeof descriptor);
  if (!file) return nullptr;
  void* const memory =
      ::mmap(nullptr, descriptor.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  *size = descriptor.size;
  return memory;
}

void Channel::end() {
  if (!lost_) post(Call::kEnd, 0);
}

void Channel::leave_to_parent() {
  socket_.reset();
  lost_ = true;
}

}  // namespace npu::compat
