// SPDX-License-Identifier: Apache-2.0
// Communicators and what their ranks do together. Types and reductions are HCCL's numbers
// (HcclDataType, HcclReduceOp), counts are of elements.
#pragma once

#include <cstdint>

namespace npu::compat::wire {

inline constexpr std::uint64_t kLongestDomain = 65536;      // bytes of its key
inline constexpr std::uint64_t kLongestCommunicator = 127;  // of its name
inline constexpr std::uint64_t kMostRanks = 1024;           // that a message may name
inline constexpr std::uint64_t kMostElements = 0x7F'FFFF'FFFF;
inline constexpr std::uint64_t kMostItems = 65536;  // of HcclBatchSendRecv

// A rank that joins, on the machine's device of this number.
struct JoiningRank {
  std::uint64_t rank = 0;
  std::int64_t device = 0;
};
// What carries out operations that vector cores can do: what the card's kind has by default, DMA
// engines, or vector cores.
enum class Expansion : std::uint64_t { kDefault, kEngines, kVectorCores };
// In the window: `members` times JoiningRank, the key of the domain, the communicator's name. Who
// gives the same key meets. The answer comes when all `ranks` have come, with the members' handles
// in the window.
struct CommunicatorJoin {
  std::uint64_t members = 0, key_bytes = 0, name_bytes = 0;
  std::uint64_t ranks = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t exec_seconds = 0;     // of each wait for a peer, 0: for ever
  std::uint64_t connect_seconds = 0;  // until all ranks have come
  // 4 bits each, by driver::CollectiveAlgorithm: of all-reduce, all-gather, reduce-scatter,
  // broadcast, reduce, all-to-all, scatter, all-to-all with counts.
  std::uint64_t algorithms = 0;
  Expansion expansion = Expansion::kDefault;
};
// The name is in the window.
struct CommunicatorInfo {
  std::uint64_t rank = 0, ranks = 0, suspended = 0, name_bytes = 0;
};
struct CommunicatorSwitch {
  std::uint64_t communicator = 0, suspended = 0;
};
// The text of a failure is in the window; no bytes: none.
struct CommunicatorFailure {
  std::uint64_t bytes = 0;
};

// Lists in the window, each with an item of 8 bytes for every rank: of HcclAllGatherV counts and
// offsets in `to`; of HcclReduceScatterV counts and offsets in `from`; of HcclAlltoAllV counts and
// offsets in `from`, then in `to`. Of HcclBatchSendRecv: `count` times SendReceiveItem.
struct CollectiveWork {
  std::uint64_t communicator = 0, stream = 0;
  std::uint64_t from = 0, to = 0, count = 0;
  std::uint64_t type = 0, reduction = 0;
  std::uint64_t peer = 0;  // the root, or the other rank
};
struct SendReceiveItem {
  std::uint64_t receives = 0, peer = 0, address = 0, count = 0, type = 0;
};

}  // namespace npu::compat::wire
