// SPDX-License-Identifier: Apache-2.0
// Work of streams that is recorded and run again (aclmdlRI). While a stream is captured, what a
// program submits to it becomes a task of a model. Tasks of a stream that stand behind each other
// are one graph of the driver; events are steps between graphs. A run of the model takes its steps
// in the order in which they began: those of the first stream on the stream that it runs on, those
// of each other stream on one of the model's own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/exec/acl/streams.hpp"

namespace npu::exec::acl {

class Caller;
class Process;
struct ModelControl;  // controlled_runs.hpp
struct TaskGroup;     // task_groups.hpp

inline constexpr std::uint64_t kGlobalCapture = 0, kThreadCapture = 1, kRelaxedCapture = 2;

struct ModelRun {
  Caller& caller;
  std::vector<std::shared_ptr<ProgramStream>> streams;  // by ModelTask::stream
  std::map<std::uint32_t, driver::StreamRecord> records;
};

struct ModelTask {
  enum class Type : std::uint8_t {  // aclmdlRITaskType
    kOther,
    kKernel,
    kRecord,
    kWait,
    kReset,
    kValueWrite,
  };
  Type type = Type::kOther;
  std::size_t stream = 0;
  std::uint64_t number = 0;  // 0, 1, ... of the model
  std::uint64_t handle = 0;  // 0: the program has not asked for it
};

// A graph, or an event, or what says what is run next.
struct ModelStep {
  std::size_t stream = 0;
  std::function<Outcome(ModelRun& run, ProgramStream& stream)> submit;  // null: it has a control
  std::optional<std::uint32_t> waits_for = {};                          // of ModelRun::records
  std::shared_ptr<const ModelControl> control = {};
};

struct Model {
  struct Stream {
    std::weak_ptr<ProgramStream> captured;
    std::uint64_t priority = 0;
    driver::DeviceAddress workspace;  // of its operators, one behind the other
    Bytes workspace_size = 0;
    bool joined = false;                         // another stream waits for its end
    std::optional<std::uint32_t> last_record;    // what nothing was recorded behind
    std::shared_ptr<driver::StreamGraph> graph;  // that the next task is added to; null: a new one
    std::uint64_t own = 0;                       // handle of the stream of runs; 0: the first
    std::uint64_t handle = 0;                    // 0: the program has not asked for it
    bool head = true;                            // it runs from the beginning
  };
  // Captured; built of streams that are bound to it; captured as a branch of another model.
  enum class Kind : std::uint8_t { kCaptured, kBuilt, kBranch };
  Kind kind = Kind::kCaptured;
  bool controlled = false;                // it runs as controlled_runs.hpp says
  std::vector<std::uint64_t> branches;    // handles of the models of its conditions
  std::vector<std::uint64_t> conditions;  // handles
  std::uint32_t device = 0;
  std::uint64_t context = 0;
  driver::ArgumentPool* arguments = nullptr;  // of its graphs, the card's
  std::uint64_t mode = kGlobalCapture;
  unsigned thread = 0;  // Caller::number(), which has begun
  bool captures = true;
  bool invalid = false;         // a call has ended the capture too early
  std::vector<Stream> streams;  // the first: where the capture has begun
  std::vector<std::shared_ptr<ModelTask>> tasks;
  std::vector<ModelStep> steps;
  std::vector<std::shared_ptr<driver::StreamGraph>> graphs;
  driver::StreamMark uploaded;                    // arguments of all graphs
  std::shared_ptr<TaskGroup> group;               // that is captured now; null: none
  std::vector<driver::DeviceAddress> workspaces;  // of all streams
  std::uint32_t records = 0;
  std::weak_ptr<ProgramStream> ran_on;
};

// One stream of a model, as the program asks for its tasks.
struct ModelStream {
  std::weak_ptr<Model> model;
  std::size_t place = 0;
};

// On the stream, or into its model. `entries` are copied. Errors of a submission; kCaptureInvalid.
Outcome submit(ProgramStream& stream, const abi::QueueEntry* entries, std::size_t count,
               std::shared_ptr<const void> keep = {},
               ModelTask::Type type = ModelTask::Type::kOther);
// The same of a kernel.
Outcome launch(ProgramStream& stream, const driver::KernelLaunch& what);

// Device memory for an operator that a model takes, which is the model's then. kOutOfMemory.
Value<driver::DeviceAddress> capture_workspace(ProcessCard& card, ProgramStream& stream,
                                               Bytes size);

// Events of a captured stream. `external`: what runs of the model record or wait for is the event
// itself; else the record orders streams of the model. kCaptureDependency: nothing of the model is
// recorded; kCaptureConflict: another model's record.
Outcome capture_record(ProgramStream& stream, const std::shared_ptr<ProgramEvent>& event,
                       bool external);
Outcome capture_wait(const std::shared_ptr<ProgramStream>& stream,
                     const std::shared_ptr<ProgramEvent>& event, bool external);
Outcome capture_reset(ProgramStream& stream, const std::shared_ptr<ProgramEvent>& event);
// What says what of the model is run next. Errors as of a submission.
Outcome add_control(ProgramStream& stream, std::shared_ptr<const ModelControl> control);
// The model that the event's last record is a task of; null: it is none's.
std::shared_ptr<Model> capture_of(const ProgramEvent& event);

// The record itself: on the stream, of the event.
Outcome record_event(Caller& caller, ProgramStream& stream, ProgramEvent& event);
// Later work of the stream waits for the event's last record. After `timeout` it goes on, and the
// stream tells kTaskTimeout; 0: never.
Outcome wait_for_event(Caller& caller, ProgramStream& stream, const ProgramEvent& event,
                       Picoseconds timeout = {});

// kStreamCaptured, and the capture is invalid: nothing waits for a stream that does not run.
Outcome may_wait(ProgramStream& stream);
// kFeature: the stream is captured.
Outcome may_not_be_captured(const ProgramStream& stream, const char* what);
// kCaptureMode: a capture forbids the thread what works on memory at once.
Outcome may_work_at_once(Caller& caller);

// Not of a controlled one.
Outcome run_model(Caller& caller, const std::shared_ptr<Model>& model,
                  const std::shared_ptr<ProgramStream>& stream);
// Its faults are told by the stream of the run.
void told_by(ProgramStream& stream, const std::shared_ptr<ProgramStream>& helper);
// The streams that are captured run again what they are given.
void end_capture(Model& model);
// Puts arguments of all kernels on the card, behind the stream's earlier work.
Outcome upload_arguments(const std::shared_ptr<Model>& model,
                         const std::shared_ptr<ProgramStream>& stream);
// Whether the stream takes launches that it does not run.
inline bool takes_launches(const ProgramStream& stream) {
  return stream.model != nullptr || stream.update != nullptr;
}
// Its streams, and what the program knows of it.
void drop_model(Process& process, std::uint64_t handle);
void drop_models(Process& process, std::uint32_t device);

}  // namespace npu::exec::acl
