// SPDX-License-Identifier: Apache-2.0
// Collective operations of several cards (ranks) over HCCS. A Communicator is made once for all
// ranks. Then each rank calls the same operations in the same order, each for itself and from any
// task. An operation is asynchronous: it submits the rank's part behind the work of the caller's
// stream, and later work of that stream waits for its end. Other tasks of the program may call for
// other ranks at the same time.
//
// Each rank has a buffer in its card's memory, which the peers read. A part copies its data into
// this buffer and tells the peers by records of 8 bytes. The peers read over HCCS, and the engine
// adds what it reads to the destination if the operation reduces. By kMesh ranks reduce by writes
// into the peers' buffers. Data that is larger than the buffer goes through it in several turns.
//
// By kAiv the part is one kernel for each turn on the caller's stream, whose LaunchCores::kVector
// must be vector cores alone: on others it fails. The blocks of all ranks' kernels run at the same
// time. A rank's read that fails, or a peer that does not come in time,
// ends its kernel with a fault; a peer that has read all before ends without one, and its next
// operation fails. The operation before must have been on the same stream, or have ended: else
// the call waits for its end.
//
// In a communicator of more than 64 ranks a rank maps a peer's buffer when it first reads from it
// or tells it something. The queues by which a rank reads several peers at once are opened when
// they are first needed, too, and kAutomatic is an algorithm that needs none: kNhr, or kPairwise.
//
// A call may wait for room in a queue until earlier operations have made progress. So one task that
// calls for several ranks calls operation by operation, not rank by rank.
//
// Errors of an operation's arguments come from its call. What fails later (a link that goes down, a
// peer that does not come) ends the caller's stream's work with an error after at most
// CommunicatorOptions::timeout on every rank. From then on the communicator refuses operations.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "npu/abi/element.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/execution_stream.hpp"
#include "npu/driver/expert_exchange.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

inline constexpr unsigned kMaxRanks = 384;

// Reductions are sums, maxima and minima of int8, int16, int32, fp16, bf16 and fp32, which the
// engines compute. Other types can only be moved.
using CollectiveType = abi::ElementType;
using Reduction = abi::ReduceOperation;

enum class CollectiveAlgorithm : std::uint8_t {
  kAutomatic,        // by operation, size, ranks and links
  kOneShot,          // every rank reads everything: two notifications, for small sizes
  kMesh,             // all pairs at once; all-reduce: reduce-scatter, then all-gather
  kRing,             // neighbours only
  kHalvingDoubling,  // log2 steps; other numbers of ranks have a step before and behind
  kNhr,              // non-uniform hierarchical ring: ceil(log2) steps for any number of ranks
  kPairwise,         // one partner per step
  kAiv,              // vector cores read the peers' memory: one kernel on the caller's stream
};
inline constexpr std::size_t kCollectiveAlgorithms = 8;

enum class CollectiveOperation : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kScatter,
  kExchange,  // all_to_all_v(), all_gather_v(), reduce_scatter_v(), send(), receive(), transfer()
  kBarrier,
};
inline constexpr std::size_t kCollectiveOperations = 9;

// Names in options and reports, such as "all_reduce" and "halving_doubling".
NPU_API std::string_view to_string(CollectiveOperation operation);
NPU_API std::string_view to_string(CollectiveAlgorithm algorithm);
// Whether the operation can be done so. kAutomatic: always.
NPU_API bool has_algorithm(CollectiveOperation operation, CollectiveAlgorithm algorithm);

struct CommunicatorRank {
  ProcessContext* process = nullptr;  // on the rank's card; outlives the communicator
};

// Sizes by CollectiveOperation.
using CollectiveSizes = std::array<Bytes, kCollectiveOperations>;
// Up to which size HCCL takes vector cores on A3 (docs/sources/hccl.md E2): all-reduce and
// reduce-scatter 1 MiB, all-gather and all-to-all 512 KiB, others none.
NPU_API CollectiveSizes vector_sizes_of_a3();
// Every size of the operations that vector cores can do.
NPU_API CollectiveSizes every_vector_size();

