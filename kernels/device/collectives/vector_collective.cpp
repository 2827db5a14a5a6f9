// SPDX-License-Identifier: Apache-2.0
// A collective operation of several cards by vector cores (abi/vector_collective.hpp). Each block
// works on a slice of all data, and its peers' blocks on the same.
#include "kernels/device/collectives/combine.hpp"
#include "kernels/device/collectives/dispatch.hpp"
#include "kernels/device/collectives/meeting.hpp"
#include "kernels/device/collectives/narrow_reduction.hpp"
#include "kernels/device/collectives/rank_reduction.hpp"
#include "kernels/device/shipped/set_up.hpp"

namespace npu::kernels::collectives {
namespace {

using abi::ExpertExchange;
using abi::VectorCollective;
using abi::VectorCollectiveKind;

class Operation {
 public:
  Operation(AicorePort& port, const VectorCollective& work, const Windows& windows)
      : port_(port), work_(work), windows_(windows), meetings_(port, work, windows) {}

  int run() {
    copy_in();
    meetings_.meet();
    if (work_.kind == VectorCollectiveKind::kGather) return gather();
    const bool ok = work_.kind == VectorCollectiveKind::kReduce ? reduce() : reduce_own_part();
    if (!ok) return aicore::kBadArguments;
    if (work_.kind == VectorCollectiveKind::kReduceGather) gather_parts();
    return 0;
  }

 private:
  Slice own(std::uint64_t bytes) const {
    return slice_of(bytes, port_.call().block, port_.call().blocks);
  }
  // Of the bytes of kReduceGather, which rank reduces which.
  Slice part_of(unsigned rank) const { return slice_of(work_.bytes, rank, work_.ranks); }
  // Where reduced parts lie in a half.
  std::uint64_t reduced() const { return aicore::round_up(work_.bytes, kGrain); }

  void copy_in() {
    const Slice slice = own(work_.bytes);
    Passage passage(port_);
    for (std::uint64_t row = 0; row < work_.rows; ++row) {
      passage.copy(work_.from + row * work_.from_pitch + slice.begin,
                   windows_.data(work_.rank) + row * work_.bytes + slice.begin, slice.size());
    }
  }

  // Each block works with one rank or two, so that all links carry at any time.
  int gather() {
    const std::uint64_t grains = aicore::divide_up(work_.bytes, kGrain);
    const std::uint64_t blocks = port_.call().blocks, block = port_.call().block;
    const std::uint64_t end = work_.ranks * grains * (block + 1) / blocks;
    Passage passage(port_);
    for (std::uint64_t at = work_.ranks * grains * block / blocks; at < end;) {
      const std::uint64_t place = at / grains, first = at % grains;
      const std::uint64_t count = std::min(end - at, grains - first), begin = first * kGrain;
      const std::uint64_t rank = (work_.rank + 1 + place) % work_.ranks;
      passage.copy(windows_.data(static_cast<unsigned>(rank)) + work_.place * work_.bytes + begin,
                   work_.to + rank * work_.to_pitch + begin,
                   std::min(count * kGrain, work_.bytes - begin));
      at += count;
    }
    return 0;
  }

  // False: a tile has no room for all ranks.
  bool reduce(std::uint64_t from, std::uint64_t size, std::uint64_t to, std::uint64_t copy) {
    if (is_narrow(work_.type)) {
      NarrowReduction(port_, work_, windows_).run(from, size, to, copy);
      return true;
    }
    RankReduction reduction(port_, work_, windows_);
    if (!reduction.fits()) return false;
    reduction.run(from, size, to, copy);
    return true;
  }

  bool reduce() {
    const Slice slice = own(work_.bytes);
    return reduce(work_.place * work_.bytes + slice.begin, slice.size(), work_.to + slice.begin, 0);
  }

  bool reduce_own_part() {
    const Slice part = part_of(work_.rank), slice = own(part.size());
    const std::uint64_t begin = part.begin + slice.begin;
    const bool done = reduce(begin, slice.size(), work_.to + begin,
                             windows_.data(work_.rank) + reduced() + begin);
    port_.pipe_barrier(Pipe::kAll);
    return done;
  }

  // The parts lie behind each other, so a block has one rank's or two.
  void gather_parts() {
    meetings_.meet();
    const Slice slice = own(work_.bytes);
    Passage passage(port_);
    for (unsigned rank = 0; rank < work_.ranks; ++rank) {
      const Slice part = part_of(rank);
      const std::uint64_t begin = std::max(part.begin, slice.begin);
      const std::uint64_t end = std::min(part.end, slice.end);
      if (rank == work_.rank || begin >= end) continue;
      passage.copy(windows_.data(rank) + reduced() + begin, work_.to + begin, end - begin);
    }
  }

  AicorePort& port_;
  const VectorCollective& work_;
  const Windows& windows_;
  Meetings meetings_;
};

bool valid(const VectorCollective& work) {
  const bool reduces = work.kind != VectorCollectiveKind::kGather;
  return static_cast<unsigned>(work.kind) < abi::kVectorCollectiveKinds && work.ranks != 0 &&
         work.ranks <= VectorCollective::kMostRanks && work.rank < work.ranks &&
         work.place < work.rows &&
         (!reduces || is_narrow(work.type) || platform::bytes_of(vector_type(work.type)) != 0);
}

bool valid(const ExpertExchange& work) {
  return work.ranks != 0 && work.ranks <= VectorCollective::kMostRanks && work.rank < work.ranks &&
         work.experts != 0 && work.experts <= ExpertExchange::kMostExperts &&
         work.experts % work.ranks == 0 && work.chosen != 0 &&
         work.chosen <= ExpertExchange::kMostChosen && work.tokens <= work.most_tokens &&
         work.most_tokens <= ExpertExchange::kMostTokens && work.hidden != 0 &&
         work.hidden <= ExpertExchange::kMostHidden && work.window_bytes() <= work.half &&
         is_real(work.type);
}

// Its arguments are addresses and sizes, and its copies go through queues of buffers.
constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, true, false};

int move_tokens(AicorePort& port) {
  const aicore::Arguments arguments(port, ExpertExchange::kWords + VectorCollective::kMostRanks);
  const auto work = ExpertExchange::of(arguments.words<ExpertExchange::kWords>());
  if (!valid(work)) return aicore::kBadArguments;
  vector::set_up(port, kSetUp, 0);
  const Windows windows(arguments, ExpertExchange::kWords, work.number, work.half);
  return work.kind == VectorCollectiveKind::kDispatch ? Dispatch(port, work, windows).run()
                                                      : Combine(port, work, windows).run();
}

int run(AicorePort& port) {
  const auto work = VectorCollective::of(
      aicore::Arguments(port, VectorCollective::kWords).words<VectorCollective::kWords>());
  if (port.core_type() == abi::CoreType::kAic) return aicore::kBadArguments;
  if (work.kind == VectorCollectiveKind::kDispatch || work.kind == VectorCollectiveKind::kCombine) {
    return move_tokens(port);
  }
  if (!valid(work)) return aicore::kBadArguments;
  const aicore::Arguments arguments(port, VectorCollective::kWords + work.ranks);
  vector::set_up(port, kSetUp, 0);
  const Windows windows(arguments, VectorCollective::kWords, work.number, work.half);
  return Operation(port, work, windows).run();
}

int vector_collective(AicorePort& port) {
  const int result = run(port);
  port.pipe_barrier(Pipe::kAll);
  return result;
}

}  // namespace
}  // namespace npu::kernels::collectives

NPU_KERNEL(npu::kernels::collectives::vector_collective)
