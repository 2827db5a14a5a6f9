// SPDX-License-Identifier: Apache-2.0
// The workloads that `npusim run` and `npusim list` know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/parameter.hpp"

namespace npu::workloads {

struct Workload {
  std::string name;
  std::string doc;  // one line
  std::vector<ParameterSpec> parameters;
  // An error ends the run: nothing measured is to be trusted. kInvalidArgument: a parameter or the
  // machine is not what the workload needs, and the context names it; kOutOfRange, kMisaligned,
  // kOutOfMemory, kOutOfResources, kUnsupported: the same, and it does not; any other: the run
  // failed.
  Status (*body)(Context&);
  // Its own figures. Those of what several share (latencies, parts of a run) are judged by their
  // units alone.
  std::vector<FigureRow> figures = {};
  // Looks at what the user gave, before anything is simulated; an error's context is one line. May
  // be null. `config_directories` as in Context.
  Status (*check)(const ParameterSet&,
                  const std::vector<std::string>& config_directories) = nullptr;
  // Files beside the configuration whose contents the run depends on. May be null: there are none.
  std::vector<std::string> (*inputs)(const ParameterSet&,
                                     const std::vector<std::string>& config_directories) = nullptr;
  // Beginning of the names of latencies (latencies.hpp) that its report has besides; empty: none.
  std::string latencies = {};

  // The body, and the latencies in its report. Errors: the body's.
  Status run(Context& context) const;
};

// The workload with latencies in its report, under `prefix` or else its own name.
Workload with_latencies(Workload workload, const std::string& prefix = {});

class Registry {
 public:
  // A second workload of the same name is a programming error and asserts.
  void add(Workload workload);
  // kNotFound, with the nearest name.
  Result<const Workload*> find(std::string_view name) const;
  const std::vector<Workload>& all() const { return workloads_; }

 private:
  std::vector<Workload> workloads_;
};

// Every workload of workloads/programs, in the order in which they are listed.
const Registry& all_workloads();

}  // namespace npu::workloads
