// SPDX-License-Identifier: Apache-2.0
// What a program under `npusim exec` and npusim have in common: a Unix socket of packets on which a
// thread says who it is and descriptors travel, and for each thread memory that both have mapped,
// with one call in it at a time and a window for the bytes of the call.
//
// The program's side may write anything into that memory at any time: npusim takes a copy of what
// it looks at, and the size of the memory cannot be changed (F_SEAL_SHRINK, F_SEAL_GROW).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace npu::compat {

inline constexpr char kSocketVariable[] = "NPUSIM_EXEC_SOCKET";  // the socket's name
// Which program of npusim's it is, or descends from: 1, 2, ...
inline constexpr char kProgramVariable[] = "NPUSIM_EXEC_PROGRAM";
inline constexpr std::uint32_t kMagic = 0x4558'504E;  // "NPXE"
inline constexpr std::uint32_t kVersion = 2;

// The first packet of a connection: a thread of a program. Who the program is npusim asks the
// kernel.
struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::int32_t thread = 0;    // as the program's kernel numbers it
  std::uint32_t program = 0;  // as kProgramVariable says; 0: it says nothing
  // Of the image that the process runs: another one after execve(), the same in a child of fork().
  std::uint64_t image = 0;
};
static_assert(sizeof(Hello) == 24);

// The answer, with the descriptor of the shared memory if `refused` is 0.
struct Welcome {
  std::uint32_t magic = kMagic;
  std::uint32_t refused = 0;  // 1: another version; 2: a program that npusim has not started
};
static_assert(sizeof(Welcome) == 8);

// Goes with the descriptor of memory that a call has made (Call::kMallocHost), before its answer.
struct Descriptor {
  std::uint64_t size = 0;  // bytes
};
static_assert(sizeof(Descriptor) == 8);

// Says that npusim looks for races: calls have their stacks with them (CallStack), and pinned
// memory is watched while copies are in flight.
inline constexpr char kRacesVariable[] = "NPUSIM_EXEC_RACES";

// Words of a call or of its answer: a message of calls.hpp lies over the first ones.
inline constexpr std::size_t kWords = 15;
using Words = std::array<std::uint64_t, kWords>;

template <class Message>
inline constexpr bool kIsMessage = std::is_trivially_copyable_v<Message> &&
                                   sizeof(Message) <= sizeof(Words) &&
                                   (std::is_empty_v<Message> ||
                                    (std::has_unique_object_representations_v<Message> &&
                                     sizeof(Message) % sizeof(std::uint64_t) == 0));

// Those behind it are 0.
template <class Message>
Words words_of(const Message& message) {
  static_assert(kIsMessage<Message>);
  Words words{};
  std::memcpy(words.data(), &message, sizeof message);
  return words;
}
template <class Message>
Message message_of(const Words& words) {
  static_assert(kIsMessage<Message>);
  Message message;
  std::memcpy(static_cast<void*>(&message), words.data(), sizeof message);
  return message;
}

// Which device a call is about: the thread's context says it, or n + 1 is device n, or any one will
// do.
inline constexpr std::uint64_t kDeviceOfContext = 0;
inline constexpr std::uint64_t kAnyDevice = UINT64_MAX;
inline constexpr std::size_t kWindow = std::size_t{64} << 20;  // bytes
inline constexpr std::size_t kWindowOffset = 4096;
inline constexpr std::size_t kChannelBytes = kWindowOffset + kWindow;

// The beginning of the shared memory. The program fills in a call, counts `posted` up and wakes
// npusim if it sleeps; npusim writes status and words and counts `answered` up. Both words are
// futexes.
struct Slot {
  alignas(64) std::atomic<std::uint32_t> posted{0};
  std::atomic<std::uint32_t> server_sleeps{0};
  alignas(64) std::atomic<std::uint32_t> answered{0};
  std::atomic<std::uint32_t> program_sleeps{0};
  alignas(64) std::uint32_t call = 0;  // npu::compat::Call
  std::int32_t status = 0;             // aclError
  std::uint32_t single_threaded = 0;   // the program has this thread alone
  std::uint32_t bytes = 0;         // of the window that the call or its answer has, at most kWindow
  std::uint32_t has_children = 0;  // the program; 2: it has none now, and has had some
  std::uint32_t reserved = 0;
  std::uint64_t work = 0;  // since the last answer, as WorkMeter has it
  Words words{};
  std::uint64_t device = kDeviceOfContext;  // which the call is about
};
static_assert(sizeof(Slot) == 320 && std::atomic<std::uint32_t>::is_always_lock_free);

// Behind the slot: return addresses from the call outwards, of the calls that it was made in.
struct CallStack {
  static constexpr std::size_t kMost = 40;
  std::uint64_t count = 0;
  std::array<std::uint64_t, kMost> frames{};
};
inline constexpr std::size_t kStackOffset = 1024;
static_assert(kStackOffset >= sizeof(Slot) && kStackOffset + sizeof(CallStack) <= kWindowOffset);

}  // namespace npu::compat
