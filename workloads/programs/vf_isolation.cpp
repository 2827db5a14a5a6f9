// SPDX-License-Identifier: Apache-2.0
// What the owner of one virtual function may try against another one and against the physical one:
// each attempt ends in a fault or an answer of its own, no byte of theirs changes, and they are as
// fast as without it.
#include <fmt/format.h>

#include <algorithm>

#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/isolation_sides.hpp"

namespace npu::workloads {
namespace programs::vf_isolation {
namespace {

namespace entries = driver::entries;
using abi::FaultCode;

constexpr unsigned kCopies = 33;        // of the victim's, for one median
constexpr Picoseconds kBetween = 3_us;  // attempts, but for floods

struct Scene {
  Context& context;
  IsolationSide& attacker;
  IsolationSide& victim;
};

struct Attempt {
  const char* name;
  bool flood;
  Status (*run)(Scene& scene);
};

Status expect(bool met, const char* what) {
  return met ? Status{} : fail(ErrorCode::kWrongData, what);
}

// Counted by the card: doorbells that are nobody's.
Result<std::uint32_t> faults_counted(IsolationSide& side) {
  return platform::read_register<abi::QueueFaultCount>(side.registers()).raw;
}

// Another function's share, through registers that only the physical function's driver may use.
Status use_registers(Scene& scene) {
  auto& registers = scene.attacker.registers();
  const auto victim = scene.victim.made().index;
  platform::write_register(registers,
                           abi::PartitionCommand{}
                               .set<abi::PartitionCommand::Operation>(
                                   static_cast<std::uint32_t>(abi::PartitionOperation::kDestroy))
                               .set<abi::PartitionCommand::Index>(victim));
  const auto status = platform::read_register<abi::PartitionStatusRegister>(registers);
  const auto code =
      static_cast<abi::PartitionStatus>(status.get<abi::PartitionStatusRegister::Code>());
  return expect(code == abi::PartitionStatus::kOperation, "the command was not refused");
}

// A page of doorbells that is none of its processes'.
Status ring_foreign_page(Scene& scene) {
  auto& side = scene.attacker;
  const auto before = faults_counted(side);
  const Bytes base = platform::read_register<abi::DoorbellBase>(side.registers()).raw;
  const Bytes page = side.process().doorbell_page() + 1;
  auto window = side.window(base + page * abi::kDoorbellPageSize);
  if (!window) return forward_error(window);
  (*window)->write64(0, 1);
  (*window)->read64(0);  // the write is there
  return expect(*faults_counted(side) == *before + 1, "a foreign doorbell left no record");
}

Status ring_foreign_queue(Scene& scene) {
  auto& side = scene.attacker;
  const auto before = faults_counted(side);
  const Bytes base = platform::read_register<abi::DoorbellBase>(side.registers()).raw;
  auto window = side.window(base + side.process().doorbell_page() * abi::kDoorbellPageSize);
  if (!window) return forward_error(window);
  (*window)->write64(8 * 300, 1);
  (*window)->read64(0);
  const auto after = faults_counted(side);
  static_cast<void>(side.process().take_faults());
  return expect(*after == *before + 1, "a queue that is not there left no record");
}

// The last word of its own memory, through its window.
Status reach_limit_below(Scene& scene) {
  auto window = scene.attacker.window(scene.attacker.limit() - 4_KiB);
  if (!window) return forward_error(window);
  (*window)->write64(4_KiB - 8, 0x1234);
  return expect((*window)->read64(4_KiB - 8) == 0x1234, "its own last word is not there");
}

// The first one behind it, which is the victim's.
Status reach_limit(Scene& scene) {
  auto window = scene.attacker.window(scene.attacker.limit());
  if (!window) return forward_error(window);
  (*window)->write64(0, 0x1234);
  return expect((*window)->read64(0) == ~std::uint64_t{0}, "memory behind the limit answers");
}

Status wrap_around(Scene& scene) {
  const driver::DeviceAddress last{~std::uint64_t{0} - 31};
  return scene.attacker.must_fault(entries::fill(last, 64, 0), FaultCode::kInvalidSize);
}

Status use_foreign_iova(Scene& scene) {
  const auto& side = scene.attacker;
  return scene.attacker.must_fault(
      driver::DmaCommand::device_to_host(side.memory(), scene.victim.host(), 4_KiB));
}

Status use_foreign_pasid(Scene& scene) {
  const auto& side = scene.attacker;
  return scene.attacker.must_fault(entries::copy_to_host(side.memory(), scene.victim.host(), 4_KiB),
                                   FaultCode::kHostAddress);
}

// A page table that names another card, which virtual functions have no way to.
Status copy_to_peer(Scene& scene) {
  const auto& side = scene.attacker;
  return scene.attacker.must_fault(
      entries::copy_to_peer(side.memory(), driver::DeviceAddress{0x3FFF'0000'0000}, 4_KiB),
      FaultCode::kTranslation);
}

Status use_foreign_event(Scene& scene) {
  return scene.attacker.must_fault(entries::record_event({abi::kSignalSlots}, 1),
                                   FaultCode::kInvalidSignal);
}

// Its own vectors with messages that could be the victim's; the host knows who sends.
Status forge_interrupts(Scene& scene) {
  auto vector = scene.context.platform.open_vector(*scene.victim.made().bdf, 200);
  if (!vector) return forward_error(vector);
  auto table = scene.context.platform.map_bar(*scene.attacker.made().bdf, abi::kRegisterBar,
                                              4_KiB * (abi::kMsixTableOffset / 4_KiB), 4_KiB,
                                              platform::Caching::kUncached);
  if (!table) return forward_error(table);
  const Bytes entry = abi::kMsixTableOffset % 4_KiB + Bytes{200} * abi::pci::kMsixEntrySize;
  for (std::uint32_t data = 0x20; data < 0x40; ++data) {
    (*table)->write32(entry + abi::pci::kMsixEntryAddressLow, 0xFEE0'0000);
    (*table)->write32(entry + abi::pci::kMsixEntryData, data);
    (*table)->write32(entry + abi::pci::kMsixEntryControl, data % 2);
  }
  return expect((*vector)->count() == 0, "an interrupt came to the victim");
}

Status flood_interrupts(Scene& scene) {
  auto& device = scene.attacker.device();
  const auto stream = device.create_stream();
  if (!stream) return forward_error(stream);
  driver::Ticket last;
  for (unsigned i = 0; i < 32; ++i) {
    const auto ticket =
        device.submit(*stream, driver::DmaCommand::device_to_device(
                                   scene.attacker.memory(), scene.attacker.memory() + 4_KiB, 64));
    if (!ticket) return forward_error(ticket);
    last = *ticket;
  }
  if (auto ok = device.wait(last, driver::WaitPolicy::kInterrupt, deadline_of(scene.context));
      !ok) {
    return ok;
  }
  return device.destroy_stream(*stream, deadline_of(scene.context));
}

Status flood_faults(Scene& scene) {
  return scene.attacker.must_fault(entries::fill({0x3FFF'0000'0000}, 4_KiB, 0),
                                   FaultCode::kTranslation);
}

struct Contained {
  std::uint64_t attempts, contained;
  Number slowdown;
};

constexpr Figure<Contained> kFigures[] = {
    {"attempts", "", from<&Contained::attempts>},
    {"contained", "", from<&Contained::contained>},
    {"victim_slowdown_percent", "%", from<&Contained::slowdown>}};

const std::vector<Attempt>& attempts() {
  static const std::vector<Attempt> kAttempts = {
      {"registers", false, use_registers},
      {"doorbell_page", false, ring_foreign_page},
      {"queue_ids", false, ring_foreign_queue},
      {"window_below_limit", false, reach_limit_below},
      {"window_limit", false, reach_limit},
      {"wrap_around", false, wrap_around},
      {"foreign_iova", false, use_foreign_iova},
      {"foreign_iova_with_pasid", false, use_foreign_pasid},
      {"peer_copy", false, copy_to_peer},
      {"msix_table", false, forge_interrupts},
      {"event_ids", false, use_foreign_event},
      {"interrupt_flood", true, flood_interrupts},
      {"fault_flood", true, flood_faults},
  };
  return kAttempts;
}

// The victim's copies while another task goes on with the attempt.
Result<Picoseconds> under_attack(Scene& scene, const Attempt& attempt) {
  bool over = false;
  Status outcome;
  auto& clock = scene.context.platform.clock();
  auto task = scene.context.platform.tasks().spawn("attacker", [&] {
    while (!over && outcome) {
      outcome = attempt.run(scene);
      if (!attempt.flood) clock.sleep_until(clock.now() + kBetween);
    }
  });
  if (!task) return forward_error(task);
  const auto median = scene.victim.median_copy(kCopies);
  over = true;
  (*task)->join();
  if (!outcome) {
    return fail(outcome.error().code,
                fmt::format("{}: {}", attempt.name, outcome.error().message()));
  }
  return median;
}

// What a device has left in its memory is gone for the next owner of the same memory.
Status destroyed_memory(Context& context, DividedCard& card) {
  driver::VirtualDeviceOptions options;
  options.name = card.functions().templates().front().name;
  Bytes base = 0;
  for (const bool first : {true, false}) {
    const auto made = card.functions().create(options);
    if (!made) return forward_error(made);
    if (!first && made->memory_base != base) {
      return fail(ErrorCode::kWrongData, "the same partition is somewhere else");
    }
    base = made->memory_base;
    {
      auto window = context.platform.map_bar(*made->bdf, abi::kMemoryBar, 0, 4_KiB,
                                             platform::Caching::kUncached);
      if (!window) return forward_error(window);
      auto device = driver::Device::open(context.platform, *made->bdf);  // memory decoding
      if (!device) return forward_error(device);
      if (first) {
        (*window)->write64(0, 0x5EC2E7);
        if ((*window)->read64(0) != 0x5EC2E7) return fail(ErrorCode::kWrongData, "no memory");
      } else if ((*window)->read64(0) != 0) {
        return fail(ErrorCode::kWrongData, "memory of a device that is gone is still there");
      }
    }
    if (auto ok = card.functions().destroy(made->index); !ok) return ok;
  }
  return {};
}

class Isolation {
 public:
  Isolation(Context& context, DividedCard& card) : context_(context), card_(card) {}

  Status run() {
    if (auto ok = destroyed_memory(context_, card_); !ok) return ok;
    driver::VirtualDeviceOptions options;
    options.name = card_.functions().templates().front().name;
    // The victim's memory begins where the attacker's ends.
    const auto second = card_.functions().create(options);
    if (!second) return forward_error(second);
    const auto first = card_.functions().create(options);
    if (!first) return forward_error(first);
    if (auto ok = expect(first->memory_base + first->partition.memory == second->memory_base,
                         "the attacker's limit is not the victim's first byte");
        !ok) {
      return ok;
    }
    auto victim = IsolationSide::open(context_, *second, context_.seed + 1);
    if (!victim) return forward_error(victim);
    auto attacker = IsolationSide::open(context_, *first, context_.seed + 2);
    if (!attacker) return forward_error(attacker);
    Scene scene{context_, **attacker, **victim};
    if (auto ok = try_all(scene); !ok) return ok;
    if (auto ok = (*attacker)->close(); !ok) return ok;
    return (*victim)->close();
  }

 private:
  Status try_all(Scene& scene) {
    const auto alone = scene.victim.median_copy(kCopies);
    if (!alone) return forward_error(alone);
    const auto devices = card_.functions().list();
    if (!devices) return forward_error(devices);
    auto& table = context_.report.add_table("attempts of one virtual function",
                                            {"attempt", "victim's copy of 64 KiB ns", "slower %"});
    std::int64_t worst = 0;
    for (const auto& attempt : attempts()) {
      context_.step(attempt.name, contained_, attempts().size());
      const auto median = under_attack(scene, attempt);
      if (!median) return forward_error(median);
      if (auto ok = check(scene, devices->size()); !ok) {
        return fail(ok.error().code, fmt::format("{}: {}", attempt.name, ok.error().message()));
      }
      ++contained_;
      const std::int64_t slower =
          (median->count() - alone->count()) * 100'000 / alone->count();  // 1/1000 %
      worst = std::max(worst, slower);
      table.rows.push_back({attempt.name, Number::scaled(median->count(), 3).text(),
                            Number::scaled(slower, 3).text()});
    }
    ++contained_;  // memory of a device that is gone
    report_figures(context_, "vf_isolation.", kFigures,
                   {attempts().size() + 1, contained_, Number::scaled(worst, 3)});
    return {};
  }

  Status check(Scene& scene, std::size_t devices) {
    if (auto ok = scene.victim.check_untouched(); !ok) return ok;
    const auto fault = card_.physical().take_fault();
    if (!fault) return forward_error(fault);
    if (*fault) return fail(ErrorCode::kWrongData, "the physical function was told of a fault");
    const auto now = card_.functions().list();
    if (!now) return forward_error(now);
    return expect(now->size() == devices, "a virtual device is gone");
  }

  Context& context_;
  DividedCard& card_;
  std::uint64_t contained_ = 0;
};

Status run(Context& context) {
  auto card = DividedCard::open(context);
  if (!card) return forward_error(card);
  if (auto ok = Isolation(context, **card).run(); !ok) return ok;
  return (*card)->close();
}

}  // namespace
}  // namespace programs::vf_isolation

Workload vf_isolation() {
  return {
      "vf_isolation",
      "What the owner of a virtual function may try against others: contained, and how fast they "
      "are meanwhile",
      {card_parameter()},
      programs::vf_isolation::run,
      figure_rows(programs::vf_isolation::kFigures)};
}

}  // namespace npu::workloads
