// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/process_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/exec/host/id_order.hpp"

namespace npu::exec {

void ProcessList::add(std::string name, std::string title, pid_t id) {
  auto& process = processes_.emplace_back();
  process.number = process.root = numbered_++;
  programs_ = numbered_;
  process.name = std::move(name);
  process.title = std::move(title);
  process.id = id;
}

ClientProcess& ProcessList::of(pid_t id, std::uint32_t program) {
  for (auto& process : processes_) {
    if (process.id == id && process.alive) return process;
  }
  auto& child = processes_.emplace_back();
  child.number = ClientProcess::kUnnumbered;
  if (program != 0 && program <= programs_) child.root = program - 1;
  child.title = "child";
  child.id = id;
  return child;
}

// In the order in which they were started, whichever came first.
void ProcessList::number_children() {
  std::vector<ClientProcess*> children;
  for (auto i = processes_.begin() + numbered_; i != processes_.end(); ++i) children.push_back(&*i);
  std::sort(children.begin(), children.end(),
            [order = IdOrder(::getpid())](const ClientProcess* a, const ClientProcess* b) {
              return order(a->id, b->id);
            });
  for (auto* const child : children) {
    child->number = numbered_++;
    child->name = "p" + std::to_string(child->number);
  }
}

bool ProcessList::is_any_alive() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const ClientProcess& process) { return process.alive; });
}

bool ProcessList::are_several_alive() const {
  return std::count_if(processes_.begin(), processes_.end(),
                       [](const ClientProcess& process) { return process.alive; }) > 1;
}

bool ProcessList::is_known(pid_t id) const {
  return std::any_of(processes_.begin(), processes_.end(), [id](const ClientProcess& process) {
    return process.alive && process.id == id;
  });
}

// One that is in a call ends that first, which may be a sleep.
bool ProcessList::has_ending_relatives(const ClientProcess& process) const {
  const auto is_in_call = [](const auto& thread) { return thread->stage == Stage::kInCall; };
  return std::any_of(processes_.begin(), processes_.end(), [&](const ClientProcess& other) {
    return &other != &process && other.root == process.root && !other.alive && !other.cleaned &&
           std::none_of(other.threads.begin(), other.threads.end(), is_in_call);
  });
}

}  // namespace npu::exec
