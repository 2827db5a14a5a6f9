// SPDX-License-Identifier: Apache-2.0
#include "npu/testing/machine.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "machine/simulator_impl.hpp"
#include "machine/testing/access_log.hpp"
#include "machine/testing/access_names.hpp"
#include "machine/testing/driver_objects.hpp"
#include "machine/testing/kernel_stack.hpp"
#include "machine/testing/observed_platform.hpp"
#include "machine/testing/race_watch.hpp"
#include "machine/testing/run_record.hpp"

namespace npu::testkit {

struct Machine::Impl {
  Impl(sim::Simulator& built, StuckHandler handler)
      : system(built.impl().system),
        stuck(std::move(handler)),
        faults(built.impl().faults),
        log([this](const Fault& fault) {
          static_cast<void>(faults.inject(fault, at_once()));  // arm() has checked it
        }),
        record(built.impl()),
        driver_objects([this](std::uint32_t track) {
          return system.simulation().recorder.track_names()[track];
        }) {
    system.simulation().recorder.add(driver_objects);
  }

  std::optional<RaceWatch::Owner> owner_of(platform::Bdf bdf) const {
    for (unsigned i = 0; i < system.cards(); ++i) {
      const auto& chip = system.config().cards[i];
      for (unsigned function = 0; function < chip.functions(); ++function) {
        if (system.fabric().endpoint(i).requester(function) != bdf.packed()) continue;
        return RaceWatch::Owner{i, function, memory_of(i, function)};
      }
    }
    return std::nullopt;
  }
  std::string bar_name(platform::Bdf bdf, unsigned bar, Bytes offset) const {
    const auto owner = owner_of(bdf);
    if (!owner) return "BAR" + std::to_string(bar);
    return bar == abi::kRegisterBar ? bar0_name(offset) : bar2_name(offset, owner->memory);
  }
  // HBM_SIZE of a function of the chip.
  Bytes memory_of(unsigned card, unsigned function) const {
    const auto& chip = system.config().cards[card];
    if (function < chip.physical_functions()) return chip.hbm.usable;
    return system.card(card).function(function).registers().partition().usable;
  }
  std::vector<Leak> leaks() const {
    auto left = observed->leaks();
    for (auto& each : driver_objects.left()) left.push_back(std::move(each));
    return left;
  }

  model::System& system;
  StuckHandler stuck;
  workloads::SystemFaults& faults;
  AccessLog log;
  RunRecord record;
  DriverObjects driver_objects;
  std::unique_ptr<RaceWatch> races;
  std::unique_ptr<ObservedPlatform> observed;
  KernelStack stack;
};

Machine::Machine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Machine::~Machine() {
  impl_->system.simulation().recorder.remove(impl_->driver_objects);
  impl_->log.also_tell(nullptr);
  impl_->races.reset();
  impl_->system.cpus().catch_up();
  impl_->stack.finish();
}

Result<std::unique_ptr<Machine>> Machine::create(const std::string& config,
                                                 const std::vector<std::string>& overrides,
                                                 StuckHandler stuck) {
  auto simulator = sim::Simulator::create(config, overrides);
  if (!simulator) return forward_error(simulator);
  auto impl = std::make_unique<Impl>(**simulator, std::move(stuck));
  auto* const parts = impl.get();
  // The simulator lives on the kernel's stack, and ends with it.
  const bool begun = parts->stack.start([parts, owner = std::shared_ptr(std::move(*simulator))] {
    const Status ended = owner->run([parts](platform::Platform& host) {
      auto& system = parts->system;
      parts->observed = std::make_unique<ObservedPlatform>(
          host, parts->log,
          [parts](platform::Bdf bdf, unsigned bar, Bytes offset) {
            return parts->bar_name(bdf, bar, offset);
          },
          system.config().cpu.poll_round);
      parts->stack.hand_over();
    });
    if (ended) return;
    parts->stuck(ended.error());
    std::abort();  // the caller's stack waits for ever
  });
  if (!begun) return fail(ErrorCode::kIo, "the simulation did not begin");
  return std::unique_ptr<Machine>(new Machine(std::move(impl)));
}

platform::Platform& Machine::platform() {
  return *impl_->observed;
}

unsigned Machine::cards() const {
  return impl_->system.cards();
}

Result<platform::Bdf> Machine::card(unsigned index) const {
  if (index >= cards()) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("no card {}: the machine has {}", index, cards()));
  }
  return platform::Bdf::unpack(impl_->system.fabric().endpoint(index).requester());
}

Instant Machine::now() const {
  return model::instant(impl_->system.cpus().local_now());
}

void Machine::run_until(Instant time) {
  auto& cpus = impl_->system.cpus();
  if (time > now()) cpus.charge(time - now());
  cpus.synchronise();
}

Accesses Machine::accesses(const std::function<void()>& call) {
  Accesses record;
  auto& log = impl_->log;
  auto& recorder = impl_->system.simulation().recorder;
  // Interrupts that have arrived before the caller's local time are not of the call.
  impl_->system.cpus().synchronise();
  const Instant begin = now();
  if (!log.is_recording()) recorder.add(log);
  log.start(record);
  struct Stop {
    AccessLog& log;
    model::Recorder& recorder;
    ~Stop() {
      log.stop();
      if (!log.is_recording()) recorder.remove(log);
    }
  };
  {
    const Stop stop{log, recorder};
    call();
    impl_->system.cpus().synchronise();
  }
  record.set_times(begin, now());
  return record;
}

std::vector<std::string> Machine::overtaken_stores() const {
  const auto* const overtaken = impl_->system.host().overtaken();
  return overtaken == nullptr ? std::vector<std::string>() : overtaken->told();
}

void Machine::watch_races() {
  if (impl_->races) return;
  impl_->races = std::make_unique<RaceWatch>(
      impl_->system, [impl = impl_.get()](platform::Bdf bdf) { return impl->owner_of(bdf); });
  impl_->log.also_tell(impl_->races.get());
}

void Machine::host_reads(ConstByteSpan bytes) {
  impl_->log.host_accesses(bytes, false);
}

void Machine::host_writes(ConstByteSpan bytes) {
  impl_->log.host_accesses(bytes, true);
}

void Machine::host_looks() {
  impl_->log.host_looks();
}

std::vector<Race> Machine::races() const {
  return impl_->races ? impl_->races->races() : std::vector<Race>();
}

Status Machine::inject(const Fault& fault, const When& when) {
  if (when.kind == When::Kind::kAccess) {
    if (auto fits = impl_->faults.check(fault); !fits) return fits;
    if (when.nth == 0) {
      return fail(ErrorCode::kInvalidArgument, "access 0: the next one is number 1");
    }
    if (when.access == AccessKind::kInterrupt) {
      return fail(ErrorCode::kInvalidArgument, "an interrupt is no access of the host");
    }
    if (!when.name.empty() && !is_access_name(when.name)) {
      return fail(ErrorCode::kInvalidArgument, "no register is called " + when.name);
    }
    impl_->log.arm(fault, when);
    return {};
  }
  return impl_->faults.inject(fault, when);
}

std::vector<Leak> Machine::leaks() const {
  return impl_->leaks();
}

Status Machine::add_metric(const std::string& name, std::int64_t value, unsigned decimals,
                           const std::string& unit) {
  return impl_->record.add(name, value, decimals, unit);
}

std::string Machine::report(const std::string& name, const std::string& outcome) const {
  impl_->system.cpus().synchronise();
  return impl_->record.report(name, outcome, leaks());
}

std::size_t Machine::pending_faults() const {
  return impl_->faults.pending() + impl_->log.armed();
}

}  // namespace npu::testkit
