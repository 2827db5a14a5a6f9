// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/controlled_runs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "apps/exec/acl/caller.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::exec::acl {
namespace {

using ControlKind = ModelControl::Kind;
// Between two looks at several streams.
constexpr Picoseconds kLookAtRuns = 5_us;

// Host memory of the run that a value goes through.
Value<platform::DmaMemory*> value_of(ControlledRun& run, ProcessCard& card) {
  if (run.value == nullptr) {
    auto made =
        card.process().allocate_host(sizeof(std::uint64_t), platform::DmaDirection::kBidirectional);
    if (!made) return fault(made.error());
    run.value = std::move(*made);
  }
  return run.value.get();
}

Value<std::uint64_t> read_value(Caller& caller, ControlledRun& run, driver::DeviceAddress at,
                                Bytes bytes) {
  auto* const card = caller.process().card(run.device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  const auto memory = value_of(run, *card);
  if (!memory) return forward_fault(memory);
  const auto entry = driver::entries::copy_to_host(at, (*memory)->bus(), bytes);
  if (auto copied = card->run(entry, caller.site()); !copied) return forward_fault(copied);
  std::uint64_t value = 0;
  std::memcpy(&value, (*memory)->cpu().data, bytes);
  return value;
}

Outcome write_value(Caller& caller, ControlledRun& run, driver::DeviceAddress at,
                    std::uint64_t value) {
  auto* const card = caller.process().card(run.device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  const auto memory = value_of(run, *card);
  if (!memory) return forward_fault(memory);
  std::memcpy((*memory)->cpu().data, &value, sizeof value);
  return card->run(driver::entries::copy_to_device((*memory)->bus(), at, sizeof value),
                   caller.site());
}

// aclrtCondition, of signed values.
bool is_so(std::uint64_t condition, std::int64_t left, std::int64_t right) {
  switch (condition) {
    case 0:
      return left == right;
    case 1:
      return left != right;
    case 2:
      return left > right;
    case 3:
      return left >= right;
    case 4:
      return left < right;
    default:
      return left <= right;
  }
}

std::int64_t signed_value(std::uint64_t value, Bytes bytes) {
  return bytes == sizeof value ? static_cast<std::int64_t>(value)
                               : static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

Value<std::unique_ptr<RunState>> begin_state(Caller& caller, ControlledRun& whole,
                                             const std::shared_ptr<Model>& model) {
  auto& process = caller.process();
  auto state = std::make_unique<RunState>(RunState{model, {caller, {}, {}}, {}});
  for (const auto& stream : model->streams) {
    auto own = process.streams.find(stream.own);
    if (own == nullptr) return fault(kInvalidHandle, "a stream of the model was closed");
    own->watched.site = whole.on->watched.site;
    own->watched.known(whole.behind.ticket());
    told_by(*whole.on, own);
    state->run.streams.push_back(std::move(own));
    RunState::Place place;
    place.active = stream.head;
    state->places.push_back(std::move(place));
  }
  for (const auto handle : model->conditions) {
    const auto condition = process.conditions.find(handle);
    if (condition == nullptr || !condition->assigns) continue;
    if (auto written = write_value(caller, whole, condition->at, condition->value); !written) {
      return forward_fault(written);
    }
  }
  return state;
}

class Runner {
 public:
  Runner(Caller& caller, ControlledRun& whole, RunState& state)
      : caller_(caller), whole_(whole), state_(state) {}

  // As far as its streams have come. Whether it has ended.
  Value<bool> go_on() {
    for (std::size_t place = 0; place < state_.places.size(); ++place) {
      while (state_.places[place].active) {
        const auto moved = step(place);
        if (!moved) return forward_fault(moved);
        if (!*moved) break;
      }
    }
    const bool busy = std::any_of(state_.places.begin(), state_.places.end(),
                                  [](const auto& place) { return place.active; });
    return !busy && std::all_of(state_.run.streams.begin(), state_.run.streams.end(),
                                [](const auto& own) { return own->stream->last().is_done(); });
  }

 private:
  // False: the stream has not come so far.
  Value<bool> step(std::size_t number) {
    auto& place = state_.places[number];
    auto& own = *state_.run.streams[number];
    if (place.branch != nullptr) return in_branch(place);
    const auto& steps = state_.model->steps;
    while (place.next < steps.size() && steps[place.next].stream != number) ++place.next;
    if (place.next == steps.size()) {
      place.active = false;
      return true;
    }
    const auto& step = steps[place.next];
    if (step.control == nullptr) {
      if (step.waits_for && state_.run.records.count(*step.waits_for) == 0) return false;
      ++place.next;
      const auto submitted = step.submit(state_.run, own);
      if (!submitted) return forward_fault(submitted);
      return true;
    }
    if (moved_) return false;  // others first
    const auto held = whole_.held.query();
    if (!held || *held) return fault(kInvalidHandle, "the stream of the run was closed");
    if (!place.waits) place.waits = own.stream->last();
    if (!place.waits->is_done()) return false;
    moved_ = whole_.moved = true;
    own.watched.known(own.watched.last);
    place.waits.reset();
    const auto done = follow(number, *step.control);
    if (!done) return forward_fault(done);
    return true;
  }

  Value<bool> in_branch(RunState::Place& place) {
    const auto ended = Runner(caller_, whole_, *place.branch).go_on();
    if (!ended || !*ended) return ended;
    for (const auto& own : place.branch->run.streams) own->watched.known(own->watched.last);
    place.branch.reset();
    whole_.moved = true;
    return true;
  }

  Outcome follow(std::size_t number, const ModelControl& control) {
    auto& place = state_.places[number];
    ++place.next;
    switch (control.kind) {
      case ControlKind::kEnd:
        for (auto& each : state_.places) each.active = false;
        return {};
      case ControlKind::kActivate:
        activate(control.target, 0);
        return {};
      case ControlKind::kSwitchStream:
        return switch_stream(place, control);
      case ControlKind::kSwitchLabel:
        return switch_label(number, control);
      default:
        return branch(place, control);
    }
  }

  void activate(std::size_t target, std::size_t step) {
    auto& place = state_.places[target];
    if (place.active) return;
    place.active = true;
    place.next = step;
  }

  Value<std::uint64_t> value(driver::DeviceAddress at, Bytes bytes) {
    return read_value(caller_, whole_, at, bytes);
  }

  Outcome switch_stream(RunState::Place& place, const ModelControl& control) {
    const auto left = value(control.left, control.bytes);
    if (!left) return forward_fault(left);
    const auto right = value(control.right, control.bytes);
    if (!right) return forward_fault(right);
    if (!is_so(control.condition, signed_value(*left, control.bytes),
               signed_value(*right, control.bytes))) {
      return {};
    }
    place.active = false;
    activate(control.target, 0);
    return {};
  }

  Outcome switch_label(std::size_t number, const ModelControl& control) {
    const auto index = value(control.left, control.bytes);
    if (!index) return forward_fault(index);
    const auto& label = *control.labels[std::min<std::size_t>(*index, control.labels.size() - 1)];
    if (label.model.lock() != state_.model) {
      return fault(kRuntimeParameter, "the label is not set in the model");
    }
    state_.places[number].active = false;
    activate(label.stream, label.step);
    return {};
  }

  // Of a loop the task is looked at again behind its branch.
  Outcome branch(RunState::Place& place, const ModelControl& control) {
    const auto found = value(control.left, control.bytes);
    if (!found) return forward_fault(found);
    std::uint64_t taken = *found;
    if (control.branch != ModelControl::Branch::kSwitch) taken = *found != 0 ? 0 : 1;
    if (control.branch == ModelControl::Branch::kWhile && taken == 0) --place.next;
    if (taken >= control.branches.size()) return {};
    auto state = begin_state(caller_, whole_, control.branches[taken]);
    if (!state) return forward_fault(state);
    place.branch = std::move(*state);
    return {};
  }

  Caller& caller_;
  ControlledRun& whole_;
  RunState& state_;
  bool moved_ = false;  // it has followed a control
};

// Whether arguments of the model's kernels are on the card.
bool is_uploaded(const Process& process, const Model& model) {
  return model.uploaded.is_done() &&
         std::all_of(model.branches.begin(), model.branches.end(), [&process](auto handle) {
           const auto branch = process.models.find(handle);
           return branch == nullptr || is_uploaded(process, *branch);
         });
}

// The stream goes on.
void end_run(Caller& caller, const std::shared_ptr<ControlledRun>& run) {
  auto& all = caller.process().controlled_runs;
  all.erase(std::remove(all.begin(), all.end(), run), all.end());
  auto* const card = caller.process().card(run->device);
  if (card == nullptr) return;
  if (run->state != nullptr) {
    for (const auto& own : run->state->run.streams) own->watched.known(own->watched.last);
  }
  if (auto* const races = run->on->watched.races) {
    races->released(run->device, card->process().vmid(), run->signal.value);
  }
  auto& signals = card->process().signals();
  static_cast<void>(signals.set(run->signal));
  static_cast<void>(run->held.wait(Instant::never()));
  static_cast<void>(signals.destroy(run->signal));
}

// Whether an earlier run of the model is there still.
bool must_wait(const Process& process, const ControlledRun& run) {
  const auto& all = process.controlled_runs;
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&run](const auto& each) { return each->model == run.model; });
  return first == all.end() || first->get() != &run;
}

// Whether it has ended, well or not.
bool run_ended(Caller& caller, ControlledRun& run) {
  const auto held = run.held.query();
  if (!held || *held || caller.process().card(run.device) == nullptr) return true;
  if (run.state == nullptr) {
    if (!run.behind.is_done() || must_wait(caller.process(), run) ||
        !is_uploaded(caller.process(), *run.model)) {
      return false;
    }
    auto state = begin_state(caller, run, run.model);
    if (!state) {
      run.on->broken = state.error().text;
      return true;
    }
    run.state = std::move(*state);
  }
  run.moved = false;
  const auto ended = Runner(caller, run, *run.state).go_on();
  if (!ended) run.on->broken = ended.error().text;
  return !ended || *ended;
}

// Something that the runs wait for; none: nothing of the card's.
std::optional<driver::StreamMark> awaited(const RunState& state) {
  for (std::size_t number = 0; number < state.places.size(); ++number) {
    const auto& place = state.places[number];
    if (place.branch != nullptr) {
      if (auto mark = awaited(*place.branch)) return mark;
    }
    const auto last = state.run.streams[number]->stream->last();
    if (!last.is_done()) return last;
  }
  return std::nullopt;
}

void wait_for_any(Caller& caller) {
  const auto deadline = caller.clock().now() + kLookAtRuns;
  const auto all = caller.process().controlled_runs;
  for (const auto& run : all) {
    const auto mark = run->state != nullptr   ? awaited(*run->state)
                      : run->behind.is_done() ? std::nullopt
                                              : std::optional(run->behind);
    if (!mark) continue;
    static_cast<void>(mark->wait(deadline));
    return;
  }
  caller.clock().sleep_until(deadline);
}

}  // namespace

bool is_running(const Process& process, const Model& model) {
  const auto& all = process.controlled_runs;
  return std::any_of(all.begin(), all.end(),
                     [&model](const auto& run) { return run->model.get() == &model; });
}

Outcome begin_controlled(Caller& caller, const std::shared_ptr<Model>& model,
                         const std::shared_ptr<ProgramStream>& stream) {
  auto* const card = caller.process().card(model->device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  auto& signals = card->process().signals();
  const auto signal = signals.create();
  if (!signal) return fault(signal.error());
  const abi::QueueEntry marker = driver::entries::nop();
  const auto hold = driver::entries::wait_event(*signal, ProgramNotify::kSet);
  Submitting submitting(stream->watched);
  const auto behind = stream->stream->submit(&marker, 1);
  if (behind) submitting.made(behind->ticket());
  const auto held = behind ? stream->stream->submit(&hold, 1) : behind;
  if (held) submitting.made(held->ticket());
  if (!held) {
    static_cast<void>(signals.destroy(*signal));
    return submission_fault(held.error());
  }
  auto run = std::make_shared<ControlledRun>();
  run->device = model->device;
  run->model = model;
  run->on = stream;
  run->behind = *behind;
  run->held = *held;
  run->signal = *signal;
  model->ran_on = stream;
  caller.process().controlled_runs.push_back(std::move(run));
  return {};
}

void serve_controlled(Caller& caller) {
  auto& process = caller.process();
  while (!process.controlled_runs.empty() && !process.callbacks.over) {
    bool moved = false;
    const auto all = process.controlled_runs;
    for (const auto& run : all) {
      const bool ended = run_ended(caller, *run);
      if (ended) end_run(caller, run);
      moved = moved || ended || run->moved;
    }
    if (!moved && !process.callbacks.over) wait_for_any(caller);
  }
}

}  // namespace npu::exec::acl
