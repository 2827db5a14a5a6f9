// SPDX-License-Identifier: Apache-2.0
// What of a model is run next: streams that are bound to it, labels, conditions.
#include <cstring>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;

constexpr std::uint64_t kPersistent = 0x4;  // ACL_STREAM_PERSISTENT
constexpr std::size_t kMostLabels = 65535;
constexpr std::uint64_t kLastComparison = 5;  // aclrtCondition

Value<std::shared_ptr<Model>> built_model(Caller& caller, std::uint64_t handle) {
  const auto model = caller.process().models.find(handle);
  if (model == nullptr) return fault(kInvalidHandle, "it is no model");
  if (model->kind != Model::Kind::kBuilt) {
    return fault(kRuntimeParameter, "the model is captured, not built");
  }
  return model;
}

// That is bound to a model which is being built.
Value<std::shared_ptr<ProgramStream>> bound_stream(Caller& caller, std::uint64_t handle) {
  auto stream = caller.stream(handle);
  if (!stream) return stream;
  const auto& model = (*stream)->model;
  if (model == nullptr || model->kind != Model::Kind::kBuilt) {
    return fault(kStreamModel, "the stream is not bound to a model");
  }
  return stream;
}

// Whether values there can be read by the model's card.
Outcome check_values(Caller& caller, const Model& model, DeviceAddress at, Bytes bytes) {
  const auto card = caller.card_of(at, bytes);
  if (!card) return forward_fault(card);
  if ((*card)->index() == model.device) return {};
  return fault(kStreamContext, "the memory is of another device than the stream");
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kModelBind>& call) {
  const auto model = built_model(caller, call.model);
  if (!model) return forward_fault(model);
  if (call.stream == 0) return fault(kRuntimeParameter, "the default stream is not bound");
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  if (!(*model)->captures) return fault(kRuntimeParameter, "the model is built");
  if (((*stream)->flags & kPersistent) == 0) {
    return fault(kRuntimeParameter, "the stream was made without ACL_STREAM_PERSISTENT");
  }
  if ((*stream)->model != nullptr) return fault(kStreamModel, "the stream has a model");
  if ((*stream)->device != (*model)->device) {
    return fault(kStreamContext, "the stream is of another device than the model");
  }
  Model::Stream bound;
  bound.captured = *stream;
  bound.priority = (*stream)->priority;
  bound.joined = true;
  bound.head = call.head != 0;
  (*stream)->model = *model;
  (*stream)->place = (*model)->streams.size();
  (*model)->streams.push_back(std::move(bound));
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kModelUnbind>& call) {
  const auto model = built_model(caller, call.model);
  if (!model) return forward_fault(model);
  const auto stream = bound_stream(caller, call.stream);
  if (!stream) return forward_fault(stream);
  if ((*stream)->model != *model) return fault(kStreamModel, "the stream has another model");
  if ((*model)->captures) return fault(kModelCaptured, "the model is not built yet");
  (*stream)->model.reset();
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kModelEndTask>& call) {
  const auto model = built_model(caller, call.model);
  if (!model) return forward_fault(model);
  const auto stream = bound_stream(caller, call.stream);
  if (!stream) return forward_fault(stream);
  if ((*stream)->model != *model) return fault(kStreamModel, "the stream has another model");
  for (const auto& step : (*model)->steps) {
    if (step.control != nullptr && step.control->kind == ModelControl::Kind::kEnd) {
      return fault(kRuntimeParameter, "the model has its end");
    }
  }
  return add_control(**stream, std::make_shared<ModelControl>());
}

Outcome serve(Caller& caller, const CallOf<Call::kActiveStream>& call) {
  const auto stream = bound_stream(caller, call.stream);
  if (!stream) return forward_fault(stream);
  const auto active = bound_stream(caller, call.active);
  if (!active) return forward_fault(active);
  if ((*active)->model != (*stream)->model) {
    return fault(kStreamModel, "the streams are of different models");
  }
  auto control = std::make_shared<ModelControl>();
  control->kind = ModelControl::Kind::kActivate;
  control->target = (*active)->place;
  return add_control(**stream, std::move(control));
}

Outcome serve(Caller& caller, const CallOf<Call::kSwitchStream>& call) {
  if (call.condition > kLastComparison) return fault(kInvalidParameter, "no comparison");
  const auto stream = bound_stream(caller, call.stream);
  if (!stream) return forward_fault(stream);
  const auto target = bound_stream(caller, call.target);
  if (!target) return forward_fault(target);
  if ((*target)->model != (*stream)->model) {
    return fault(kStreamModel, "the streams are of different models");
  }
  auto control = std::make_shared<ModelControl>();
  control->kind = ModelControl::Kind::kSwitchStream;
  control->target = (*target)->place;
  control->left = {call.left};
  control->right = {call.right};
  control->condition = call.condition;
  control->bytes = call.long_long != 0 ? sizeof(std::int64_t) : sizeof(std::int32_t);
  for (const auto at : {control->left, control->right}) {
    if (auto ok = check_values(caller, *(*stream)->model, at, control->bytes); !ok) return ok;
  }
  return add_control(**stream, std::move(control));
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kLabelCreate>&) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  auto& labels = caller.process().labels;
  if (labels.size() == kMostLabels) return fault(kNoResource, "no more labels");
  return wire::Handle{labels.add(std::make_shared<Label>())};
}

