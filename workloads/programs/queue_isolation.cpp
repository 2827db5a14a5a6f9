// SPDX-License-Identifier: Apache-2.0
// What a process may try against others on its card: each attempt ends in the fault it should, and
// the neighbours' bytes and completions are those of a run without it.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/isolation_scene.hpp"

namespace npu::workloads {
namespace programs::queue_isolation {
namespace {

struct Attempt {
  const char* name;
  abi::FaultCode expected;
  Status (*run)(IsolationScene& scene);
};

abi::QueueEntry malformed() {
  abi::QueueEntry entry;
  entry.opcode = 0xEE;
  return entry;
}

abi::QueueEntry unknown_kernel(driver::DeviceAddress arguments) {
  auto entry =
      driver::entries::launch_image(abi::QueueOpcode::kLaunchAiCore, arguments, 1, arguments, 64);
  auto launch = entry.get<abi::LaunchPayload>();
  launch.function = 0xDEAD;
  entry.set(launch);
  return entry;
}

// 4 KiB of its own memory, and where a neighbour's lie.
const std::vector<Attempt>& attempts() {
  using abi::FaultCode;
  namespace entries = driver::entries;
  static const std::vector<Attempt> kAttempts = {
      {"foreign_doorbell", FaultCode::kDoorbellUnowned,
       [](IsolationScene& s) { return s.ring(s.neighbour_doorbell(), 1); }},
      {"index_backwards", FaultCode::kIndexBackwards,
       [](IsolationScene& s) {
         if (auto ok = s.run_one(entries::nop()); !ok) return ok;
         return s.ring(s.own_doorbell(), 0);
       }},
      {"index_beyond_ring", FaultCode::kIndexBeyondRing,
       [](IsolationScene& s) { return s.ring(s.own_doorbell(), 100'000); }},
      {"malformed_entry", FaultCode::kMalformedEntry,
       [](IsolationScene& s) { return s.submit(malformed()); }},
      {"unmapped_address", FaultCode::kTranslation,
       [](IsolationScene& s) { return s.submit(entries::fill({0x3FFF'0000'0000}, 4_KiB, 0)); }},
      {"neighbours_device_memory", FaultCode::kTranslation,
       [](IsolationScene& s) { return s.submit(entries::fill(s.neighbour_memory(), 4_KiB, 0)); }},
      {"neighbours_host_memory", FaultCode::kHostAddress,
       [](IsolationScene& s) {
         return s.submit(entries::copy_to_host(s.own_memory(), s.neighbour_host(), 4_KiB));
       }},
      {"neighbours_ring", FaultCode::kHostAddress,
       [](IsolationScene& s) {
         return s.submit(entries::copy_to_device(s.neighbour_ring(), s.own_memory(), 4_KiB));
       }},
      {"neighbours_completion_ring", FaultCode::kHostAddress,
       [](IsolationScene& s) {
         return s.submit(entries::copy_to_host(s.own_memory(), s.neighbour_completions(), 4_KiB));
       }},
      {"kernel_reads_neighbour", FaultCode::kTranslation,
       [](IsolationScene& s) {
         kernels::vector::Elementwise copy;
         copy.op = platform::VectorOp::kCopy;
         copy.to = s.own_memory().value;
         copy.a = s.neighbour_memory().value;
         copy.count = 16;
         return s.submit_kernel(copy);
       }},
      {"signal_beyond_its_own", FaultCode::kInvalidSignal,
       [](IsolationScene& s) { return s.submit(entries::record_event({abi::kSignalSlots}, 1)); }},
      {"unknown_kernel", FaultCode::kInvalidFunction,
       [](IsolationScene& s) { return s.submit(unknown_kernel(s.own_memory())); }},
  };
  return kAttempts;
}

Status check(const Attempt& attempt, const IsolationScene& scene) {
  const auto& faults = scene.attacker_faults();
  if (faults.size() != 1 || faults[0].code != attempt.expected ||
      faults[0].pasid != scene.attacker_pasid()) {
    return fail(
        ErrorCode::kWrongData,
        fmt::format("{}: {} faults, first {}; expected one: {} of PASID {}", attempt.name,
                    faults.size(), faults.empty() ? "none" : std::string(to_string(faults[0].code)),
                    to_string(attempt.expected), scene.attacker_pasid()));
  }
  const bool stops = attempt.expected != abi::FaultCode::kDoorbellUnowned;
  if (scene.attacker_stopped() != stops) {
    return fail(ErrorCode::kWrongData,
                fmt::format("{}: the queue at fault was {}stopped, expected: {}stopped",
                            attempt.name, stops ? "not " : "", stops ? "" : "not "));
  }
  return {};
}

struct Isolation {
  std::uint64_t attempts, completions;
};

constexpr Figure<Isolation> kFigures[] = {
    {"attempts", "", from<&Isolation::attempts>},
    {"neighbour_completions", "", from<&Isolation::completions>}};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto alone = IsolationScene::play(context, **device, nullptr);
  if (!alone) return forward_error(alone);
  auto& table = context.report.add_table("attempts of one process against its neighbours",
                                         {"attempt", "fault", "queue stopped", "neighbours"});
  std::uint64_t number = 0;
  for (const auto& attempt : attempts()) {
    context.step(attempt.name, number++, attempts().size());
    auto scene = IsolationScene::play(context, **device, attempt.run);
    if (!scene) {
      return fail(scene.error().code, fmt::format("{}: {}", attempt.name, scene.error().message()));
    }
    if (auto ok = check(attempt, **scene); !ok) return ok;
    if (auto ok = (*alone)->compare_neighbours(**scene, attempt.name); !ok) return ok;
    table.rows.push_back({attempt.name, std::string(to_string((*scene)->attacker_faults()[0].code)),
                          (*scene)->attacker_stopped() ? "yes" : "no", "as without it"});
  }
  report_figures(context, "queue_isolation.", kFigures, {number, (*alone)->completions()});
  context.report.add_note(
      "neighbours: the bytes of their memory, the outcome of each entry, and the tags and status "
      "of "
      "the entries in their completion rings were compared with a run without the attempt");
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::queue_isolation

Workload queue_isolation() {
  return with_latencies(
      {"queue_isolation",
       "Attempts of one process against others on its card: faults, and nobody else affected",
       {{"entries", ParameterType::kInteger, "", "200", "of each neighbour's queue", 1, 4096},
        card_parameter()},
       programs::queue_isolation::run,
       figure_rows(programs::queue_isolation::kFigures)});
}

}  // namespace npu::workloads
