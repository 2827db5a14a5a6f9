// SPDX-License-Identifier: Apache-2.0
// The processes that are served: programs that npusim has started, and their descendants. A
// descendant gets its number when time goes on, in the order in which they were started.
#pragma once

#include <deque>
#include <string>

#include "apps/exec/client.hpp"

namespace npu::exec {

class ProcessList {
 public:
  // A program.
  void add(std::string name, std::string title, pid_t id);
  // The process that has this id now. One that is not known is a descendant of `program`, 1, 2, ...
  // in the order of add(); 0: nobody says of which.
  ClientProcess& of(pid_t id, std::uint32_t program);
  void number_children();

  bool is_known(pid_t id) const;
  bool is_any_alive() const;
  bool are_several_alive() const;
  // Another one of the same program has ended, and what it had is being given back.
  bool has_ending_relatives(const ClientProcess& process) const;

  auto begin() { return processes_.begin(); }
  auto end() { return processes_.end(); }
  auto begin() const { return processes_.begin(); }
  auto end() const { return processes_.end(); }
  const std::deque<ClientProcess>& all() const { return processes_; }

 private:
  std::deque<ClientProcess> processes_;  // those that are numbered first
  unsigned programs_ = 0;
  unsigned numbered_ = 0;
};

}  // namespace npu::exec