// Operations by vector cores (kAiv) of at most 64 ranks: all-reduce, all-gather, reduce-scatter and
// all-to-all. They
// reduce int32, fp16, bf16 and fp32, in the order of the ranks.
struct VectorCollectives {
  // The kernel `vector_collective` as an object; used by create() alone. Empty: no kAiv.
  ConstByteSpan kernel;
  std::uint32_t blocks = 24;        // 1 .. the card's vector cores (hccl.md E2: 24 on A2)
  std::uint32_t expert_blocks = 0;  // of moe_dispatch() and moe_combine(); 0: `blocks`
  Bytes half = 4_MiB;       // of a rank's window, which has two; 64 KiB .. 1 GiB, whole 512 B
  Bytes one_shot = 64_KiB;  // largest all-reduce in which each rank reduces all (E2)
  // By CollectiveOperation: the largest operation that kAutomatic does so.
  CollectiveSizes largest{};
};

struct CommunicatorOptions {
  Bytes buffer = 200_MiB;           // of a rank; 2 MiB .. 4 GiB, rounded up to whole pages
  Picoseconds timeout = 60'000_ms;  // of each wait for a peer, and of an operation's end; not 0
  Bytes one_shot = 256_KiB;         // all-reduce: largest size of kAutomatic's one-shot
  // By CollectiveOperation, in place of kAutomatic.
  std::array<CollectiveAlgorithm, kCollectiveOperations> algorithms{};
  VectorCollectives vector;
};

// The part of a rank. `elements` of arguments are counts, not bytes.
struct CollectiveCall {
  ExecutionStream* stream = nullptr;  // of the rank's process
  CollectiveType type = CollectiveType::kFp32;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAutomatic;  // equal on all ranks
};

// Counts and offsets of each rank's part, in elements; both lists have an item per rank.
struct VectorCounts {
  std::vector<std::uint64_t> counts, offsets;
};

// One of a group of sends and receives.
struct PeerTransfer {
  bool sends = false;
  unsigned peer = 0;
  DeviceAddress at;
  Bytes size = 0;
};

class NPU_API Communicator {
 public:
  // Makes buffers, streams and mappings of all ranks. No rank's process may be closed meanwhile.
  // Several ranks may be processes of one card.
  // kInvalidArgument: no rank, more than kMaxRanks, a null process, or options out of range.
  // kUnsupported: a card has no command processor.
  // kOutOfMemory, kOutOfResources: no memory, addresses or queues.
  // Also the errors of AddressSpace::import_memory() and ExecutionStream::open().
  static Result<std::unique_ptr<Communicator>> create(const std::vector<CommunicatorRank>& ranks,
                                                      const CommunicatorOptions& options = {});
  // Ends it for all ranks that have not left. Their operations should have ended; others are
  // aborted.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  unsigned ranks() const;
  Bytes buffer() const;
  // What kAutomatic is for `bytes`, which are count * size of the type.
  CollectiveAlgorithm choose(CollectiveOperation operation, Bytes bytes) const;

  // Frees what the rank has in its own process; its operations should have ended, others are
  // aborted. The process may be closed then. The other ranks' operations fail afterwards.
  // kInvalidArgument: no such rank.
  Status leave(unsigned rank, Instant deadline);
  // Why the rank's operations have failed; nullopt: they have not, so far.
  // kInvalidArgument: no such rank, or it has left.
  Result<std::optional<std::string>> failure(unsigned rank);

  // Operations. `from` and `to` are memory of the rank's process, aligned to the type. They may be
  // equal where both have the same size, and must not overlap otherwise. Count 0 does nothing, but
  // must be 0 on all ranks (all_to_all_v(): counts of a pair must agree).
  // kInvalidArgument: no such rank or root, it has left, no stream, an address that is not aligned,
  // or an algorithm that the operation does not have.
  // kInvalidArgument also: a list that has not an item per rank.
  // kUnsupported: a product, or a reduction of another type; kAiv without a kernel, or a type that
  // vector cores do not reduce; or ranks without a link between them,
  // on every rank alike. all_reduce(), all_gather(), reduce_scatter() and barrier() need links of
  // neighbours alone if they are done in a ring; sends and receives need those of their peers.
  // kDeviceFault: an earlier operation has failed.
  // Also the errors of ExecutionStream::submit(), and of more than 64 ranks those of
  // AddressSpace::import_memory() and ExecutionStream::open().

