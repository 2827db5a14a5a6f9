// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/run_layout.hpp"

#include <cstring>

namespace npu::driver {
namespace {

constexpr Bytes kWord = 8;

class Places {
 public:
  Bytes take(Bytes size) {
    const Bytes at = next_;
    next_ = (next_ + size + abi::kCacheLine - 1) / abi::kCacheLine * abi::kCacheLine;
    return at;
  }
  Bytes next() const { return next_; }

 private:
  Bytes next_ = 0;
};

// Blocks on cores: a mixed one takes three.
std::uint64_t core_blocks(const abi::TaskDescriptor& task) {
  switch (static_cast<TaskShape>(task.shape)) {
    case TaskShape::kNone:
      return 0;
    case TaskShape::kMixed:
      return 3ULL * task.blocks;
    default:
      return task.blocks;
  }
}

}  // namespace

RunLayout::RunLayout(const TaskGraph& graph, std::uint32_t workers, const RunOptions& options) {
  std::uint64_t words = 0, blocks = 0;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    const auto& task = graph.task({i});
    words += task.words.size();
    blocks += core_blocks(task.descriptor);
  }
  Places places;
  places.take(sizeof(abi::RunHeader));
  result = places.take(sizeof(abi::RunResult));
  descriptors = places.take(graph.tasks() * sizeof(abi::TaskDescriptor));
  producers = places.take(graph.edges() * sizeof(std::uint32_t));
  arguments = places.take(words * kWord);
  uploaded = places.next();
  handshakes = places.take(workers * sizeof(abi::Handshake));
  payloads = places.take(workers * abi::kPayloadsPerWorker * sizeof(abi::DispatchPayload));
  scratch_bytes = abi::run_scratch_bytes(graph.tasks(), graph.edges());
  scratch = places.take(scratch_bytes);
  record_count = options.profiling ? blocks : 0;
  records = places.take(record_count * sizeof(abi::TaskRecord));
  pmu_bytes = options.pmu_group != 0 ? workers * sizeof(abi::PmuRecord) : 0;
  pmu = places.take(pmu_bytes);
  size = places.next();
}

void write_run(const TaskGraph& graph, const RunLayout& layout, const RunTarget& target,
               const RunOptions& options, const std::map<std::uint32_t, std::uint64_t>& kernels,
               ByteSpan out) {
  abi::RunHeader header;
  header.tasks = static_cast<std::uint32_t>(graph.tasks());
  header.workers = target.workers;
  header.threads = options.aicpu_threads;
  header.handshake = static_cast<std::uint32_t>(options.handshake);
  header.flags = (options.single_issue ? abi::kRunSingleIssue : 0U) |
                 (options.profiling ? abi::kRunProfile : 0U);
  header.clusters = target.clusters;
  header.descriptors = target.base + layout.descriptors;
  header.producers = target.base + layout.producers;
  header.handshakes = target.base + layout.handshakes;
  header.payloads = target.base + layout.payloads;
  header.scratch = target.base + layout.scratch;
  header.scratch_bytes = layout.scratch_bytes;
  header.result = target.base + layout.result;
  header.records = layout.record_count != 0 ? target.base + layout.records : 0;
  header.record_count = layout.record_count;
  header.watchdog_ns = static_cast<std::uint64_t>(options.watchdog.count() / 1000);
  header.producer_count = static_cast<std::uint32_t>(graph.edges());
  header.pmu_group = options.pmu_group;
  header.pmu = layout.pmu_bytes != 0 ? target.base + layout.pmu : 0;
  std::memcpy(out.data, &header, sizeof header);
  const abi::RunResult result;
  std::memcpy(out.data + layout.result, &result, sizeof result);

  std::uint32_t first_producer = 0;
  Bytes first_word = layout.arguments;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    const auto& task = graph.task({i});
    abi::TaskDescriptor descriptor = task.descriptor;
    const auto kernel = kernels.find(task.kernel.value);
    descriptor.kernel = kernel == kernels.end() ? 0 : kernel->second;
    descriptor.arguments = target.base + first_word;
    descriptor.first_producer = first_producer;
    descriptor.producers = static_cast<std::uint32_t>(task.producers.size());
    std::memcpy(out.data + layout.descriptors + i * sizeof descriptor, &descriptor,
                sizeof descriptor);
    if (!task.words.empty()) {
      std::memcpy(out.data + first_word, task.words.data(), task.words.size() * kWord);
    }
    if (!task.producers.empty()) {
      std::memcpy(out.data + layout.producers + first_producer * sizeof(std::uint32_t),
                  task.producers.data(), task.producers.size() * sizeof(std::uint32_t));
    }
    first_word += task.words.size() * kWord;
    first_producer += descriptor.producers;
  }
}

}  // namespace npu::driver