Outcome serve(Caller& caller, const CallOf<Call::kLabelDestroy>& call) {
  auto& labels = caller.process().labels;
  if (labels.find(call.handle) == nullptr) return fault(kInvalidHandle, "it is no label");
  labels.remove(call.handle);
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kLabelSet>& call) {
  const auto label = caller.process().labels.find(call.label);
  if (label == nullptr) return fault(kInvalidHandle, "it is no label");
  const auto stream = bound_stream(caller, call.stream);
  if (!stream) return forward_fault(stream);
  auto& model = (*stream)->model;
  if (!model->captures) return fault(kRuntimeParameter, "the model is built");
  if (!label->model.expired()) return fault(kRuntimeParameter, "the label is set already");
  model->streams[(*stream)->place].graph.reset();  // what comes behind it is another graph
  *label = {model, (*stream)->place, model->steps.size()};
  return {};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kLabelListCreate>& call) {
  if (call.number == 0 || call.number > kMostLabels) return fault(kInvalidParameter, "no labels");
  const auto given = call.first(call.number * sizeof(std::uint64_t));
  if (!given) return forward_fault(given);
  auto list = std::make_shared<LabelList>();
  for (std::uint64_t i = 0; i < call.number; ++i) {
    std::uint64_t handle = 0;
    std::memcpy(&handle, given->data + i * sizeof handle, sizeof handle);
    auto label = caller.process().labels.find(handle);
    if (label == nullptr) return fault(kInvalidHandle, "it is no label");
    list->push_back(std::move(label));
  }
  return wire::Handle{caller.process().label_lists.add(std::move(list))};
}

Outcome serve(Caller& caller, const CallOf<Call::kLabelListDestroy>& call) {
  auto& lists = caller.process().label_lists;
  if (lists.find(call.handle) == nullptr) return fault(kInvalidHandle, "it is no list of labels");
  lists.remove(call.handle);
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kLabelSwitch>& call) {
  const auto list = caller.process().label_lists.find(call.list);
  if (list == nullptr) return fault(kInvalidHandle, "it is no list of labels");
  if (call.count != list->size()) return fault(kRuntimeParameter, "the list has another length");
  const auto stream = bound_stream(caller, call.stream);
  if (!stream) return forward_fault(stream);
  auto control = std::make_shared<ModelControl>();
  control->kind = ModelControl::Kind::kSwitchLabel;
  control->left = {call.address};
  control->bytes = sizeof(std::uint32_t);
  control->labels = *list;
  if (auto ok = check_values(caller, *(*stream)->model, control->left, control->bytes); !ok) {
    return ok;
  }
  return add_control(**stream, std::move(control));
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kConditionCreate>& call) {
  auto& process = caller.process();
  const auto model = process.models.find(call.model);
  if (model == nullptr) return fault(kInvalidHandle, "it is no model");
  if (model->kind == Model::Kind::kBuilt)
    return fault(kRuntimeParameter, "the model is not captured");
  auto* const card = process.card(model->device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  const auto at = card->allocate(sizeof(std::uint64_t), driver::PagePolicy::kHugeFirst, 0);
  if (!at) return forward_fault(at);
  model->workspaces.push_back(*at);
  const auto handle = process.conditions.add(
      std::make_shared<Condition>(Condition{model, *at, call.value, call.assigns != 0}));
  model->conditions.push_back(handle);
  return wire::Handle{handle};
}

Value<wire::Address> serve(Caller& caller, const CallOf<Call::kConditionPlace>& call) {
  const auto condition = caller.process().conditions.find(call.handle);
  if (condition == nullptr) return fault(kInvalidHandle, "it is no condition");
  return wire::Address{condition->at.value};
}

// Handles of the branches are in the window.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kConditionTask>& call) {
  using Branch = ModelControl::Branch;
  const auto type = static_cast<Branch>(call.type);
  const std::uint64_t most = type == Branch::kIf      ? 2
                             : type == Branch::kWhile ? 1
                                                      : call.window.size / sizeof(std::uint64_t);
  if (type > Branch::kSwitch || call.branches == 0 || call.branches > most) {
    return fault(kInvalidParameter, "no such number of branches");
  }
  auto& process = caller.process();
  const auto condition = process.conditions.find(call.condition);
  if (condition == nullptr) return fault(kInvalidHandle, "it is no condition");
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  const auto parent = (*stream)->model;
  if (parent == nullptr || parent->kind == Model::Kind::kBuilt) {
    return fault(kStreamNotCaptured, "the stream is not captured");
  }
  const auto of = condition->model.lock();
  if (of == nullptr || of->device != parent->device) {
    return fault(kRuntimeParameter, "the condition is of another device");
  }
  auto control = std::make_shared<ModelControl>();
  control->kind = ModelControl::Kind::kBranch;
  control->left = condition->at;
  control->bytes = sizeof(std::uint64_t);
  control->branch = type;
  for (std::uint64_t i = 0; i < call.branches; ++i) {
    auto branch = std::make_shared<Model>();
    branch->kind = Model::Kind::kBranch;
    branch->captures = false;
    branch->controlled = true;
    branch->device = parent->device;
    branch->context = parent->context;
    branch->arguments = parent->arguments;
    control->branches.push_back(std::move(branch));
  }
  const auto branches = control->branches;
  if (auto added = add_control(**stream, std::move(control)); !added) return forward_fault(added);
  std::vector<std::uint64_t> handles;
  handles.reserve(branches.size());
  for (const auto& branch : branches) handles.push_back(process.models.add(branch));
  parent->branches.insert(parent->branches.end(), handles.begin(), handles.end());
  call.give(handles.data(), handles.size() * sizeof(std::uint64_t));
  return wire::Number{handles.size()};
}

// A thread of the library's looks until no run is left.
Outcome serve(Caller& caller, const CallOf<Call::kModelLook>&) {
  serve_controlled(caller);
  return fault(kWaitTimeout, "no model runs");
}

}  // namespace npu::exec::acl
