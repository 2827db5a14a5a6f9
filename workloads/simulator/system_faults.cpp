// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/system_faults.hpp"

#include <fmt/format.h>

namespace npu::workloads {

Status SystemFaults::inject(const testkit::Fault& fault, const testkit::When& when) {
  using Kind = testkit::When::Kind;
  if (when.kind == Kind::kAccess) {
    return fail(ErrorCode::kInvalidArgument, "only tests of a driver wait for an access");
  }
  if (auto fits = bench_.check(fault); !fits) return fits;
  system_.cpus().synchronise();
  if (when.kind == Kind::kAtOnce) {
    bench_.begin(fault);
    return {};
  }
  const auto now = model::instant(system_.cpus().local_now());
  const auto time = when.kind == Kind::kAfter ? now + when.delay : when.instant;
  if (time < now) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} ps have passed, it is {} ps", time.since_power_up().count(),
                            now.since_power_up().count()));
  }
  bench_.schedule(fault, time);
  return {};
}

void SystemFaults::schedule_configured() {
  const auto planned = configured_faults(system_.config());
  if (!planned) return;
  for (const auto& each : *planned) bench_.schedule(each.fault, each.when.instant);
}

Status SystemFaults::end(const testkit::Fault& fault) {
  if (auto fits = bench_.check(fault); !fits) return fits;
  system_.cpus().synchronise();
  bench_.end(fault);
  return {};
}

}  // namespace npu::workloads
