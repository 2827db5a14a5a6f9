// SPDX-License-Identifier: Apache-2.0
// Runs of models whose tasks say what is run next: switches of streams and labels, conditions. The
// card's queues have no branches. So a call of the program's library (Call::kModelLook) waits until
// a stream of the model has come to such a task, reads the values by copies, and submits what
// follows, while the stream that the run is on waits for a signal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

// A place in a stream of a model.
struct Label {
  std::weak_ptr<Model> model;  // none: it is not set
  std::size_t stream = 0, step = 0;
};
using LabelList = std::vector<std::shared_ptr<Label>>;

// 8 bytes of device memory that branches depend on.
struct Condition {
  std::weak_ptr<Model> model;
  driver::DeviceAddress at;
  std::uint64_t value = 0;  // that it has at the beginning of a run, if it `assigns`
  bool assigns = false;
};

struct ModelControl {
  enum class Kind : std::uint8_t { kEnd, kActivate, kSwitchStream, kSwitchLabel, kBranch };
  enum class Branch : std::uint64_t { kIf, kWhile, kSwitch };  // aclmdlRICondTaskType
  Kind kind = Kind::kEnd;
  std::size_t target = 0;             // stream of kActivate and kSwitchStream
  driver::DeviceAddress left, right;  // right: of kSwitchStream
  std::uint64_t condition = 0;        // aclrtCondition
  Bytes bytes = 0;                    // of a value
  LabelList labels;
  Branch branch = Branch::kIf;
  std::vector<std::shared_ptr<Model>> branches;
};

// A run of a model, or of a branch of one.
struct RunState {
  struct Place {
    bool active = false;
    std::size_t next = 0;                     // of Model::steps, or behind it
    std::optional<driver::StreamMark> waits;  // before the control there
    std::unique_ptr<RunState> branch;         // that it is in
  };
  std::shared_ptr<Model> model;
  ModelRun run;
  std::vector<Place> places;  // by stream
};

struct ControlledRun {
  std::uint32_t device = 0;
  std::shared_ptr<Model> model;
  std::shared_ptr<ProgramStream> on;  // which waits for its end
  driver::StreamMark behind;          // the run begins when this has ended
  driver::StreamMark held;            // the wait for the signal
  driver::SignalId signal;
  std::unique_ptr<RunState> state;             // null: it has not begun
  std::unique_ptr<platform::DmaMemory> value;  // that is read or written; null: none was
  bool moved = false;                          // at the last look
};

// Behind what the stream has. Errors of a submission.
Outcome begin_controlled(Caller& caller, const std::shared_ptr<Model>& model,
                         const std::shared_ptr<ProgramStream>& stream);
// Until no run is left, or the program has ended.
void serve_controlled(Caller& caller);
// Whether a run of the model has not ended.
bool is_running(const Process& process, const Model& model);

}  // namespace npu::exec::acl
