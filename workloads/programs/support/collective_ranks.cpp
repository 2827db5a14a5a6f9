// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/collective_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "model/config/system_config.hpp"
#include "npu/base/checked.hpp"
#include "workloads/framework/program_images.hpp"
#include "workloads/programs/support/operator_limits.hpp"

namespace npu::workloads {
namespace {

using driver::CollectiveOperation;

constexpr Bytes kComparedAtOnce = 4_KiB;  // compared at once
constexpr Bytes kTimesBytes = 4_KiB;
constexpr std::size_t kVectorMask = 1;  // of CardCores

}  // namespace

Result<driver::VectorCollectives> vector_collectives(Context& context) {
  const auto kernel = use_program(context.report, "vector_collective");
  if (!kernel) return forward_error(kernel);
  driver::VectorCollectives vector;
  vector.kernel = *kernel;
  vector.blocks = static_cast<std::uint32_t>(context.parameters.integer("blocks"));
  if (context.machine == nullptr) return vector;
  const auto& cards = context.machine->cards;
  // Blocks wait for each other: more than there are cores would never meet.
  vector.expert_blocks = cores_of(cards.front()).count[kVectorMask];
  for (const auto& card : cards) {
    vector.blocks = std::min(vector.blocks, cores_of(card).count[kVectorMask]);
    vector.expert_blocks = std::min(vector.expert_blocks, cores_of(card).count[kVectorMask]);
  }
  if (cards.front().name == "910c") vector.largest = driver::vector_sizes_of_a3();
  return vector;
}

void use_vector_cores(const Context& context, std::uint32_t card,
                      driver::ExecutionStreamOptions* options) {
  if (context.machine == nullptr) return;
  constexpr auto kVector = static_cast<std::size_t>(driver::LaunchCores::kVector);
  options->cores[kVector] = cores_of(context.machine->cards[card]).mask[kVectorMask];
}

Result<std::unique_ptr<CollectiveRanks>> CollectiveRanks::open(
    Context& context, unsigned ranks, Bytes bytes, const driver::CommunicatorOptions& options) {
  std::unique_ptr<CollectiveRanks> made(new CollectiveRanks(context));
  made->ranks_.resize(ranks);
  const auto found = driver::scan(context.platform);
  if (!found) return forward_error(found);
  std::vector<driver::CommunicatorRank> members;
  for (unsigned i = 0; i < ranks; ++i) {
    if (auto ok = made->open(made->ranks_[i], *found, i, bytes); !ok) return forward_error(ok);
    members.push_back({&made->ranks_[i].session->process()});
  }
  auto communicator = driver::Communicator::create(members, options);
  if (!communicator) return forward_error(communicator);
  made->communicator_ = std::move(*communicator);
  return made;
}

CollectiveRanks::~CollectiveRanks() {
  communicator_.reset();
  for (auto& rank : ranks_) rank.stream.reset();
}

Status CollectiveRanks::open(Rank& rank, const driver::ScanResult& found, unsigned number,
                             Bytes bytes) {
  auto device = driver::Device::open_index(context_.platform, found, number);
  if (!device && device.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("ranks={}: the machine has {}; system-2x910b2 has two with a link "
                            "between them, system-8x910b eight",
                            ranks_.size(), number));
  }
  if (!device) return forward_error(device);
  rank.device = std::move(*device);
  auto session = QueueSession::open(context_, *rank.device);
  if (!session) return forward_error(session);
  rank.session = std::move(*session);
  auto& process = rank.session->process();
  rank.arguments = std::make_unique<driver::ArgumentPool>(process);
  driver::ExecutionStreamOptions options;
  options.wait = driver::WaitPolicy::kPolling;
  use_vector_cores(context_, number, &options);
  auto stream = driver::ExecutionStream::open(process, *rank.arguments, options);
  if (!stream) return forward_error(stream);
  rank.stream = std::move(*stream);
  auto times = rank.session->allocate_host(kTimesBytes);
  if (!times) return forward_error(times);
  rank.times = *times;
  for (auto* memory : {&rank.from, &rank.to}) {
    auto made = rank.session->allocate(std::max<Bytes>(bytes, 64));
    if (!made) return forward_error(made);
    *memory = *made;
  }
  return {};
}

