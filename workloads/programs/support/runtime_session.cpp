// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/runtime_session.hpp"

#include <algorithm>

#include "workloads/framework/program_images.hpp"

namespace npu::workloads {

std::vector<ParameterSpec> run_parameters() {
  return {{"block_dim", ParameterType::kInteger, "", "0",
           "clusters of AI Cores to use; 0: all of the card", 0, 1024},
          {"aicpu_thread_num", ParameterType::kInteger, "", "3", "scheduler threads", 1,
           abi::kMaxSchedulerThreads},
          choice_parameter("handshake", "register", "between scheduler and cores",
                           {"register", "memory"}),
          {"dual_issue", ParameterType::kFlag, "", "on",
           "a core is given its next task while it runs one"}};
}

driver::RunOptions run_options(const ParameterSet& parameters) {
  driver::RunOptions options;
  options.block_dim = static_cast<unsigned>(parameters.integer("block_dim"));
  options.aicpu_threads = static_cast<unsigned>(parameters.integer("aicpu_thread_num"));
  const auto& specs = parameters.specs();
  const bool declared = std::any_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) {
    return spec.name == "handshake";
  });
  if (declared && parameters.choice("handshake") == "memory") {
    options.handshake = abi::HandshakeKind::kMemory;
  }
  options.single_issue = !parameters.flag("dual_issue");
  return options;
}

Result<std::unique_ptr<RuntimeSession>> RuntimeSession::open(
    Context& context, const std::vector<std::string>& kernels) {
  auto device = driver::DeviceContext::create(context.platform);
  if (!device) return forward_error(device);
  const auto card = static_cast<std::uint32_t>(context.parameters.integer("card"));
  const Status set =
      context.function ? (*device)->set_function(*context.function) : (*device)->set_device(card);
  if (!set) return forward_error(set);
  const auto scheduler = use_program(context.report, "scheduler");
  if (!scheduler) return forward_error(scheduler);
  const auto executor = use_program(context.report, "executor");
  if (!executor) return forward_error(executor);
  if (auto ok = (*device)->set_firmware(*scheduler, *executor); !ok) return forward_error(ok);
  for (std::uint32_t id = 0; id < kernels.size(); ++id) {
    const auto kernel = use_program(context.report, kernels[id]);
    if (!kernel) return forward_error(kernel);
    if (auto ok = (*device)->register_kernel({id}, *kernel); !ok) return forward_error(ok);
  }
  return std::unique_ptr<RuntimeSession>(new RuntimeSession(std::move(*device)));
}

}  // namespace npu::workloads
