// SPDX-License-Identifier: Apache-2.0
// npu_queue_attack SEED [CONFIG]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "machine/composed_machine.hpp"
#include "model/config/load.hpp"
#include "tests/attack/queues/campaign.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace npu;

constexpr Instant kLimit(600_s);

void print(const std::vector<std::string>& findings) {
  for (const auto& finding : findings) std::puts(finding.c_str());
}

// A run that does not end is a finding.
void guard(platform::Platform& host, const attack::QueueWorld& world, const bool& over) {
  while (!over && host.clock().now() < kLimit) {
    host.clock().sleep_until(host.clock().now() + 10_ms);
  }
  if (over) return;
  print(world.findings);
  std::printf("seed %llu, operation %llu: the run does not end\n",
              static_cast<unsigned long long>(world.seed),
              static_cast<unsigned long long>(world.operation));
  std::fflush(stdout);
  std::_Exit(1);
}

std::string summary(const attack::QueueWorld& world) {
  auto line =
      fmt::format("seed {}: {} operations, {} bytes compared, {} faults provoked:", world.seed,
                  world.operation, world.compared, world.faults);
  for (const auto& [kind, count] : world.kinds) line += fmt::format(" {} {},", count, kind);
  line.back() = '.';
  return line + " No finding.";
}

int run_attack(std::uint64_t seed, const std::string& config) {
  const auto loaded = model::load_system(config, {}, {source_dir() + "/configs"});
  if (!loaded) {
    std::fprintf(stderr, "npu_queue_attack: %s\n", loaded.error().message().c_str());
    return 2;
  }
  sim::ComposedMachine machine(*loaded, sim::SoftwareTime::kAccessesOnly);
  std::vector<std::string> findings;
  std::string done;
  const auto status = machine.system.run([&](platform::Platform& host) {
    bool over = false;
    attack::Campaign campaign(host, seed);
    const auto watch = host.tasks().spawn("guard", [&] { guard(host, campaign.world(), over); });
    campaign.run();
    over = true;
    if (watch) (*watch)->join();
    findings = campaign.world().findings;
    done = summary(campaign.world());
  });
  if (!status) findings.push_back(fmt::format("seed {}: {}", seed, status.error().message()));
  print(findings);
  if (findings.empty()) std::puts(done.c_str());
  return findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const bool given = argc == 2 || argc == 3;
  const auto seed = given ? std::strtoull(argv[1], &end, 10) : 0;
  if (!given || *end != '\0' || end == argv[1]) {
    std::fputs("usage: npu_queue_attack SEED [CONFIG]\n", stderr);
    return 2;
  }
  return run_attack(seed, argc == 3 ? argv[2] : "910b2.yaml");
}
