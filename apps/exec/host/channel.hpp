// SPDX-License-Identifier: Apache-2.0
// npusim's end of a thread's connection (apps/compat/protocol/wire.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "apps/compat/protocol/calls.hpp"
#include "apps/compat/protocol/wire.hpp"
#include "apps/exec/host/shared_memory.hpp"

namespace npu::exec {

// A call as it was when it was taken; its words become the answer's.
struct CallRecord {
  // kCount: none there is, or one of more bytes than the window has.
  compat::Call call = compat::Call::kCount;
  Bytes bytes = 0;         // of the window, at most compat::kWindow
  std::uint64_t work = 0;  // since the last answer (compat::WorkMeter)
  compat::Words words{};
  std::uint64_t device = compat::kDeviceOfContext;
  ByteSpan window;  // the program may change it at any time
};

class Channel {
 public:
  Channel(FileDescriptor socket, SharedMemory memory);

  bool has_posted() const;
  // What is posted is the thread's last call (compat::Call::kEnd).
  bool posts_the_end() const;
  // The call that was posted; afterwards has_posted() is false until the next one.
  CallRecord take();
  // Of the call that was taken last: return addresses, as far as the program has shown them.
  std::vector<std::uint64_t> stack() const;
  // As the last call says, that which is posted included.
  bool single_threaded() const;
  bool had_children() const;  // or has some
  void answer(int status, const CallRecord& call);
  // Until a call is posted or so much wall time has passed.
  void wait(long nanoseconds);
  // The program gets the memory with the answer that follows. kIo.
  Status send(const SharedMemory& memory);
  int memory_file() const { return memory_.file(); }

 private:
  compat::Slot& slot() const { return *reinterpret_cast<compat::Slot*>(memory_.bytes().data); }

  FileDescriptor socket_;
  SharedMemory memory_;
  std::uint32_t taken_ = 0;
};

// A packet with a descriptor. kIo: the other end does not take it.
Status send_descriptor(int socket, ConstByteSpan packet, int file);

}  // namespace npu::exec
