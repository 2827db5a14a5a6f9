// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/task_groups.hpp"

#include <fmt/format.h>

#include <utility>

#include "apps/exec/acl/caller.hpp"

namespace npu::exec::acl {
namespace {

constexpr Picoseconds kUploaded = 1'000_ms;

}  // namespace

Outcome begin_group(ProgramStream& stream) {
  if (stream.model == nullptr) return fault(kStreamNotCaptured, "the stream is not captured");
  auto& model = *stream.model;
  if (model.group != nullptr) return fault(kTaskGroupStatus, "the capture has a group already");
  model.group = std::make_shared<TaskGroup>();
  model.group->model = stream.model;
  model.group->stream = stream.place;
  return {};
}

Value<std::shared_ptr<TaskGroup>> end_group(ProgramStream& stream) {
  if (stream.model == nullptr) return fault(kStreamNotCaptured, "the stream is not captured");
  auto& open = stream.model->group;
  if (open == nullptr || open->stream != stream.place) {
    return fault(kTaskGroupStatus, "no group has begun on the stream");
  }
  auto group = std::exchange(open, nullptr);
  if (group->has_others) return fault(kFeature, "a group of other tasks than kernels");
  return group;
}

Outcome begin_update(Caller& caller, const std::shared_ptr<ProgramStream>& stream,
                     const std::shared_ptr<TaskGroup>& group) {
  if (stream->model != nullptr) return fault(kTaskGroupStatus, "the stream is captured");
  if (stream->update != nullptr) return fault(kTaskGroupStatus, "the stream updates a group");
  if (!group->update.expired()) return fault(kTaskGroupStatus, "another stream updates the group");
  const auto model = group->model.lock();
  if (model == nullptr) return fault(kInvalidHandle, "the group's model is destroyed");
  if (model->captures) return fault(kModelCaptured, "the model is captured still");
  if (model->device != stream->device) return fault(kStreamContext, "a model of another device");
  // The host's copy of the arguments changes. What the stream does before may take long.
  if (!model->uploaded.wait(caller.clock().now() + kUploaded)) {
    return fault(kModelRunning, "the model's arguments are not on the card yet");
  }
  stream->update = std::make_shared<TaskUpdate>();
  stream->update->group = group;
  group->update = stream->update;
  return {};
}

Outcome end_update(ProgramStream& stream) {
  const auto update = std::exchange(stream.update, nullptr);
  if (update == nullptr) return fault(kTaskGroupStatus, "the stream updates no group");
  const auto there = update->group->kernels.size();
  if (update->next == 0 || update->next == there) return {};
  return fault(kInternal, fmt::format("{} of {} kernels were updated", update->next, there));
}

Outcome update_kernel(ProgramStream& stream, const driver::KernelLaunch& what) {
  auto& update = *stream.update;
  const auto& kernels = update.group->kernels;
  if (update.next == kernels.size()) {
    return fault(kInternal, fmt::format("the group has {} kernels", kernels.size()));
  }
  if (update.group->model.expired()) return fault(kInvalidHandle, "the model is destroyed");
  const auto& kernel = kernels[update.next];
  Submitting submitting(stream.watched);
  const auto updated = stream.stream->update(*kernel.graph, kernel.number, what);
  if (!updated && updated.error().code == ErrorCode::kBusy) {
    return fault(kModelRunning,
                 "a run is in flight: only arguments that the host gives for others of the host's "
                 "can change");
  }
  if (!updated) return submission_fault(updated.error());
  submitting.made(updated->ticket());
  ++update.next;
  return {};
}

}  // namespace npu::exec::acl
