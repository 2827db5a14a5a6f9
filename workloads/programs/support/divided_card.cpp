// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/divided_card.hpp"

#include <algorithm>

#include "workloads/framework/registry.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

Result<std::unique_ptr<DividedCard>> DividedCard::open(Context& context, std::uint32_t functions) {
  auto made = std::make_unique<DividedCard>();
  auto device = open_card(context);
  if (!device) return forward_error(device);
  made->device_ = std::move(*device);
  auto divided = driver::VirtualFunctions::open(*made->device_);
  if (!divided) return forward_error(divided);
  made->functions_ = std::move(*divided);
  const auto count = functions == 0 ? made->functions_->total() : functions;
  if (auto set = made->functions_->set_count(count); !set) return forward_error(set);
  return made;
}

Status DividedCard::close() {
  if (auto gone = functions_->destroy_all(); !gone) return gone;
  if (auto set = functions_->set_count(0); !set) return set;
  return device_->shutdown();
}

Status run_on(Context& context, platform::Bdf function, const std::string& workload,
              const std::vector<std::string>& assignments, Report& report) {
  const auto found = all_workloads().find(workload);
  if (!found) return forward_error(found);
  ParameterSet parameters((*found)->parameters);
  for (const auto& assignment : assignments) {
    if (auto set = parameters.assign(assignment); !set) return set;
  }
  Context inside{context.platform,
                 parameters,
                 context.seed,
                 report,
                 context.trace,
                 context.simulator,
                 {},
                 context.machine,
                 context.config_directories,
                 context.functional,
                 context.interrupted,
                 function,
                 context.features,
                 context.patience};
  return (*found)->run(inside);
}

Status multiply_on(Context& context, const driver::VirtualDevice& device, Report& report) {
  const auto threads = std::min(device.partition.aicpus, 3U);
  return run_on(context, *device.bdf, "matmul",
                {"m=256", "n=256", "k=128", "aicpu_thread_num=" + std::to_string(threads)}, report);
}

}  // namespace npu::workloads
