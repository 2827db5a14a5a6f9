// SPDX-License-Identifier: Apache-2.0
// Bit fields of the word `detail` of timed events, and the names of their values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::platform {

// The format of a field in text.
enum class DetailFormat : std::uint8_t {
  kNumber,
  kHex,
  kFaultCode,         // abi::FaultCode
  kDmaOpcode,         // abi::DmaOpcode
  kQueueOpcode,       // abi::QueueOpcode
  kManagementOpcode,  // abi::ManagementOpcode
  kPipe,              // platform::Pipe
  kPipeOperation,     // PipeOperation (core_events.hpp), the name of a slice
  kBeganAfter,        // BeganAfter
  kScalarWait,        // ScalarWait
  kBdf,               // bus << 8 | device << 3 | function
  kDriverCall,        // DriverCall
  kBlockState,        // BlockState
  kTask,              // ~0: none
  kStatistic,         // Statistic
};

inline constexpr std::size_t kDetailFields = 7;  // at most, in an event

// Bits [shift, shift + bits) of `detail`; bits 0: no field.
struct DetailField {
  std::string_view name{};
  std::uint8_t shift = 0;
  std::uint8_t bits = 0;
  DetailFormat format = DetailFormat::kNumber;
};

// The call of a driver call event.
enum class DriverCall : std::uint8_t {
  kEnumerate,
  kOpen,
  kShutdown,
  kResetQueue,
  kAllocate,
  kFree,
  kCompact,
  kCreateStream,
  kDestroyStream,
  kCreateEvent,
  kDestroyEvent,
  kReserve,
  kCreateHandle,
  kMap,
  kSetAccess,
  kUnmap,
  kRelease,
  kCreateQueue,
  kUpdateQueue,
  kDestroyQueue,
  kUpload,
  kRun,
  kCount,
};
// Instead of the argument: the call failed.
inline constexpr std::uint64_t kFailedCall = (std::uint64_t{1} << 56) - 1;
inline constexpr std::array<std::string_view, static_cast<std::size_t>(DriverCall::kCount)>
    kDriverCallNames{"enumerate",      "open",         "shutdown",      "reset_queue",
                     "allocate",       "free",         "compact",       "create_stream",
                     "destroy_stream", "create_event", "destroy_event", "reserve",
                     "create_handle",  "map",          "set_access",    "unmap",
                     "release",        "create_queue", "update_queue",  "destroy_queue",
                     "upload",         "run"};

// The new state of a block of device memory.
enum class BlockState : std::uint8_t { kFree, kAllocated, kPinned, kMoved, kReserved, kCount };
inline constexpr std::array<std::string_view, static_cast<std::size_t>(BlockState::kCount)>
    kBlockStateNames{"free", "allocated", "pinned", "moved", "reserved"};

// How a report combines measurements of one name.
enum class Statistic : std::uint8_t {
  kSum,
  kMean,    // sum of all by the sum of their counts, rounded half up
  kMedian,  // the upper one of an even number
  kLeast,
  kMost,
  kSpan,  // from the first begin to the last end
  kCount,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Statistic::kCount)>
    kStatisticNames{"sum", "mean", "median", "least", "most", "span"};

}  // namespace npu::platform
