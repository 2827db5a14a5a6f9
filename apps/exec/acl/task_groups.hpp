// SPDX-License-Identifier: Apache-2.0
// Kernels of a model that a program updates (aclmdlRICaptureTaskGrpBegin() and its like). A stream
// that updates a group takes launches, but runs nothing: each one replaces the group's next kernel.
// New arguments reach the card in the order of that stream, so that a run of the model can wait for
// them.
#pragma once

#include <memory>
#include <vector>

#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

struct TaskGroup {
  struct Kernel {
    std::shared_ptr<driver::StreamGraph> graph;
    std::size_t number = 0;  // of its launches
  };
  std::weak_ptr<Model> model;
  std::size_t stream = 0;  // in Model::streams
  std::vector<Kernel> kernels;
  bool has_others = false;           // tasks that are no kernels
  std::weak_ptr<TaskUpdate> update;  // what updates it now
};

struct TaskUpdate {
  std::shared_ptr<TaskGroup> group;
  std::size_t next = 0;
};

// kStreamNotCaptured; kTaskGroupStatus: the capture has a group already.
Outcome begin_group(ProgramStream& stream);
// kTaskGroupStatus: no group began on the stream; kFeature: it has other tasks than kernels.
Value<std::shared_ptr<TaskGroup>> end_group(ProgramStream& stream);

// kTaskGroupStatus: the stream is captured or updates already, or another one updates the group;
// kInvalidHandle: the model is gone; kModelCaptured; kStreamContext: it is another device's;
// kModelRunning: its arguments do not come to the card for a second.
Outcome begin_update(Caller& caller, const std::shared_ptr<ProgramStream>& stream,
                     const std::shared_ptr<TaskGroup>& group);
// kTaskGroupStatus: nothing is updated; kInternal: fewer kernels than the group has, but not none.
Outcome end_update(ProgramStream& stream);
// In place of the group's next kernel. kInternal: it has no more; kModelRunning: a run is in
// flight, and the launch differs in more than arguments.
Outcome update_kernel(ProgramStream& stream, const driver::KernelLaunch& what);

}  // namespace npu::exec::acl