  // to[i] = reduction of all ranks' from[i], i < count.
  Result<StreamMark> all_reduce(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                DeviceAddress to, std::uint64_t count, Reduction reduction);
  // to[r * count + i] = rank r's from[i].
  Result<StreamMark> all_gather(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                DeviceAddress to, std::uint64_t count);
  // to[i] = reduction of all ranks' from[rank * count + i].
  Result<StreamMark> reduce_scatter(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                    DeviceAddress to, std::uint64_t count, Reduction reduction);
  // data[i] = the root's data[i].
  Result<StreamMark> broadcast(unsigned rank, const CollectiveCall& call, DeviceAddress data,
                               std::uint64_t count, unsigned root);
  // As all_reduce(), at the root alone; others' `to` is not used.
  Result<StreamMark> reduce(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                            DeviceAddress to, std::uint64_t count, Reduction reduction,
                            unsigned root);
  // to[i] = the root's from[rank * count + i]; others' `from` is not used.
  Result<StreamMark> scatter(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                             DeviceAddress to, std::uint64_t count, unsigned root);
  // to[r * count + i] = rank r's from[rank * count + i].
  Result<StreamMark> all_to_all(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                DeviceAddress to, std::uint64_t count);
  // The same with counts and offsets of each pair: this rank's `send` and `receive`.
  Result<StreamMark> all_to_all_v(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                  DeviceAddress to, const VectorCounts& send,
                                  const VectorCounts& receive);
  // to[offsets[r] + i] = rank r's from[i], i < counts[r].
  Result<StreamMark> all_gather_v(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                  DeviceAddress to, const VectorCounts& parts);
  // to[i] = reduction of all ranks' from[offsets[rank] + i], i < counts[rank]. The counts are equal
  // on all ranks, the offsets need not be.
  Result<StreamMark> reduce_scatter_v(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                                      DeviceAddress to, const VectorCounts& parts,
                                      Reduction reduction);
  // Of a pair of ranks: receive(a, b) gets what send(b, a) has, in the order of the calls.
  // kInvalidArgument also: the peer is the rank itself.
  Result<StreamMark> send(unsigned rank, const CollectiveCall& call, DeviceAddress from,
                          std::uint64_t count, unsigned to_rank);
  Result<StreamMark> receive(unsigned rank, const CollectiveCall& call, DeviceAddress to,
                             std::uint64_t count, unsigned from_rank);
  // Many sends and receives at once, in any order: the n-th send to a peer is what its n-th receive
  // from this rank in its own call gets. A peer may be the rank itself: its n-th send and its n-th
  // receive.
  Result<StreamMark> transfer(unsigned rank, const CollectiveCall& call,
                              const std::vector<PeerTransfer>& transfers);
  // Tokens to the cards of their experts, and the rows that experts have made of them back, each
  // times its weight and added up (npu/driver/expert_exchange.hpp). By vector cores, as kAiv; types
  // fp16, bf16 and fp32. Both have the same shape. The algorithm of the call is not used.
  // kInvalidArgument also: a shape out of range, a window that is too small, or an address that is
  // not aligned as its tensor wants it.
  // A choice that is no expert, or the same expert twice, ends the kernel with a fault.
  Result<StreamMark> moe_dispatch(unsigned rank, const CollectiveCall& call,
                                  const ExpertShape& shape, const DispatchTensors& tensors);
  Result<StreamMark> moe_combine(unsigned rank, const CollectiveCall& call,
                                 const ExpertShape& shape, const CombineTensors& tensors);
  // Later work of the rank's stream starts when all ranks' streams have come here.
  Result<StreamMark> barrier(unsigned rank, const CollectiveCall& call);

  struct Impl;  // the driver's own

 private:
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