// The same windows of every block: the first and the last one, and others between, evenly.
Status CollectiveRanks::for_windows(const CollectiveProblem& problem, unsigned blocks, Bytes verify,
                                    const Visit& visit) {
  const Bytes block = problem.block_bytes(), size = abi::element_size(problem.type);
  if (block == 0 || verify == 0) return {};
  const Bytes wanted =
      std::min(ceil_div(verify, kComparedAtOnce), ceil_div(block, kComparedAtOnce));
  for (unsigned number = 0; number < ranks_.size(); ++number) {
    for (unsigned i = 0; i < blocks; ++i) {
      for (Bytes window = 0; window < wanted; ++window) {
        const Bytes last = block > kComparedAtOnce ? block - kComparedAtOnce : 0;
        const Bytes at = wanted == 1 ? 0 : align_down(last / (wanted - 1) * window, size);
        const Bytes begin = window + 1 == wanted && wanted > 1 ? last : at;
        auto ok = visit(ranks_[number], number, i, begin / size,
                        std::min<Bytes>(kComparedAtOnce, block - begin));
        if (!ok) return ok;
      }
    }
  }
  return {};
}

Status CollectiveRanks::prepare(const CollectiveProblem& problem, Bytes verify) {
  const Bytes size = abi::element_size(problem.type);
  const auto write = [&](Rank& rank, driver::DeviceAddress memory, unsigned block,
                         std::uint64_t first, const std::vector<std::byte>& bytes) {
    const Bytes at = block * problem.block_bytes() + first * size;
    return rank.session->write(memory + at, {bytes.data(), bytes.size()});
  };
  // What was there before must not pass for a result.
  auto ok = for_windows(
      problem, problem.blocks_to(), verify,
      [&](Rank& rank, unsigned, unsigned block, std::uint64_t first, Bytes bytes) {
        return write(rank, rank.to, block, first, std::vector<std::byte>(bytes, std::byte{0x55}));
      });
  if (!ok) return ok;
  const bool in_place = problem.operation == CollectiveOperation::kBroadcast;
  return for_windows(problem, problem.blocks_from(), verify,
                     [&](Rank& rank, unsigned number, unsigned block, std::uint64_t first,
                         Bytes length) -> Status {
                       std::vector<std::byte> bytes(length);
                       problem.fill(number, block, first, {bytes.data(), bytes.size()});
                       if (in_place && number != problem.root) return {};
                       return write(rank, in_place ? rank.to : rank.from, block, first, bytes);
                     });
}

Result<Bytes> CollectiveRanks::compare(const CollectiveProblem& problem, Bytes verify) {
  Bytes compared = 0;
  // Of an all-reduce: sums of all ranks are the same on each.
  std::map<std::uint64_t, std::vector<std::byte>> reduced;
  const bool same = problem.operation == CollectiveOperation::kAllReduce;
  auto ok = for_windows(
      problem, problem.blocks_to(), verify,
      [&](Rank& rank, unsigned number, unsigned block, std::uint64_t first,
          Bytes length) -> Status {
        std::vector<std::byte> expected, found(length);
        if (same) expected = reduced[first];
        if (expected.empty()) {
          expected.resize(length);
          if (!problem.expect(number, block, first, {expected.data(), length})) return {};
          if (same) reduced[first] = expected;
        }
        const Bytes at = block * problem.block_bytes() + first * abi::element_size(problem.type);
        if (auto there = rank.session->read(rank.to + at, {found.data(), found.size()}); !there) {
          return there;
        }
        compared += length;
        return check_equal({expected.data(), expected.size()}, {found.data(), found.size()},
                           fmt::format("{}: rank {}, bytes from {} on of its result",
                                       to_string(problem.operation), number, at));
      });
  if (!ok) return forward_error(ok);
  return compared;
}

