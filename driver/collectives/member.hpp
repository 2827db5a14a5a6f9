// SPDX-License-Identifier: Apache-2.0
// A rank: what it has on its card. A block of memory with its notification slots and its buffer,
// the peers' blocks mapped into its process, and the streams that its parts run on: one for
// itself, and one for each peer that it works with.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "npu/driver/collectives.hpp"

namespace npu::driver {

class CollectiveMember {
 public:
  using Members = std::vector<std::unique_ptr<CollectiveMember>>;
  // Of the slots, each in a line of its own: a record then wakes nobody else.
  static constexpr Bytes kSlot = 64;
  static constexpr Bytes kSlots = kPageSize;
  static_assert((2 * kMaxRanks + 3) * kSlot <= kSlots);
  // More ranks open the streams for peers and map their blocks when they need them.
  static constexpr unsigned kMostAtOnce = 64;

  CollectiveMember(ProcessContext& process, unsigned rank, unsigned ranks);
  // leave() comes before.
  ~CollectiveMember() = default;
  CollectiveMember(const CollectiveMember&) = delete;
  CollectiveMember& operator=(const CollectiveMember&) = delete;

  // Its own block and streams, the slots zeroed; with a kernel for vector cores a window, too.
  Status open(Bytes buffer, const VectorCollectives& vector);
  // Looks who has a link to its card, and maps the blocks of those: of more than kMostAtOnce ranks
  // none yet. The vector outlives it.
  Status meet(const Members& all);
  // Maps the peer's block, if it is not. kUnsupported: no link to its card; kDeviceFault: the peer
  // has left.
  Status reach(unsigned peer);
  // Streams, mappings and memory are given back. The first error.
  Status leave(Instant deadline);

  bool has_left() const { return process_ == nullptr; }
  // Whether there was a link when they met: also of one that has left.
  bool is_linked(unsigned peer) const { return peer == rank_ || linked_[peer]; }
  bool is_on_card_of(unsigned peer) const { return same_card_[peer]; }
  ProcessContext& process() { return *process_; }
  platform::Mutex& lock() { return *lock_; }
  ExecutionStream& stream() { return *streams_[rank_]; }
  // The stream for a peer; in a communicator of more than kMostAtOnce ranks it is opened here when
  // it is first needed. The errors of ExecutionStream::open().
  Result<ExecutionStream*> stream_for(unsigned peer);

  // Slots of this rank: records of a peer, and those between its own streams.
  DeviceAddress from_peer(unsigned peer) const { return slot(rank_, peer); }
  DeviceAddress join(unsigned peer) const { return slot(rank_, ranks_ + peer); }
  DeviceAddress fork() const { return slot(rank_, 2 * ranks_); }
  DeviceAddress begin() const { return slot(rank_, 2 * ranks_ + 1); }
  DeviceAddress end() const { return slot(rank_, 2 * ranks_ + 2); }
  // The slot for this rank's records at the peer.
  DeviceAddress at_peer(unsigned peer) const { return slot(peer, rank_); }
  DeviceAddress buffer_of(unsigned rank) const { return blocks_[rank].at + kSlots; }
  // For vector cores (abi/vector_collective.hpp); null: no kernel.
  DeviceAddress window_of(unsigned rank) const { return buffer_of(rank) + buffer_; }
  const std::shared_ptr<const KernelModule>& kernel() const { return kernel_; }

  // Records made for each peer and waits for them; of its own streams, the values of the slots.
  std::vector<std::uint64_t> told, heard, joined;
  std::uint64_t forked = 0, parts = 0;
  // Of the launches for vector cores: their number, the last one, and its stream.
  std::uint64_t launches = 0;
  StreamMark last_launch;
  const ExecutionStream* launched_on = nullptr;

  // One of its streams has stopped, or a launch has failed; nullopt: none. Once told it stays.
  const std::optional<std::string>& failure();
  void note_failure(std::string text) {
    if (!failure_) failure_ = std::move(text);
  }

 private:
  struct Block {
    MemoryHandle memory;
    DeviceAddress at;  // 0: not mapped
  };

  DeviceAddress slot(unsigned rank, unsigned number) const {
    return blocks_[rank].at + number * kSlot;
  }
  Status open_stream(unsigned peer);
  Status look_at(const Members& all);
  Status meet(const CollectiveMember& peer);
  bool is_with(const CollectiveMember& peer) const;  // on one card
  Status zero(DeviceAddress at, Bytes size);
  Status map(Block& block);
  void unmap(Block& block);

  ProcessContext* process_;
  const unsigned rank_, ranks_;
  Bytes buffer_ = 0, size_ = 0;  // of each block: its buffer, and all
  // The second one while a peer maps its block or it leaves; taken behind the own lock().
  std::unique_ptr<platform::Mutex> lock_, meeting_;
  std::vector<const CollectiveMember*> peers_;  // by rank; empty: their blocks are mapped
  std::vector<Block> blocks_;                   // by rank; its own is its memory
  std::vector<bool> same_card_, linked_;        // by rank
  std::unique_ptr<ArgumentPool> arguments_;     // of which streams without kernels take nothing
  std::vector<std::unique_ptr<ExecutionStream>> streams_;  // by rank; its own is the first
  std::shared_ptr<const KernelModule> kernel_;
  std::optional<std::string> failure_;
};

}  // namespace npu::driver
