// SPDX-License-Identifier: Apache-2.0
// npu_memory_attack SEED OPERATIONS [CONFIG]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "machine/composed_machine.hpp"
#include "model/config/load.hpp"
#include "tests/attack/attack.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace npu;

// Cards of 1 GiB as a rule, so that they are full all the time; some with giant pages; some as
// they are.
std::vector<std::string> overrides(std::uint64_t seed) {
  const auto drawn = fuzz::Random(seed ^ 0xA77AC).below(10);
  if (drawn == 0) return {};
  return {fmt::format("hbm.usable_mib={}", drawn < 3 ? 3200 : 256 + 128 * drawn)};
}

int run_attack(std::uint64_t seed, std::uint64_t operations, const std::string& config) {
  const auto loaded = model::load_system(config, overrides(seed), {source_dir() + "/configs"});
  if (!loaded) {
    std::fprintf(stderr, "npu_memory_attack: %s\n", loaded.error().message().c_str());
    return 2;
  }
  sim::ComposedMachine machine(*loaded, sim::SoftwareTime::kAccessesOnly);
  std::vector<std::string> findings;
  std::string summary;
  const auto status = machine.system.run([&](platform::Platform& host) {
    attack::Attack attack(host, seed, machine.system.cards());
    const auto& world = attack.run(operations);
    findings = world.findings;
    summary = fmt::format("seed {}: {} operations, {} bytes compared, {} faults provoked:", seed,
                          world.operation, world.compared, world.faults);
    for (const auto& [kind, count] : world.kinds) summary += fmt::format(" {} {},", count, kind);
    summary.back() = '.';
  });
  if (!status) findings.push_back(fmt::format("seed {}: {}", seed, status.error().message()));
  for (const auto& finding : findings) std::puts(finding.c_str());
  if (findings.empty()) std::puts((summary + " No finding.").c_str());
  return findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  char* end_of_seed = nullptr;
  char* end_of_count = nullptr;
  const bool given = argc == 3 || argc == 4;
  const auto seed = given ? std::strtoull(argv[1], &end_of_seed, 10) : 0;
  const auto count = given ? std::strtoull(argv[2], &end_of_count, 10) : 0;
  if (!given || *end_of_seed != '\0' || *end_of_count != '\0' || count == 0) {
    std::fputs("usage: npu_memory_attack SEED OPERATIONS [CONFIG]\n", stderr);
    return 2;
  }
  return run_attack(seed, count, argc == 4 ? argv[3] : "910b2.yaml");
}
