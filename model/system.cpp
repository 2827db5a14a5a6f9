// SPDX-License-Identifier: Apache-2.0
#include "model/system.hpp"

#include <fmt/format.h>

#include "npu/abi/trigger.hpp"

namespace npu::model {

// What the operating system shows of a function is as after its making once it was reset.
class System::FunctionResets final : public ResetListener {
 public:
  FunctionResets(HostPlatform& host, Endpoint& endpoint) : host_(host), endpoint_(endpoint) {
    endpoint.add_reset_listener(*this);
  }
  void function_reset(unsigned function) override {
    host_.function_was_reset(platform::Bdf::unpack(endpoint_.requester(function)));
  }

 private:
  HostPlatform& host_;
  Endpoint& endpoint_;
};

namespace {

// Before the models are made of it.
Simulation& ordered(Simulation& simulation, const SystemConfig& config) {
  if (config.order.rule == OrderRule::kWeakest) {
    simulation.weakest.emplace(mixed(config.cpu.run_seed) ^ config.order.seed);
  }
  return simulation;
}

}  // namespace

System::System(const SystemConfig& config)
    : config_(config),
      memory_(ordered(simulation_, config_), config_.memory,
              [this](std::uint32_t requester) { return fabric_.numa_node(requester); }),
      cpus_(simulation_, config_.cpu),
      interrupts_(simulation_, cpus_),
      fabric_("pci", simulation_, config_, memory_, interrupts_, Chip::kEndpointPorts),
      platform_("platform", simulation_, cpus_, memory_, interrupts_, fabric_.host_bridges(),
                resources(), has_ats()) {
  for (unsigned i = 0; i < config_.cards.size(); ++i) {
    chips_.push_back(std::make_unique<Chip>(fmt::format("card{}", i).c_str(), simulation_,
                                            config_.cards[i], i, fabric_.endpoint(i)));
  }
  hccs_ = std::make_unique<HccsFabric>("hccs", simulation_, config_);
  for (unsigned i = 0; i < cards(); ++i) chips_[i]->hccs().connect(*hccs_, i);
  for (unsigned i = 0; i < cards(); ++i) {
    chips_[i]->telemetry().connect(fabric_.link(i));
    resets_.push_back(std::make_unique<FunctionResets>(platform_, fabric_.endpoint(i)));
    auto& pages = chips_[i]->host_pages();
    fabric_.endpoint(i).on_invalidation(
        [&chip = *chips_[i]](unsigned function, std::uint64_t request) {
          return chip.invalidate_translations(function, request);
        });
    fabric_.endpoint(i).on_page_response(
        [&pages](unsigned function, const PageResponseMessage& message) {
          return pages.page_response(function, message);
        });
    pages.connect(memory_);
  }
  memory_.page_requests().connect(
      interrupts_,
      [this](std::uint32_t requester, const PageResponseMessage& message, std::uint64_t cause) {
        fabric_.root_complex().respond_to_page_request(requester, message, cause);
      });
  platform_.triggers([this](platform::Bdf function, unsigned bar, Bytes offset) {
    return trigger(function, bar, offset);
  });
  platform_.cpu_socket.bind(fabric_.root_complex().cpu_socket);
  simulation_.agenda.run_ahead(true);
}

ResourceLookup System::resources() {
  return [this](platform::Bdf bdf, unsigned bar) {
    const auto found = fabric_.resource(bdf, bar);
    return BarResource{found.address, found.size};
  };
}

std::string_view System::trigger(platform::Bdf function, unsigned bar, Bytes offset) {
  for (unsigned i = 0; i < cards(); ++i) {
    for (unsigned number = 0; number < config_.cards[i].functions(); ++number) {
      if (fabric_.endpoint(i).requester(number) != function.packed()) continue;
      const auto& partition = chips_[i]->function(number).registers().partition();
      return abi::trigger_name(bar, offset, partition.usable);
    }
  }
  return {};
}

AtsLookup System::has_ats() {
  return [this](platform::Bdf bdf) { return fabric_.caches_translations(bdf); };
}

System::~System() = default;

Status System::run(std::function<void(platform::Platform&)> program) {
  program_ = std::move(program);
  returned_ = false;
  simulation_.agenda.note_progress();
  if (rests_) {
    next_program_.notify(sc_core::SC_ZERO_TIME);
  } else {
    cpus_.spawn("main", [this] { serve_programs(); });
  }
  sc_core::sc_start();
  rests_ = has_more_;
  has_more_ = true;
  if (returned_) return {};
  if (simulation_.agenda.stopped()) return fail(ErrorCode::kAborted, "the simulation was stopped");
  return fail(ErrorCode::kTimeout, "nothing more can happen: " + cpus_.unfinished());
}

void System::serve_programs() {
  for (;;) {
    std::exchange(program_, {})(platform_);
    cpus_.catch_up();
    returned_ = true;
    sc_core::sc_pause();
    if (!has_more_) return;
    cpus_.rest(next_program_);
  }
}

}  // namespace npu::model