Result<driver::StreamMark> CollectiveRanks::call(Rank& rank, unsigned number,
                                                 const CollectiveProblem& problem,
                                                 driver::CollectiveAlgorithm algorithm) {
  auto& all = *communicator_;
  const driver::CollectiveCall how{rank.stream.get(), problem.type, algorithm};
  const auto count = problem.count;
  switch (problem.operation) {
    case CollectiveOperation::kAllReduce:
      return all.all_reduce(number, how, rank.from, rank.to, count, problem.reduction);
    case CollectiveOperation::kAllGather:
      return all.all_gather(number, how, rank.from, rank.to, count);
    case CollectiveOperation::kReduceScatter:
      return all.reduce_scatter(number, how, rank.from, rank.to, count, problem.reduction);
    case CollectiveOperation::kBroadcast:
      return all.broadcast(number, how, rank.to, count, problem.root);
    case CollectiveOperation::kReduce:
      return all.reduce(number, how, rank.from, rank.to, count, problem.reduction, problem.root);
    case CollectiveOperation::kScatter:
      return all.scatter(number, how, rank.from, rank.to, count, problem.root);
    case CollectiveOperation::kAllToAll:
      return all.all_to_all(number, how, rank.from, rank.to, count);
    default:
      return all.barrier(number, how);
  }
}

Status CollectiveRanks::run_rank(Rank& rank, unsigned number, const Part& part, unsigned times,
                                 Picoseconds most) {
  auto met = communicator_->barrier(number, {rank.stream.get()});
  if (!met) return forward_error(met);
  if (auto begun = rank.stream->record(rank.times->bus()); !begun) return forward_error(begun);
  for (unsigned i = 0; i < times; ++i) {
    if (auto called = part(number); !called) return forward_error(called);
  }
  const platform::BusAddress end{rank.times->bus().value + sizeof(std::uint64_t)};
  if (auto ended = rank.stream->record(end); !ended) return forward_error(ended);
  return rank.stream->wait(deadline_of(context_, times * most));
}

Result<MeasuredSpan> CollectiveRanks::run(const CollectiveProblem& problem,
                                          driver::CollectiveAlgorithm algorithm, unsigned times) {
  const auto part = [&](unsigned rank) { return call(ranks_[rank], rank, problem, algorithm); };
  return run(part, times, time_for(problem.bytes()));
}

Result<MeasuredSpan> CollectiveRanks::run(const Part& part, unsigned times, Picoseconds most) {
  std::vector<std::unique_ptr<platform::Task>> tasks;
  for (unsigned i = 0; i < ranks_.size(); ++i) {
    auto& rank = ranks_[i];
    rank.status = Status();
    auto task = context_.platform.tasks().spawn(
        fmt::format("rank{}", i), [this, &rank, i, &part, times, most] {
          rank.status = run_rank(rank, i, part, times, most);
        });
    if (!task) return forward_error(task);
    tasks.push_back(std::move(*task));
  }
  for (auto& task : tasks) task->join();
  std::uint64_t begin = UINT64_MAX, end = 0;
  for (auto& rank : ranks_) {
    if (!rank.status) return forward_error(rank.status);
    begin = std::min(begin, time_of(rank, 0));
    end = std::max(end, time_of(rank, 1));
  }
  const auto at = [](std::uint64_t ns) {
    return Instant(Picoseconds(static_cast<std::int64_t>(ns) * 1000));
  };
  return MeasuredSpan{at(begin), at(end), 0, times};
}

std::uint64_t CollectiveRanks::time_of(const Rank& rank, unsigned which) const {
  std::uint64_t time = 0;
  std::memcpy(&time, rank.times->cpu().data + which * sizeof time, sizeof time);
  return time;
}

Status CollectiveRanks::close() {
  communicator_.reset();
  for (auto& rank : ranks_) {
    rank.stream.reset();
    rank.arguments.reset();
    if (auto ok = rank.session->close(); !ok) return ok;
    rank.session.reset();
    if (auto ok = rank.device->shutdown(); !ok) return ok;
  }
  return {};
}

}  // namespace npu::workloads
