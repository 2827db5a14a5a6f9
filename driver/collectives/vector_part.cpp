// SPDX-License-Identifier: Apache-2.0
#include "driver/collectives/vector_part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/collectives/communicator_impl.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

using Kind = abi::VectorCollectiveKind;
using Operation = CollectiveOperation;

constexpr Bytes kHalfUnit = 512, kLeastHalf = 64_KiB, kMostHalf = Bytes{1} << 30;
constexpr std::uint32_t kMostBlocks = 1024;

bool has_parts(Operation operation) {
  return operation == Operation::kReduceScatter || operation == Operation::kAllToAll;
}

CollectiveSizes sizes(Bytes reducing, Bytes moving) {
  CollectiveSizes all{};
  const auto put = [&](Operation operation, Bytes size) {
    all[static_cast<std::size_t>(operation)] = size;
  };
  put(Operation::kAllReduce, reducing);
  put(Operation::kReduceScatter, reducing);
  put(Operation::kAllGather, moving);
  put(Operation::kAllToAll, moving);
  return all;
}

}  // namespace

CollectiveSizes vector_sizes_of_a3() {
  return sizes(1_MiB, 512_KiB);
}

CollectiveSizes every_vector_size() {
  return sizes(UINT64_MAX, UINT64_MAX);
}

Status check_vector(const VectorCollectives& options) {
  if (options.kernel.size == 0) return {};
  for (const auto blocks :
       {options.blocks, options.expert_blocks == 0 ? 1 : options.expert_blocks}) {
    if (blocks != 0 && blocks <= kMostBlocks) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} blocks: 1 to {}", blocks, kMostBlocks));
  }
  if (options.half < kLeastHalf || options.half > kMostHalf || options.half % kHalfUnit != 0) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("a half of {} bytes: 64 KiB to 1 GiB in whole 512 bytes", options.half));
  }
  return {};
}

VectorTurns::VectorTurns(const VectorCollectives& options, const PlanRequest& request,
                         const PlanRank& me, const PartWriter::Data& data)
    : request_(request), me_(me), data_(data), size_(request.count * request.element) {
  const bool gathers =
      request.operation == Operation::kAllGather || request.operation == Operation::kAllToAll;
  const bool small = request.operation != Operation::kAllReduce || size_ <= options.one_shot;
  work_.kind = gathers ? Kind::kGather : small ? Kind::kReduce : Kind::kReduceGather;
  work_.type = data.type;
  work_.reduction = data.reduction;
  work_.rank = static_cast<std::uint8_t>(me.rank);
  work_.ranks = static_cast<std::uint8_t>(me.ranks);
  work_.half = options.half;
  work_.to_pitch = size_;
  most_ = work_.kind == Kind::kReduceGather ? options.half / 2 : options.half;
  if (has_parts(request.operation)) {
    work_.rows = me.ranks;
    work_.place = work_.rank;
    work_.from_pitch = size_;
    most_ /= me.ranks;
  }
  most_ = align_down(most_, kHalfUnit);
}

std::optional<abi::VectorCollective> VectorTurns::next() {
  if (done_ >= size_) return std::nullopt;
  work_.bytes = std::min(most_, size_ - done_);
  work_.from = data_.from.value + done_;
  work_.to = data_.to.value + done_;
  done_ += work_.bytes;
  return work_;
}

Status Communicator::Impl::check_vector_cores() const {
  if (options.vector.kernel.size == 0) {
    return fail(ErrorCode::kUnsupported, "aiv: the communicator has no kernel for vector cores");
  }
  if (ranks() <= abi::VectorCollective::kMostRanks) return {};
  return fail(ErrorCode::kUnsupported, fmt::format("aiv: at most {} ranks, here are {}",
                                                   abi::VectorCollective::kMostRanks, ranks()));
}

// A launch reads its half until all have met in the next one.
Status Communicator::Impl::begin_launches(unsigned rank, const CollectiveCall& call) {
  auto& member = *members[rank];
  if (const auto& failure = member.failure()) return fail(ErrorCode::kDeviceFault, *failure);
  if (member.launched_on == nullptr || member.launched_on == call.stream) return {};
  auto& clock = impl_of(member.process()).link.clock();
  return member.last_launch.wait(clock.now() + options.timeout);
}

Result<StreamMark> Communicator::Impl::launch(unsigned rank, const CollectiveCall& call,
                                              std::uint32_t blocks, const LaunchWords& words) {
  auto& member = *members[rank];
  const auto told =
      words(++member.launches, static_cast<std::uint64_t>(options.timeout.count() / 1000));
  KernelLaunch launch;
  launch.module = member.kernel();
  launch.blocks = blocks;
  launch.bytes = static_cast<std::uint32_t>(8 * (told.size() + ranks()));
  launch.write = [&](ByteSpan host, DeviceAddress) -> Status {
    std::copy_n(reinterpret_cast<const std::byte*>(told.data()), 8 * told.size(), host.data);
    for (unsigned i = 0; i < ranks(); ++i) {
      const std::uint64_t window = member.window_of(i).value;
      std::copy_n(reinterpret_cast<const std::byte*>(&window), 8,
                  host.data + 8 * (told.size() + i));
    }
    return {};
  };
  auto mark = call.stream->launch(launch);
  if (!mark) {
    member.note_failure(mark.error().context);
    return mark;
  }
  member.last_launch = *mark;
  member.launched_on = call.stream;
  return mark;
}

Result<StreamMark> Communicator::Impl::launch(unsigned rank, const CollectiveCall& call,
                                              const PartWriter::Data& data,
                                              const PlanRequest& request) {
  auto& member = *members[rank];
  const MutexHolder holder(member.lock());
  if (auto ready = begin_launches(rank, call); !ready) return forward_error(ready);
  const PlanRank me{rank, ranks()};
  VectorTurns turns(options.vector, request, me, data);
  while (auto work = turns.next()) {
    const auto words = [&](std::uint64_t number, std::uint64_t timeout) {
      work->number = number, work->timeout = timeout;
      const auto all = work->words();
      return std::vector<std::uint64_t>(all.begin(), all.end());
    };
    auto mark = launch(rank, call, options.vector.blocks, words);
    if (!mark) return mark;
  }
  return member.last_launch;
}

}  // namespace npu::driver
