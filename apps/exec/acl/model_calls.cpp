// SPDX-License-Identifier: Apache-2.0
// Models: captures of streams, runs, and what a program asks of them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"
#include "apps/exec/acl/task_groups.hpp"

namespace npu::exec::acl {
namespace {

constexpr std::uint64_t kNotCaptured = 0, kCaptured = 1, kInvalidated = 2;  // aclmdlRICaptureStatus

Value<std::shared_ptr<Model>> model_of(Caller& caller, std::uint64_t handle) {
  const auto found = caller.process().models.find(handle);
  if (found == nullptr) return fault(kInvalidHandle, "it is no model");
  return found;
}

std::uint64_t handle_of(Process& process, const std::shared_ptr<Model>& model) {
  for (const auto& [handle, each] : process.models.all()) {
    if (each == model) return handle;
  }
  return 0;
}

// Why the capture cannot end well.
Outcome check_end(const Model& model) {
  if (model.invalid) return fault(kCaptureInvalid, "a call has ended the capture too early");
  if (model.group != nullptr) return fault(kTaskGroupStatus, "a group has no end");
  for (std::size_t place = 1; place < model.streams.size(); ++place) {
    if (!model.streams[place].joined) {
      return fault(kStreamUnjoined, "nothing waits for the end of a stream of the capture");
    }
  }
  return {};
}

// Streams for runs, of those that have joined the capture.
Outcome open_streams(Caller& caller, Model& model) {
  for (std::size_t place = model.controlled ? 0 : 1; place < model.streams.size(); ++place) {
    auto& stream = model.streams[place];
    const auto made = caller.process().make_stream(model.context, queue_priority(stream.priority));
    if (!made) return forward_fault(made);
    stream.own = made->first;
  }
  return {};
}

void give_handles(const CallWindow& call, const std::vector<std::uint64_t>& handles) {
  const auto bytes = std::min<Bytes>(handles.size() * sizeof(std::uint64_t), call.window.size);
  call.give(handles.data(), bytes);
}

std::shared_ptr<Model> make_model(ProcessCard& card, std::uint64_t context) {
  auto model = std::make_shared<Model>();
  model->device = card.index();
  model->context = context;
  model->arguments = &card.arguments();
  return model;
}

void begin_capture(Caller& caller, const std::shared_ptr<ProgramStream>& stream,
                   const std::shared_ptr<Model>& model, std::uint64_t mode) {
  model->captures = true;
  model->mode = mode;
  model->thread = caller.number();
  Model::Stream first;
  first.captured = stream;
  model->streams.push_back(first);
  stream->model = model;
  stream->place = 0;
}

// Why the stream cannot be captured from now on.
Outcome may_begin(std::uint64_t handle, const ProgramStream& stream, std::uint64_t mode) {
  if (mode > kRelaxedCapture) return fault(kInvalidParameter, "no mode of captures");
  if (handle == 0) return fault(kCaptureDefault, "the default stream is not captured");
  if (stream.model != nullptr) return fault(kStreamCaptured, "the stream is captured already");
  return {};
}

const char* name_of(ModelTask::Type type) {
  constexpr const char* kNames[] = {"other",      "kernel",      "event_record",
                                    "event_wait", "event_reset", "value_write"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kCaptureBegin>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  if (auto may = may_begin(call.stream, **stream, call.mode); !may) return may;
  auto model = make_model(*caller.process().card((*stream)->device), (*stream)->context);
  begin_capture(caller, *stream, model, call.mode);
  caller.process().models.add(std::move(model));
  return {};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCaptureEnd>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  const auto model = (*stream)->model;
  if (model == nullptr || model->kind == Model::Kind::kBuilt) {
    return fault(kStreamNotCaptured, "the stream is not captured");
  }
  if ((*stream)->place != 0) return fault(kCaptureUnmatched, "the capture began on another stream");
  if (model->mode != kRelaxedCapture && model->thread != caller.number()) {
    return fault(kCaptureThread, "another thread has begun the capture");
  }
  const auto handle = handle_of(caller.process(), model);
  auto ends = check_end(*model);
  end_capture(*model);
  if (ends) ends = open_streams(caller, *model);
  if (ends) ends = upload_arguments(model, *stream);
  if (ends) return wire::Handle{handle};
  drop_model(caller.process(), handle);
  return forward_fault(ends);
}

Outcome serve(Caller& caller, const CallOf<Call::kCaptureBranch>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  if (auto may = may_begin(call.stream, **stream, call.mode); !may) return may;
  const auto model = model_of(caller, call.model);
  if (!model) return forward_fault(model);
  if ((*model)->kind != Model::Kind::kBranch || !(*model)->streams.empty()) {
    return fault(kRuntimeParameter, "the model is no branch, or was captured before");
  }
  if ((*model)->device != (*stream)->device) {
    return fault(kStreamContext, "the stream is of another device than the model");
  }
  begin_capture(caller, *stream, *model, call.mode);
  return {};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kModelBuildBegin>&) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto model = make_model(**card, caller.context());
  model->kind = Model::Kind::kBuilt;
  model->mode = kRelaxedCapture;
  model->controlled = true;
  return wire::Handle{caller.process().models.add(std::move(model))};
}

Outcome serve(Caller& caller, const CallOf<Call::kModelBuildEnd>& call) {
  const auto found = model_of(caller, call.handle);
  if (!found) return forward_fault(found);
  auto& model = **found;
  if (model.kind != Model::Kind::kBuilt || !model.captures) {
    return fault(kRuntimeParameter, "the model is not being built");
  }
  if (model.invalid) return fault(kCaptureInvalid, "a stream of the model was destroyed");
  const bool ends = std::any_of(model.steps.begin(), model.steps.end(), [](const auto& step) {
    return step.control != nullptr && step.control->kind == ModelControl::Kind::kEnd;
  });
  if (!ends) return fault(kRuntimeParameter, "no stream of the model has its end");
  auto opened = open_streams(caller, model);
  if (opened) {
    opened = upload_arguments(*found, caller.process().streams.find(model.streams.front().own));
  }
  if (opened) {
    model.captures = false;
    return {};
  }
  for (auto& stream : model.streams) {
    if (stream.own != 0) caller.process().close_stream(std::exchange(stream.own, 0), false);
  }
  return opened;
}

Value<wire::CaptureState> serve(Caller& caller, const CallOf<Call::kCaptureInfo>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  const auto model = (*stream)->model;
  if (model == nullptr || model->kind == Model::Kind::kBuilt) {
    return wire::CaptureState{kNotCaptured, 0};
  }
  if (model->invalid) return wire::CaptureState{kInvalidated, 0};
  return wire::CaptureState{kCaptured, handle_of(caller.process(), model)};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kCaptureMode>& call) {
  if (call.number > kRelaxedCapture) return fault(kInvalidParameter, "no mode of captures");
  const auto before = caller.capture_mode();
  caller.set_capture_mode(call.number);
  return wire::Number{before};
}

Outcome serve(Caller& caller, const CallOf<Call::kTaskGroupBegin>& call) {
  const auto stream = caller.stream(call.handle);
  return stream ? begin_group(**stream) : Outcome(forward_fault(stream));
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kTaskGroupEnd>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  auto group = end_group(**stream);
  if (!group) return forward_fault(group);
  return wire::Handle{caller.process().task_groups.add(std::move(*group))};
}

Outcome serve(Caller& caller, const CallOf<Call::kTaskUpdateBegin>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  const auto group = caller.process().task_groups.find(call.group);
  if (group == nullptr) return fault(kInvalidHandle, "it is no group of tasks");
  return begin_update(caller, *stream, group);
}

Outcome serve(Caller& caller, const CallOf<Call::kTaskUpdateEnd>& call) {
  const auto stream = caller.stream(call.handle);
  return stream ? end_update(**stream) : Outcome(forward_fault(stream));
}

namespace {

// What runs and may go: a whole model.
Value<std::shared_ptr<Model>> whole_model(Caller& caller, std::uint64_t handle) {
  auto model = model_of(caller, handle);
  if (!model) return model;
  if ((*model)->kind == Model::Kind::kBranch) {
    return fault(kRuntimeParameter, "the model is a branch of another one");
  }
  if ((*model)->captures) return fault(kModelCaptured, "the model is captured still");
  return model;
}

// A branch that was never captured is empty.
Outcome check_branches(Caller& caller, const Model& model) {
  for (const auto handle : model.branches) {
    const auto branch = caller.process().models.find(handle);
    if (branch == nullptr) continue;
    if (branch->captures) return fault(kModelCaptured, "a branch of the model is captured still");
    if (auto ok = check_branches(caller, *branch); !ok) return ok;
  }
  return {};
}

}  // namespace

// 1: a thread of the library's is to look at the run.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kModelExecute>& call) {
  const auto model = whole_model(caller, call.model);
  if (!model) return forward_fault(model);
  if (auto ok = check_branches(caller, **model); !ok) return forward_fault(ok);
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  if ((*stream)->device != (*model)->device) {
    return fault(kStreamContext, "the stream is of another device than the model");
  }
  if (auto plain = may_not_be_captured(**stream, "another model's runs"); !plain) {
    return forward_fault(plain);
  }
  if ((*stream)->update != nullptr) return fault(kTaskGroupStatus, "the stream updates a group");
  const auto begun = (*model)->controlled ? begin_controlled(caller, *model, *stream)
                                          : run_model(caller, *model, *stream);
  if (!begun) return forward_fault(begun);
  return wire::Number{(*model)->controlled};
}

Outcome serve(Caller& caller, const CallOf<Call::kModelDestroy>& call) {
  const auto model = model_of(caller, call.handle);
  const bool building = model && (*model)->kind == Model::Kind::kBuilt && (*model)->captures;
  if (!building) {
    if (const auto whole = whole_model(caller, call.handle); !whole) return forward_fault(whole);
  }
  if (is_running(caller.process(), **model)) {
    return fault(kModelRunning, "a run of the model has not ended");
  }
  drop_model(caller.process(), call.handle);
  return {};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kModelStreams>& call) {
  const auto model = model_of(caller, call.handle);
  if (!model) return forward_fault(model);
  std::vector<std::uint64_t> handles;
  auto& all = (*model)->streams;
  for (std::size_t place = 0; place < all.size(); ++place) {
    if (all[place].handle == 0) {
      all[place].handle = caller.process().model_streams.add(
          std::make_shared<ModelStream>(ModelStream{*model, place}));
    }
    handles.push_back(all[place].handle);
  }
  give_handles(call, handles);
  return wire::Number{handles.size()};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kModelTasks>& call) {
  const auto stream = caller.process().model_streams.find(call.handle);
  const auto model = stream == nullptr ? nullptr : stream->model.lock();
  if (model == nullptr) return fault(kInvalidHandle, "it is no stream of a model");
  std::vector<std::uint64_t> handles;
  for (const auto& task : model->tasks) {
    if (task->stream != stream->place) continue;
    if (task->handle == 0) task->handle = caller.process().model_tasks.add(task);
    handles.push_back(task->handle);
  }
  give_handles(call, handles);
  return wire::Number{handles.size()};
}

Value<wire::ModelTaskInfo> serve(Caller& caller, const CallOf<Call::kModelTask>& call) {
  const auto task = caller.process().model_tasks.find(call.handle);
  if (task == nullptr) return fault(kInvalidHandle, "it is no task of a model");
  return wire::ModelTaskInfo{static_cast<std::uint64_t>(task->type), task->number};
}

// JSON, in the window of the answer.
Value<wire::Text> serve(Caller& caller, const CallOf<Call::kModelText>& call) {
  const auto found = model_of(caller, call.handle);
  if (!found) return forward_fault(found);
  const auto& model = **found;
  if (model.captures) return fault(kModelCaptured, "the model is captured still");
  std::string text =
      fmt::format("{{\"model\": {}, \"device\": {}, \"streams\": [", call.handle, model.device);
  for (std::size_t place = 0; place < model.streams.size(); ++place) {
    text += fmt::format("{}\n {{\"stream\": {}, \"tasks\": [", place == 0 ? "" : ",", place);
    bool first = true;
    for (const auto& task : model.tasks) {
      if (task->stream != place) continue;
      text += fmt::format("{}\n  {{\"task\": {}, \"type\": \"{}\"}}", first ? "" : ",",
                          task->number, name_of(task->type));
      first = false;
    }
    text += "]}";
  }
  text += "]}\n";
  if (text.size() > call.window.size) return fault(kNoResource, "the model's text is too long");
  call.give(text.data(), text.size());
  return wire::Text{text.size()};
}

}  // namespace npu::exec::acl
