// SPDX-License-Identifier: Apache-2.0
// AI Cores that take, run and report tasks as the executor does (firmware/aicore), each task in a
// time of its own, and a task graph for the scheduler program.
#pragma once

#include "npu/abi/task_graph.hpp"
#include "tests/bench/aicpu/aicpu_bench.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {

struct GraphTask {
  abi::TaskShape shape;
  std::vector<std::uint32_t> producers;
  std::uint64_t begun = 0, ended = 0;  // ps, as a core ran it
};

class ScriptedCores {
 public:
  static constexpr std::uint64_t kGraphAt =
      0x30'0000;                                   // behind an image that sanitizers make larger
  static constexpr SimTime kReaction = 200 * kNs;  // of the core to what it sees
  static constexpr SimTime kTell = 180 * kNs;      // until others see its answer

  // A third of the windows are cube cores, the others vector cores.
  ScriptedCores(AicpuBench& bench, abi::HandshakeKind kind)
      : bench_(bench), kind_(kind), cores_(bench.windows.windows()) {
    bench.windows.on_write = [this](unsigned core, std::uint32_t offset, std::uint32_t value) {
      if (offset != abi::DataMainBase::kOffset) return;
      cores_[core].data_main = value;
      wake(core);
    };
  }

  // Lays the graph out and starts `threads` scheduler threads on it; gives its result.
  abi::RunResult run(std::vector<GraphTask>& tasks, unsigned threads, SimTime duration,
                     std::uint32_t flags = 0);

 private:
  struct Core {
    std::uint32_t data_main = 0, last = 0, sequence = 0, task = 0;
    bool introduced = false, running = false, due = false, gone = false;
  };
  std::uint64_t line(unsigned core) const { return header_.handshakes + core * 64; }
  std::uint32_t word(unsigned core, std::size_t field) const {
    return bench_.peek(line(core) + field);
  }
  void set(unsigned core, std::size_t field, std::uint32_t value) {
    bench_.poke(model::Writer::kAiCore, line(core) + field, value);
  }
  void set_cond(unsigned core, std::uint32_t value) {
    bench_.sim.agenda.at<&ScriptedCores::cond_changed>(model::sim_now() + kTell, *this,
                                                       std::uint64_t{core} << 32 | value);
  }
  void cond_changed(std::uint64_t v) {
    bench_.windows.change(static_cast<unsigned>(v >> 32), 0x4C8, static_cast<std::uint32_t>(v));
  }
  void wake(unsigned core) {
    if (cores_[core].running || cores_[core].due || cores_[core].gone) return;
    cores_[core].due = true;
    bench_.sim.agenda.at<&ScriptedCores::look>(model::sim_now() + kReaction, *this, core);
  }
  void look(std::uint64_t index);
  void begin(unsigned core, std::uint64_t payload);
  void end(std::uint64_t index);
  template <class T>
  std::uint64_t put(const T* data, std::size_t count, std::uint64_t& next);

  AicpuBench& bench_;
  const abi::HandshakeKind kind_;
  std::vector<Core> cores_;
  abi::RunHeader header_;
  std::vector<GraphTask>* tasks_ = nullptr;
  SimTime duration_ = 0;
  bool register_kind() const { return kind_ == abi::HandshakeKind::kRegister; }

  // Hears of what the scheduler writes to the lines.
  struct Lines : model::MemoryWatch::Watcher {
    void line_written(model::Writer, std::uint64_t address) override {
      cores->wake(static_cast<unsigned>((address - cores->header_.handshakes) / 64));
    }
    ScriptedCores* cores = nullptr;
  } lines_;
};

template <class T>
std::uint64_t ScriptedCores::put(const T* data, std::size_t count, std::uint64_t& next) {
  const std::uint64_t at = next;
  if (data != nullptr && count > 0) {
    std::memcpy(bench_.memory.bytes.data() + at, data, count * sizeof(T));
  }
  next += (count * sizeof(T) + 127) / 64 * 64;
  return at;
}

