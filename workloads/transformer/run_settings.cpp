// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/run_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/config/system_config.hpp"
#include "workloads/programs/support/collective_values.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/transformer/division.hpp"

namespace npu::workloads::transformer {
namespace {

DecoderOptions wanted_options(const Context& context, const Model& model) {
  const auto& parameters = context.parameters;
  DecoderOptions options;
  options.type = type_of(parameters.choice("dtype") == "float16" ? "fp16" : "bf16");
  options.batch = parameters.integer("batch") / model.replicas;
  // Only without a number of its own: runs that differ in steps then share what is before these.
  options.positions = parameters.integer("positions");
  if (options.positions == 0) {
    options.positions = parameters.integer("tokens") + parameters.integer("steps");
  }
  options.layers = model.layers;
  options.largest_tokens = largest_tokens(context);
  options.pieces = parameters.integer("overlap");
  options.graph = parameters.choice("launch") == "graph";
  options.fractals = parameters.choice("weights") == "nz";
  return options;
}

// Each card has its sequences, so the other keys follow from that.
Result<Model> replica_of_run(const ParameterSet& parameters, const Model& model) {
  const auto replicas = parameters.integer("data_parallel"), batch = parameters.integer("batch");
  const auto told = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("data_parallel={}: {}", replicas, why));
  };
  if (parameters.integer("tensor_parallel") != 1) return told("tensor_parallel is to be 1");
  if (parameters.integer("expert_parallel") != replicas) {
    return told("expert_parallel is to be equal");
  }
  if (parameters.choice("moe_comm") != "dispatch") return told("moe_comm is to be dispatch");
  if (batch % replicas != 0) return told(fmt::format("it does not divide batch={}", batch));
  return replica_of(model, replicas);
}

}  // namespace

// Without arithmetic a decode alone has no prompt.
std::uint64_t largest_tokens(const Context& context) {
  const bool decodes = context.parameters.choice("phase") == "decode" && !context.functional;
  return decodes ? 1 : context.parameters.integer("tokens");
}

std::vector<std::string> reduce_algorithms() {
  auto all = collective_algorithms();
  const auto cannot = [](const std::string& name) {
    return !driver::has_algorithm(driver::CollectiveOperation::kAllReduce,
                                  collective_algorithm(name));
  };
  all.erase(std::remove_if(all.begin(), all.end(), cannot), all.end());
  return all;
}

Result<DecoderOptions> options_of(const Context& context, const Model& part) {
  const auto options = wanted_options(context, part);
  const auto card = context.parameters.integer("card");
  if (context.machine == nullptr || card >= context.machine->cards.size()) return options;
  const Bytes weights = part.weights(options.layers) * platform::bytes_of(options.type);
  const Bytes usable = context.machine->cards[card].hbm.usable;
  if (weights <= usable) return options;
  // The driver would compact memory for the last of them.
  return fail(ErrorCode::kOutOfMemory,
              fmt::format("{} has weights of {} bytes{}, the card {} bytes of memory", part.name,
                          weights, part.ranks * part.replicas == 1 ? "" : " on each card", usable));
}

Model simulated(const ParameterSet& parameters, const Model& model) {
  return parameters.choice("layers") == "all" ? model : sampled(model);
}

Result<Model> part_of_run(const ParameterSet& parameters, const Model& model) {
  if (parameters.integer("data_parallel") > 1) {
    return replica_of_run(parameters, simulated(parameters, model));
  }
  return part_of(simulated(parameters, model), parameters.integer("tensor_parallel"),
                 parameters.integer("expert_parallel"),
                 parameters.choice("moe_comm") == "dispatch");
}

bool needs_equal_sums(const Model& part) {
  return part.experts.count != 0 && part.ranks > 2 && !part.experts.dispatched;
}

Result<driver::CollectiveAlgorithm> algorithm_of(const ParameterSet& parameters,
                                                 const Model& part) {
  using Algorithm = driver::CollectiveAlgorithm;
  const auto algorithm = collective_algorithm(parameters.choice("algorithm"));
  if (algorithm != Algorithm::kOneShot || !needs_equal_sums(part)) return algorithm;
  return fail(ErrorCode::kInvalidArgument,
              "algorithm=one_shot: cards with experts need the same sums on all of them");
}

Status check_run(const ParameterSet& parameters) {
  const auto model = read_model(parameters.choice("model"));
  if (!model) return forward_error(model);
  const auto part = part_of_run(parameters, *model);
  if (!part) return forward_error(part);
  if (const auto algorithm = algorithm_of(parameters, *part); !algorithm) {
    return forward_error(algorithm);
  }
  if (parameters.choice("launch") == "graph" && parameters.integer("overlap") > 1) {
    return fail(ErrorCode::kInvalidArgument, "overlap: only with launch=eager");
  }
  const auto steps = parameters.integer("steps");
  const auto positions = parameters.integer("positions");
  const bool decodes = parameters.choice("phase") != "prefill";
  if (decodes && steps == 0) {
    return fail(ErrorCode::kInvalidArgument, "steps: 0 tokens to decode; or phase=prefill");
  }
  const auto wanted = parameters.integer("tokens") + (decodes ? steps : 0);
  if (model->window != 0 && wanted > model->window) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("model: {} tokens are more than its sliding_window of {}: attention "
                            "sees all keys",
                            wanted, model->window));
  }
  if (positions == 0 || positions >= wanted) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("positions={}: {} are needed for tokens and steps", positions, wanted));
}

}  // namespace npu::workloads::transformer
