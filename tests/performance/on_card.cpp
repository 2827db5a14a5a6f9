// SPDX-License-Identifier: Apache-2.0
#include "tests/performance/on_card.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include "machine/composed_machine.hpp"
#include "model/config/load.hpp"
#include "tests/support/folders.hpp"

namespace npu::bench {

Measurement measure_on_card(
    const std::function<Status(platform::Platform& platform, Measurement& measured)>& program,
    Software software) {
  Measurement failed;
  failed.seconds = -1;
  std::vector<std::string> overrides;
  if (software == Software::kFree) {
    overrides = {"instructions=free", "firmware.instructions=free"};
  }
  const auto config = model::load_system(source_dir() + "/configs/910b.yaml", overrides, {});
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().message().c_str());
    return failed;
  }
  Measurement measured;
  Status status;
  sim::ComposedMachine machine(*config);
  const auto ran = machine.system.run(
      [&](platform::Platform& platform) { status = program(platform, measured); });
  if (ran && status) return measured;
  std::fprintf(stderr, "%s\n", (ran ? status : ran).error().message().c_str());
  return failed;
}

}  // namespace npu::bench
