// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/run_layout.hpp"

#include <algorithm>
#include <cstring>

namespace npu::driver {
namespace {

constexpr Bytes kWord = 8;

constexpr Bytes line_aligned(Bytes size) {
  return (size + abi::kCacheLine - 1) / abi::kCacheLine * abi::kCacheLine;
}

class Places {
 public:
  Bytes take(Bytes size) {
    const Bytes at = next_;
    next_ = line_aligned(next_ + size);
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

// What is read is of interest before, what is written after; the order is somebody else's business
// where nobody says which.
bool dumped(const TaskGraph::Tensor& tensor, abi::DumpStage stage) {
  return tensor.kind !=
         (stage == abi::DumpStage::kBeforeDispatch ? ArgumentKind::kOutput : ArgumentKind::kInput);
}

// The task's entries of the list, `copy` being where the first one's bytes go.
std::vector<abi::TensorDump> list_dumps(const TaskGraph::Task& task, std::uint64_t copy) {
  std::vector<abi::TensorDump> dumps;
  if (static_cast<TaskShape>(task.descriptor.shape) == TaskShape::kNone) return dumps;
  for (const auto stage : {abi::DumpStage::kBeforeDispatch, abi::DumpStage::kAfterCompletion}) {
    for (const auto& tensor : task.tensors) {
      if (!dumped(tensor, stage)) continue;
      abi::TensorDump dump;
      dump.tensor = task.words[tensor.argument];
      dump.copy = copy;
      dump.bytes = tensor.bytes;
      dump.argument = tensor.argument;
      dump.stage = static_cast<std::uint32_t>(stage);
      dumps.push_back(dump);
      copy += line_aligned(tensor.bytes);
    }
  }
  return dumps;
}

}  // namespace

Bytes argument_bytes(const TaskGraph::Task& task) {
  return std::max<Bytes>(task.words.size(), 1) * kWord;
}

unsigned dumps_of(const TaskGraph::Task& task) {
  return static_cast<unsigned>(list_dumps(task, 0).size());
}

RunLayout::RunLayout(const TaskGraph& graph, std::uint32_t workers, const RunOptions& options) {
  std::uint64_t blocks = 0;
  Bytes argument_size = 0, copied = 0;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    const auto& task = graph.task({i});
    argument_size += argument_bytes(task);
    blocks += core_blocks(task.descriptor);
    if (!options.dump_tensors) continue;
    for (const auto& dump : list_dumps(task, 0)) {
      ++dump_count;
      copied += line_aligned(dump.bytes);
    }
  }
  Places places;
  places.take(sizeof(abi::RunHeader));
  result = places.take(sizeof(abi::RunResult));
  descriptors = places.take(graph.tasks() * sizeof(abi::TaskDescriptor));
  producers = places.take(graph.edges() * sizeof(std::uint32_t));
  arguments = places.take(argument_size);
  dumps = places.take(dump_count * sizeof(abi::TensorDump));
  uploaded = places.next();
  handshakes = places.take(workers * sizeof(abi::Handshake));
  payloads = places.take(workers * abi::kPayloadsPerWorker * sizeof(abi::DispatchPayload));
  scratch_bytes = abi::run_scratch_bytes(graph.tasks(), graph.edges());
  scratch = places.take(scratch_bytes);
  record_count = options.profiling ? blocks : 0;
  records = places.take(record_count * sizeof(abi::TaskRecord));
  pmu_bytes = options.pmu_group != 0 ? workers * sizeof(abi::PmuRecord) : 0;
  pmu = places.take(pmu_bytes);
  zeroed = places.next();
  copies = places.take(copied);
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
  header.dumps = layout.dump_count != 0 ? target.base + layout.dumps : 0;
  header.dump_count = layout.dump_count;
  std::memcpy(out.data, &header, sizeof header);
  const abi::RunResult result;
  std::memcpy(out.data + layout.result, &result, sizeof result);

  std::uint32_t first_producer = 0, first_dump = 0;
  Bytes first_word = layout.arguments;
  std::uint64_t copy = target.base + layout.copies;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    const auto& task = graph.task({i});
    abi::TaskDescriptor descriptor = task.descriptor;
    const auto kernel = kernels.find(task.kernel.value);
    descriptor.kernel = kernel == kernels.end() ? 0 : kernel->second;
    descriptor.arguments = target.base + first_word;
    descriptor.first_producer = first_producer;
    descriptor.producers = static_cast<std::uint32_t>(task.producers.size());
    if (layout.dump_count != 0) {
      const auto dumps = list_dumps(task, copy);
      descriptor.first_dump = first_dump;
      descriptor.dumps = static_cast<std::uint32_t>(dumps.size());
      for (const auto& dump : dumps) {
        std::memcpy(out.data + layout.dumps + first_dump++ * sizeof dump, &dump, sizeof dump);
        copy += line_aligned(dump.bytes);
      }
    }
    std::memcpy(out.data + layout.descriptors + i * sizeof descriptor, &descriptor,
                sizeof descriptor);
    if (!task.words.empty()) {
      std::memcpy(out.data + first_word, task.words.data(), task.words.size() * kWord);
    }
    if (!task.producers.empty()) {
      std::memcpy(out.data + layout.producers + first_producer * sizeof(std::uint32_t),
                  task.producers.data(), task.producers.size() * sizeof(std::uint32_t));
    }
    first_word += argument_bytes(task);
    first_producer += descriptor.producers;
  }
}

}  // namespace npu::driver
