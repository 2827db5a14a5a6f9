// SPDX-License-Identifier: Apache-2.0
// One thread of the task scheduler. All threads look after their own cores; thread 0 also greets
// the workers, wires the graph, watches over the run and writes its result.
#pragma once

#include <memory>
#include <vector>

#include "firmware/aicpu/placement.hpp"

namespace npu::firmware {

class Scheduler {
 public:
  // `address`: of the RunHeader.
  Scheduler(AicpuPort& port, std::uint64_t address);

  void run();

 private:
  // What a thread tells thread 0 about a run that stands still.
  struct Standstill {
    std::uint32_t reported = 0;
    std::uint32_t running = 0, ready = 0;
    std::uint32_t task = kNoTask, worker = kNoWorker, physical = kNoWorker, cond = 0;
    std::uint32_t ready_task = kNoTask, block = kNoBlock;
  };
  // A task whose blocks begin together, as this thread takes part in it.
  struct Together {
    std::uint32_t open = 0;  // task + 1
    TaskKind kind;
    bool claimed = false;  // all its blocks, by somebody
    std::uint32_t blocks = 0;
    std::vector<Worker*> reserved;
  };

  bool first() const { return thread_ == 0; }

  // start.cpp
  bool begin();
  bool greet_workers();
  bool has_come(std::uint32_t worker);
  std::uint32_t description_of(std::uint32_t worker);
  void dismiss_without(std::uint32_t missing, std::vector<std::uint32_t>& descriptions);
  bool await_cores_known();
  bool open_cores();

  // scheduler.cpp
  void loop();
  bool stopped();
  bool finished();
  void publish();
  ThreadProgress progress_of(unsigned thread);
  void fail(abi::RunStatus status, std::uint32_t task, const Worker* worker = nullptr,
            std::uint32_t detail = 0, std::uint32_t cond = 0, std::uint32_t block = kNoBlock);
  // Of what the worker runs.
  void fail_in(const Assignment& what, abi::RunStatus status, const Worker& worker,
               std::uint32_t detail, std::uint32_t cond = 0) {
    fail(status, what.task, &worker, detail, cond, what.block);
  }

  // wiring.cpp
  bool wire_some();
  bool wire(std::uint32_t task);
  bool wire_edge(std::uint32_t producer, std::uint32_t consumer);
  bool fits(const abi::TaskDescriptor& task) const;

  // dispatch.cpp
  void make_ready(std::uint32_t task, TaskKind kind) {
    // What most tasks are.
    if (kind.plain() && plain_cores_ && queues_.push_own(task, kind, cores_.idle(kind.shape()))) {
      return;
    }
    make_any_ready(task, kind);
  }
  void make_any_ready(std::uint32_t task, TaskKind kind);
  void note_ready(std::uint32_t task);
  bool is_skipped(std::uint32_t task);
  bool dispatch();
  bool dispatch_mixed();
  bool dispatch_single(abi::TaskShape shape);
  unsigned idle_elsewhere(abi::TaskShape shape);
  void place(const Share& share, const WorkerSet& cores);

  // together.cpp
  bool dispatch_together();
  bool open_together();
  bool join_together();
  bool begin_together();
  bool held_back(abi::TaskShape shape) const;

  void enter(AicpuPhase phase, std::uint32_t task = kNoTask) {
    phase_ = phase, phase_task_ = task;
    port_.phase(phase, task);
  }

  // dump.cpp
  void dump(std::uint32_t task, abi::DumpStage stage);
  void copy(const abi::TensorDump& what);

  // complete.cpp
  bool sweep();
  void go_on(Worker& worker, Seen seen);
  void ended(const Assignment& what, const Worker& worker);
  void resolve_done();
  void resolve(std::uint32_t task);

  // watchdog.cpp
  void look_around();
  std::uint64_t progress();
  void check_exceptions();
  Standstill standstill();
  void report_standstill();
  void diagnose();
  void blame_waiting();
  std::uint32_t open_producer(std::uint32_t task);
  bool is_waiting(std::uint32_t task);

  // shutdown.cpp
  void end();
  void dismiss(Cores& cores);
  void await_others();
  void take_over(unsigned thread);
  void write_result();
  std::uint64_t in(std::uint64_t ticks) { return port_.system_counter() + ticks; }

  AicpuPort& port_;
  const RunView run_;
  const unsigned thread_;
  const bool watched_;  // somebody wants to know when tasks become ready, or their tensors then
  bool plain_cores_ = false;  // not watched, and cores run blocks of one shape each
  // Ticks: between two looks of the watchdog; without progress until the run is given up; for cores
  // to leave when no watchdog waits for the end.
  const std::uint64_t look_, quiet_, leaving_;
  std::unique_ptr<CoreLink> link_;
  Cores cores_;
  Placement placement_;
  ReadyQueues queues_;
  std::vector<std::uint32_t> done_;  // tasks without a block to run, their consumers not yet told
  Together together_;

  std::uint32_t next_to_wire_ = 0;  // thread 0
  abi::TaskDescriptor wired_;       // the last one
  std::uint32_t edges_ = 0;
  std::uint64_t wired_at_ = 0;
  std::uint32_t completed_ = 0, lanes_ = 0;
  std::uint32_t copied_ = 0;
  std::uint64_t polls_ = 0, dump_ticks_ = 0;
  ThreadProgress published_;

  std::uint64_t deadline_ = 0;  // of the watchdog's next look
  std::uint64_t seen_progress_ = 0;
  std::uint64_t quiet_since_ = 0;
  AicpuPhase phase_ = AicpuPhase::kIdle;
  std::uint32_t phase_task_ = kNoTask;
  bool dealt_ = false, cancelled_ = false;
  Stop stop_ = Stop::kNone;
  abi::RunResult result_;  // thread 0
};

}  // namespace npu::firmware
