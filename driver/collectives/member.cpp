// SPDX-License-Identifier: Apache-2.0
#include "driver/collectives/member.hpp"

#include <fmt/format.h>

#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/abi/vector_collective.hpp"
#include "npu/base/checked.hpp"
#include "npu/driver/staged_copies.hpp"

namespace npu::driver {
namespace {

constexpr Picoseconds kZeroed = 10'000_ms;  // for the slots

}  // namespace

CollectiveMember::CollectiveMember(ProcessContext& process, unsigned rank, unsigned ranks)
    : told(ranks),
      heard(ranks),
      joined(ranks),
      process_(&process),
      rank_(rank),
      ranks_(ranks),
      lock_(impl_of(process).link.platform().tasks().make_mutex()),
      meeting_(impl_of(process).link.platform().tasks().make_mutex()),
      blocks_(ranks),
      same_card_(ranks),
      linked_(ranks),
      arguments_(std::make_unique<ArgumentPool>(process)),
      streams_(ranks) {}

Status CollectiveMember::open(Bytes buffer, const VectorCollectives& vector) {
  buffer_ = *checked_align_up(buffer, kPageSize);
  size_ = kSlots + buffer_;
  if (vector.kernel.size != 0) {
    size_ += *checked_align_up(abi::VectorCollective::kHead + 2 * vector.half, kPageSize);
  }
  auto& own = blocks_[rank_];
  const auto memory = process_->space().create_memory(size_, {true, true});
  if (!memory) return forward_error(memory);
  own.memory = *memory;
  if (auto there = map(own); !there) return there;
  for (unsigned i = 0; i < ranks_; ++i) {
    if (ranks_ > kMostAtOnce && i != rank_) continue;
    if (auto there = open_stream(i); !there) return there;
  }
  if (auto zeroed = zero(own.at, kSlots); !zeroed || vector.kernel.size == 0) return zeroed;
  auto copies = StagedCopies::open(*process_);
  if (!copies) return forward_error(copies);
  auto kernel = (*copies)->load(vector.kernel);
  if (!kernel) return forward_error(kernel);
  kernel_ = std::move(*kernel);
  return zero(window_of(rank_), abi::VectorCollective::kHead);
}

Status CollectiveMember::open_stream(unsigned peer) {
  ExecutionStreamOptions options;
  options.wait = WaitPolicy::kPolling;
  options.on_error = StreamErrorMode::kStop;
  auto opened = ExecutionStream::open(*process_, *arguments_, options);
  if (!opened) return forward_error(opened);
  streams_[peer] = std::move(*opened);
  return {};
}

Result<ExecutionStream*> CollectiveMember::stream_for(unsigned peer) {
  if (streams_[peer] == nullptr) {
    if (auto there = open_stream(peer); !there) return forward_error(there);
  }
  return streams_[peer].get();
}

Status CollectiveMember::zero(DeviceAddress at, Bytes size) {
  const auto entry = entries::fill(at, size, 0);
  if (const auto filled = stream().submit(&entry, 1); !filled) return forward_error(filled);
  auto& clock = impl_of(*process_).link.clock();
  return stream().wait(clock.now() + kZeroed);
}

Status CollectiveMember::map(Block& block) {
  auto& space = process_->space();
  const auto at = space.reserve(size_);
  if (!at) return forward_error(at);
  if (auto there = space.map(*at, size_, block.memory, 0, Access::kReadWrite); !there) {
    static_cast<void>(space.release(*at));
    return there;
  }
  block.at = *at;
  return {};
}

Status CollectiveMember::meet(const Members& all) {
  if (ranks_ > kMostAtOnce) return look_at(all);
  for (const auto& peer : all) {
    if (peer.get() == this) continue;
    const auto there = meet(*peer);
    // Some algorithms do without this link.
    if (!there && there.error().code != ErrorCode::kUnsupported) return there;
  }
  return {};
}

Status CollectiveMember::look_at(const Members& all) {
  const auto links = impl_of(*process_).link.links();
  if (!links) return forward_error(links);
  for (const auto& peer : all) {
    peers_.push_back(peer.get());
    const auto card = impl_of(*peer->process_).link.device_index();
    same_card_[peer->rank_] = is_with(*peer);
    linked_[peer->rank_] = is_with(*peer) || (card < links->size() && (*links)[card]);
  }
  return {};
}

Status CollectiveMember::reach(unsigned peer) {
  if (peers_.empty() || blocks_[peer].at.value != 0) return {};
  const auto& other = *peers_[peer];
  const MutexHolder holder(*other.meeting_);
  if (other.has_left()) {
    return fail(ErrorCode::kDeviceFault, fmt::format("rank {} has left", peer));
  }
  return meet(other);
}

bool CollectiveMember::is_with(const CollectiveMember& peer) const {
  return &impl_of(*peer.process_).memory == &impl_of(*process_).memory;
}

Status CollectiveMember::meet(const CollectiveMember& peer) {
  auto& block = blocks_[peer.rank_];
  const auto& theirs = peer.blocks_[peer.rank_];
  same_card_[peer.rank_] = is_with(peer);
  const auto memory = process_->space().import_memory(peer.process_->space(), theirs.memory);
  if (!memory) return forward_error(memory);
  block.memory = *memory;
  linked_[peer.rank_] = true;
  return map(block);
}

// An error here would tell nothing new: the card is lost, or the process is closed.
void CollectiveMember::unmap(Block& block) {
  auto& space = process_->space();
  if (block.at.value != 0) {
    static_cast<void>(space.unmap(block.at, size_));
    static_cast<void>(space.release(block.at));
  }
  if (block.memory.generation != 0) static_cast<void>(space.release_memory(block.memory));
  block = {};
}

Status CollectiveMember::leave(Instant deadline) {
  if (has_left()) return {};
  const MutexHolder holder(*lock_);
  // Its kernel reads windows that are unmapped below. The mark may not outlive the process.
  static_cast<void>(last_launch.wait(deadline));
  last_launch = {};
  launched_on = nullptr;
  for (auto& stream : streams_) {
    if (stream != nullptr) stream->close(deadline);
    stream.reset();
  }
  arguments_.reset();
  kernel_.reset();
  const MutexHolder alone(*meeting_);
  for (auto& block : blocks_) unmap(block);
  process_ = nullptr;
  note_failure("the rank has left");
  return {};
}

const std::optional<std::string>& CollectiveMember::failure() {
  for (unsigned i = 0; i < ranks_ && !failure_; ++i) {
    if (streams_[i] == nullptr || streams_[i]->last().query()) continue;
    const auto ended = streams_[i]->wait(impl_of(*process_).link.clock().now());
    if (!ended) failure_ = ended.error().context;
  }
  if (const auto launch = last_launch.query(); !launch && !failure_) {
    failure_ = launch.error().context;
  }
  return failure_;
}

}  // namespace npu::driver