inline abi::RunResult ScriptedCores::run(std::vector<GraphTask>& tasks, unsigned threads,
                                         SimTime duration, std::uint32_t flags) {
  tasks_ = &tasks;
  duration_ = duration;
  std::vector<abi::TaskDescriptor> descriptors(tasks.size());
  std::vector<std::uint32_t> producers;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    descriptors[i].kernel = 0x40;
    descriptors[i].shape = static_cast<std::uint16_t>(tasks[i].shape);
    descriptors[i].first_producer = static_cast<std::uint32_t>(producers.size());
    descriptors[i].producers = static_cast<std::uint32_t>(tasks[i].producers.size());
    producers.insert(producers.end(), tasks[i].producers.begin(), tasks[i].producers.end());
  }
  const std::vector<char> zeros(abi::run_scratch_bytes(tasks.size(), producers.size()));
  std::uint64_t next = kGraphAt + sizeof header_;
  header_.tasks = static_cast<std::uint32_t>(tasks.size());
  header_.workers = static_cast<std::uint32_t>(cores_.size());
  header_.threads = threads;
  header_.handshake = static_cast<std::uint32_t>(kind_);
  header_.flags = flags;
  header_.descriptors = put(descriptors.data(), descriptors.size(), next);
  header_.producers = put(producers.data(), producers.size(), next);
  header_.producer_count = static_cast<std::uint32_t>(producers.size());
  header_.handshakes = put(zeros.data(), 64 * cores_.size(), next);
  header_.payloads = put(zeros.data(), 128 * cores_.size(), next);
  header_.scratch = put(zeros.data(), zeros.size(), next);
  header_.scratch_bytes = zeros.size();
  header_.result = put(zeros.data(), sizeof(abi::RunResult), next);
  header_.watchdog_ns = 10'000'000;
  std::memcpy(bench_.memory.bytes.data() + kGraphAt, &header_, sizeof header_);
  lines_.cores = this;
  for (unsigned i = 0; i < cores_.size(); ++i) bench_.watch.watch(0, line(i), lines_);
  bench_.upload(binary_dir() + "/programs/scheduler.npu", kImageAt);
  for (unsigned i = 0; i < threads; ++i) bench_.start_image(i, kImageAt, kGraphAt, 1, i, threads);
  bench_.run(1000_ms);
  EXPECT_EQ(bench_.done.size(), threads);
  for (const auto& done : bench_.done) EXPECT_FALSE(done.fault.failed());
  abi::RunResult result;
  std::memcpy(&result, bench_.memory.bytes.data() + header_.result, sizeof result);
  return result;
}

inline void ScriptedCores::look(std::uint64_t index) {
  const auto i = static_cast<unsigned>(index);
  auto& core = cores_[i];
  core.due = false;
  if (core.running || core.gone) return;
  if (!core.introduced) {
    if (word(i, offsetof(abi::Handshake, aicpu_ready)) == 0) return;
    core.introduced = true;
    set(i, offsetof(abi::Handshake, physical_core), i);
    set(i, offsetof(abi::Handshake, core_type), 3 * i < cores_.size() ? 0 : 1);
    set(i, offsetof(abi::Handshake, aicore_done), i + 1);
  } else if (!register_kind()) {
    const auto sequence = word(i, offsetof(abi::Handshake, task_sequence));
    core.gone = word(i, offsetof(abi::Handshake, control)) != 0;
    if (core.gone || sequence == core.sequence) return;
    core.sequence = sequence;
    begin(i, word(i, offsetof(abi::Handshake, task)));
  } else if (core.data_main == abi::DataMainBase::kExit) {
    core.gone = true;
    set_cond(i, abi::Cond::kExited);
  } else if (core.data_main == abi::DataMainBase::kIdle) {
    if (core.last == 0) set_cond(i, abi::Cond::kIdle);
    core.last = core.data_main;
  } else if (core.data_main != core.last && core.data_main != 0) {
    core.last = core.data_main;
    set_cond(i, core.last);
    begin(i, header_.payloads + 128 * i + 64 * (core.last & 1));
  }
}

inline void ScriptedCores::begin(unsigned i, std::uint64_t payload) {
  cores_[i].running = true;
  cores_[i].task = bench_.peek(payload + offsetof(abi::DispatchPayload, task));
  (*tasks_)[cores_[i].task].begun = model::sim_now();
  bench_.sim.agenda.at<&ScriptedCores::end>(model::sim_now() + duration_, *this, i);
}

inline void ScriptedCores::end(std::uint64_t index) {
  const auto i = static_cast<unsigned>(index);
  auto& core = cores_[i];
  core.running = false;
  (*tasks_)[core.task].ended = model::sim_now();
  if (register_kind()) {
    set_cond(i, abi::Cond::kFinished | core.last);
  } else {
    set(i, offsetof(abi::Handshake, done_sequence), core.sequence);
  }
  wake(i);
}

}  // namespace npu::test
