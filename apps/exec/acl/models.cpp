// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/models.hpp"

#include <algorithm>
#include <utility>

#include "apps/exec/acl/caller.hpp"
#include "apps/exec/acl/task_groups.hpp"

namespace npu::exec::acl {
namespace {

using Step = std::function<Outcome(ModelRun& run, ProgramStream& stream)>;

void add_task(ProgramStream& stream, ModelTask::Type type) {
  auto& model = *stream.model;
  auto& place = model.streams[stream.place];
  place.joined = false;
  place.last_record.reset();
  auto task = std::make_shared<ModelTask>();
  task->type = type;
  task->stream = stream.place;
  task->number = model.tasks.size();
  model.tasks.push_back(std::move(task));
  if (model.group == nullptr) return;
  if (type == ModelTask::Type::kKernel) {
    model.group->kernels.push_back({place.graph, place.graph->launches() - 1});
  } else {
    model.group->has_others = true;
  }
}

Outcome may_be_added(const ProgramStream& stream) {
  const auto& model = *stream.model;
  if (!model.captures) return fault(kRuntimeParameter, "the stream's model is built");
  if (model.invalid) return fault(kCaptureInvalid, "an earlier call has ended the capture");
  if (model.group != nullptr && model.group->stream != stream.place) {
    return fault(kTaskGroupBroken, "another stream has begun a group of the capture");
  }
  return {};
}

// An event: what comes behind it is another graph.
Outcome add_event(ProgramStream& stream, ModelTask::Type type, Step step,
                  std::optional<std::uint32_t> waits_for = {}) {
  if (auto may = may_be_added(stream); !may) return may;
  stream.model->streams[stream.place].graph.reset();
  stream.model->steps.push_back({stream.place, std::move(step), waits_for});
  add_task(stream, type);
  return {};
}

Outcome submit_now(ProgramStream& stream, const abi::QueueEntry* entries, std::size_t count,
                   std::shared_ptr<const void> keep) {
  Submitting submitting(stream.watched);
  const auto submitted = stream.stream->submit(entries, count, std::move(keep));
  if (submitted) submitting.made(submitted->ticket());
  return submitted ? Outcome{} : Outcome(submission_fault(submitted.error()));
}

Outcome launch_fault(const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return fault(kInvalidParameter, error.message());
  return submission_fault(error);
}

Outcome launch_now(ProgramStream& stream, const driver::KernelLaunch& what) {
  Submitting submitting(stream.watched);
  const auto submitted = stream.stream->launch(what);
  if (!submitted) return launch_fault(submitted.error());
  submitting.made(submitted->ticket());
  return {};
}

Outcome run_graph(ProgramStream& stream, driver::StreamGraph& graph) {
  Submitting submitting(stream.watched);
  std::vector<driver::QueueTicket> tickets;  // a run may be on several queues
  const auto run = stream.stream->run(graph, submitting.is_watched() ? &tickets : nullptr);
  if (!run) return submission_fault(run.error());
  for (const auto& ticket : tickets) submitting.made(ticket);
  submitting.made(run->ticket());
  return {};
}

// Adds to the stream's graph what `submit` submits to the driver's stream.
template <class Submit>
Outcome add_work(ProgramStream& stream, ModelTask::Type type, Submit&& submit) {
  if (auto may = may_be_added(stream); !may) return may;
  auto& graph = stream.model->streams[stream.place].graph;
  auto into = graph;
  if (into == nullptr) into = std::make_shared<driver::StreamGraph>(*stream.model->arguments);
  if (auto began = stream.stream->begin_capture(*into); !began) {
    return submission_fault(began.error());
  }
  auto added = submit(*stream.stream);
  static_cast<void>(stream.stream->end_capture());
  if (!added) return launch_fault(added.error());
  if (graph == nullptr) {
    graph = into;
    stream.model->graphs.push_back(into);
    stream.model->steps.push_back(
        {stream.place, [into](ModelRun&, ProgramStream& on) { return run_graph(on, *into); }});
  }
  add_task(stream, type);
  return {};
}

struct Recorded {
  driver::StreamRecord record;
  std::shared_ptr<const TimePlace> time;  // that it writes
};

Value<Recorded> record_on(Caller& caller, ProgramStream& stream) {
  auto* const card = caller.process().card(stream.device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  auto time = card->take_time();
  if (!time) return fault(time.error());
  Submitting submitting(stream.watched);
  const auto record = stream.stream->record((*time)->bus(), *time);
  if (!record) return submission_fault(record.error());
  submitting.made(record->mark().ticket());
  return Recorded{*record, std::move(*time)};
}

Outcome wait_on(ProgramStream& stream, const driver::StreamRecord& record,
                Picoseconds timeout = {}) {
  Submitting submitting(stream.watched);
  const auto waits = stream.stream->wait_for(record, timeout);
  if (waits && timeout != Picoseconds{}) add_limited(stream, stream.stream->last());
  if (waits && submitting.is_watched()) submitting.made(stream.stream->last().ticket());
  return waits ? Outcome{} : Outcome(submission_fault(waits.error()));
}

}  // namespace

Outcome submit(ProgramStream& stream, const abi::QueueEntry* entries, std::size_t count,
               std::shared_ptr<const void> keep, ModelTask::Type type) {
  if (stream.update != nullptr) return fault(kFeature, "an update has kernels alone");
  if (stream.model == nullptr) return submit_now(stream, entries, count, std::move(keep));
  return add_work(stream, type, [entries, count, &keep](driver::ExecutionStream& on) {
    return on.submit(entries, count, std::move(keep));
  });
}

Outcome launch(ProgramStream& stream, const driver::KernelLaunch& what) {
  if (stream.update != nullptr) return update_kernel(stream, what);
  if (stream.model == nullptr) return launch_now(stream, what);
  return add_work(stream, ModelTask::Type::kKernel,
                  [&what](driver::ExecutionStream& on) { return on.launch(what); });
}

Outcome add_control(ProgramStream& stream, std::shared_ptr<const ModelControl> control) {
  if (auto may = may_be_added(stream); !may) return may;
  auto& model = *stream.model;
  model.controlled = true;
  model.streams[stream.place].graph.reset();
  model.steps.push_back({stream.place, {}, {}, std::move(control)});
  add_task(stream, ModelTask::Type::kOther);
  return {};
}

Value<driver::DeviceAddress> capture_workspace(ProcessCard& card, ProgramStream& stream,
                                               Bytes size) {
  const auto model = stream.model != nullptr ? stream.model : stream.update->group->model.lock();
  if (model == nullptr) return fault(kInvalidHandle, "the model is destroyed");
  auto& place =
      model->streams[stream.model != nullptr ? stream.place : stream.update->group->stream];
  if (size <= place.workspace_size) return place.workspace;
  const auto memory = card.allocate(size, driver::PagePolicy::kHugeFirst, 0);
  if (!memory) return forward_fault(memory);
  model->workspaces.push_back(*memory);
  place.workspace = *memory;
  place.workspace_size = size;
  return *memory;
}

Outcome capture_record(ProgramStream& stream, const std::shared_ptr<ProgramEvent>& event,
                       bool external) {
  if (external) {
    return add_event(stream, ModelTask::Type::kRecord, [event](ModelRun& run, ProgramStream& on) {
      return record_event(run.caller, on, *event);
    });
  }
  auto& model = *stream.model;
  const auto number = model.records;
  auto added = add_event(stream, ModelTask::Type::kRecord,
                         [number](ModelRun& run, ProgramStream& on) -> Outcome {
                           const auto record = record_on(run.caller, on);
                           if (!record) return forward_fault(record);
                           run.records[number] = record->record;
                           return {};
                         });
  if (!added) return added;
  ++model.records;
  model.streams[stream.place].last_record = number;
  event->model = stream.model;
  event->model_record = number;
  return {};
}

std::shared_ptr<Model> capture_of(const ProgramEvent& event) {
  auto model = event.model.lock();
  return model != nullptr && model->captures ? model : nullptr;
}

Outcome capture_wait(const std::shared_ptr<ProgramStream>& stream,
                     const std::shared_ptr<ProgramEvent>& event, bool external) {
  if (external) {
    return add_event(*stream, ModelTask::Type::kWait, [event](ModelRun& run, ProgramStream& on) {
      return wait_for_event(run.caller, on, *event);
    });
  }
  const auto model = capture_of(*event);
  if (model == nullptr) return fault(kCaptureDependency, "the capture has no record of the event");
  if (stream->device != model->device) {
    return fault(kFeature, "a model is of streams of one card");
  }
  if (stream->model == nullptr && model->kind == Model::Kind::kBuilt) {
    return fault(kCaptureDependency, "the record is of a stream that is bound to a model");
  }
  if (stream->model == nullptr) {
    stream->model = model;
    stream->place = model->streams.size();
    Model::Stream joins;
    joins.captured = stream;
    joins.priority = stream->priority;
    model->streams.push_back(joins);
  }
  if (stream->model != model) return fault(kCaptureConflict, "the record is of another capture");
  const auto number = event->model_record;
  auto added = add_event(
      *stream, ModelTask::Type::kWait,
      [number](ModelRun& run, ProgramStream& on) { return wait_on(on, run.records[number]); },
      number);
  if (!added) return added;
  for (std::size_t place = 0; place < model->streams.size(); ++place) {
    auto& each = model->streams[place];
    if (place != stream->place && each.last_record == number) each.joined = true;
  }
  return {};
}

Outcome capture_reset(ProgramStream& stream, const std::shared_ptr<ProgramEvent>& event) {
  return add_event(stream, ModelTask::Type::kReset, [event](ModelRun&, ProgramStream&) {
    event->record.reset();
    return Outcome{};
  });
}

Outcome record_event(Caller& caller, ProgramStream& stream, ProgramEvent& event) {
  if (event.device != stream.device) return fault(kStreamContext, "event of another device");
  const auto now = record_on(caller, stream);
  if (!now) return forward_fault(now);
  if (event.shared != nullptr) {
    *event.shared = {caller.process().number(), event.device, now->record.mark()};
  }
  event.record = now->record;
  event.time = now->time;
  event.model.reset();
  return {};
}

Outcome wait_for_event(Caller& caller, ProgramStream& stream, const ProgramEvent& event,
                       Picoseconds timeout) {
  if (event.shared != nullptr && event.shared->writer != caller.process().number()) {
    const auto mark = event.shared->mark;  // of a stream that is not this program's
    const auto limit = timeout == Picoseconds{} ? Instant::never() : caller.clock().now() + timeout;
    const auto done = mark ? mark->wait(limit) : Status{};
    if (!done && done.error().code == ErrorCode::kTimeout) {
      return fault(kTaskTimeout, done.error().message());
    }
    if (mark) stream.watched.known(mark->ticket());
    return {};
  }
  const auto record = event.record;  // which others may make anew
  if (!record) return {};
  if (event.device != stream.device) {
    return fault(kFeature, "streams do not wait for another card's events");
  }
  return wait_on(stream, *record, timeout);
}

Outcome may_wait(ProgramStream& stream) {
  if (stream.model == nullptr || stream.model->kind == Model::Kind::kBuilt) return {};
  stream.model->invalid = true;
  return fault(kStreamCaptured, "the stream is captured, and does not run");
}

Outcome may_not_be_captured(const ProgramStream& stream, const char* what) {
  if (stream.model == nullptr) return {};
  return fault(kFeature, std::string("no model has ") + what);
}

Outcome may_work_at_once(Caller& caller) {
  if (caller.process().models.size() == 0) return {};
  for (const auto& [handle, model] : caller.process().models.all()) {
    if (!model->captures || model->mode == kRelaxedCapture) continue;
    const bool own = model->thread == caller.number();
    if (!own && model->mode == kThreadCapture) continue;
    const auto mode = caller.capture_mode();
    if (own ? mode != kRelaxedCapture : mode == kGlobalCapture) {
      return fault(kCaptureMode, "a capture that is not relaxed forbids work at once");
    }
  }
  return {};
}

Outcome run_model(Caller& caller, const std::shared_ptr<Model>& model,
                  const std::shared_ptr<ProgramStream>& stream) {
  ModelRun run{caller, {stream}, {}};
  for (std::size_t place = 1; place < model->streams.size(); ++place) {
    auto own = caller.process().streams.find(model->streams[place].own);
    if (own == nullptr) return fault(kInvalidHandle, "a stream of the model was closed");
    own->watched.site = stream->watched.site;
    run.streams.push_back(std::move(own));
  }
  const auto before = model->ran_on.lock();
  if (before != nullptr && before != stream && !before->stream->last().is_done()) {
    const auto record = record_on(caller, *before);  // runs of a model are one after the other
    if (!record) return forward_fault(record);
    if (auto waits = wait_on(*stream, record->record); !waits) return waits;
  }
  model->ran_on = stream;
  if (run.streams.size() > 1) {
    const auto begin = record_on(caller, *stream);
    if (!begin) return forward_fault(begin);
    for (std::size_t place = 1; place < run.streams.size(); ++place) {
      if (auto waits = wait_on(*run.streams[place], begin->record); !waits) return waits;
    }
  }
  for (const auto& step : model->steps) {
    if (auto done = step.submit(run, *run.streams[step.stream]); !done) return done;
  }
  for (std::size_t place = 1; place < run.streams.size(); ++place) {
    told_by(*stream, run.streams[place]);
  }
  return {};
}

void told_by(ProgramStream& stream, const std::shared_ptr<ProgramStream>& helper) {
  auto& helpers = stream.helpers;
  if (std::find(helpers.begin(), helpers.end(), helper) == helpers.end()) {
    helpers.push_back(helper);
  }
}

void end_capture(Model& model) {
  model.captures = false;
  for (auto& each : model.streams) {
    const auto stream = each.captured.lock();
    if (stream != nullptr && stream->model.get() == &model) stream->model.reset();
  }
}

Outcome upload_arguments(const std::shared_ptr<Model>& model,
                         const std::shared_ptr<ProgramStream>& stream) {
  Submitting submitting(stream->watched);
  for (const auto& graph : model->graphs) {
    const auto uploaded = stream->stream->upload(*graph);
    if (!uploaded) return submission_fault(uploaded.error());
    submitting.made(uploaded->ticket());
    model->uploaded = *uploaded;
  }
  model->ran_on = stream;  // runs on others wait
  return {};
}

void drop_model(Process& process, std::uint64_t handle) {
  const auto model = process.models.find(handle);
  if (model == nullptr) return;
  process.models.remove(handle);
  end_capture(*model);
  for (const auto branch : model->branches) drop_model(process, branch);
  for (const auto condition : model->conditions) process.conditions.remove(condition);
  for (const auto& task : model->tasks) process.model_tasks.remove(task->handle);
  for (const auto& [group_handle, group] : process.task_groups.all()) {
    if (group->model.lock() == model) process.task_groups.remove(group_handle);
  }
  std::vector<driver::StreamMark> in_flight;  // the first stream waits for the others
  if (const auto stream = model->ran_on.lock()) in_flight = {stream->stream->last()};
  for (const auto address : model->workspaces) {
    static_cast<void>(process.card(model->device)->free(address, in_flight, {}));
  }
  for (const auto& stream : model->streams) {
    process.model_streams.remove(stream.handle);
    if (stream.own != 0) process.close_stream(stream.own, false);
  }
}

void drop_models(Process& process, std::uint32_t device) {
  for (const auto& [handle, model] : process.models.all()) {
    if (model->device == device) drop_model(process, handle);
  }
}

}  // namespace npu::exec::acl
