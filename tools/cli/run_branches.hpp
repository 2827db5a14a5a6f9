// SPDX-License-Identifier: Apache-2.0
// Runs that share their beginning (--branches). They differ in parameters of the workload alone.
// The process divides before one of these is first read, at the end of the run at the latest. Each
// branch is a process that goes on as the run with its own values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "npu/base/units.hpp"
#include "tools/cli/failure.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/sweep/branches_file.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {

class RunBranches {
 public:
  // Without --branches nothing is ever divided. A branch that run would refuse is refused here.
  static tl::expected<RunBranches, Failure> read(const Options& options,
                                                 const workloads::Workload& workload);

  // Divides when it is time. Each branch gets its values into `parameters` and calls `divided`
  // then. The process itself waits for them, tells their ends on standard output, and ends.
  void begin(workloads::ParameterSet& parameters,
             std::function<void(const sweep::Branch&)> divided);
  // While there is a machine: its simulated time.
  void set_clock(std::function<Picoseconds()> clock) { clock_ = std::move(clock); }
  // The run has ended: now, unless it has divided.
  void divide_at_end() { divide("at the end of the run"); }

 private:
  void divide(const std::string& where);
  void become(std::size_t number, int parent);
  void wait_for_one();

  std::vector<sweep::Branch> branches_;  // none: there is nothing to divide
  std::vector<workloads::ParameterSet> values_;
  workloads::ParameterSet* parameters_ = nullptr;
  std::function<void(const sweep::Branch&)> divided_;
  std::function<Picoseconds()> clock_;
  unsigned jobs_ = 1;
  std::map<int, std::size_t> running_;  // processes, and the branch of each
  bool signalled_ = false;
};

}  // namespace npu::cli
