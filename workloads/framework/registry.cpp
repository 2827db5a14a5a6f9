// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/registry.hpp"

#include <algorithm>
#include <cassert>

#include "npu/base/shortened.hpp"
#include "workloads/framework/latencies.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::workloads {

Status Workload::run(Context& context) const {
  if (latencies.empty()) return body(context);
  Latencies seen;
  Status status;
  {
    const TraceSession listening(context.trace, seen);
    status = body(context);
  }
  seen.report(context, latencies);
  return status;
}

Workload with_latencies(Workload workload, const std::string& prefix) {
  workload.latencies = prefix.empty() ? workload.name : prefix;
  return workload;
}

void Registry::add(Workload workload) {
  assert(std::none_of(workloads_.begin(), workloads_.end(),
                      [&](const Workload& each) { return each.name == workload.name; }) &&
         "two workloads of one name");
  workloads_.push_back(std::move(workload));
}

Result<const Workload*> Registry::find(std::string_view name) const {
  const auto it = std::find_if(workloads_.begin(), workloads_.end(),
                               [&](const Workload& w) { return w.name == name; });
  if (it != workloads_.end()) return &*it;
  std::vector<std::string> names;
  for (const auto& workload : workloads_) names.push_back(workload.name);
  return fail(ErrorCode::kNotFound,
              "no workload '" + shortened(name) + "'" + suggestion(name, names));
}

}  // namespace npu::workloads
