// SPDX-License-Identifier: Apache-2.0
// `npusim onnx FILE`: the workload network with that model.
#include "tools/cli/commands.hpp"

namespace npu::cli {

Outcome run_model(const Options& options) {
  if (options.arguments.size() != 1) return bad_input("onnx: which file?");
  Options run = options;
  run.command = "run";
  run.arguments = {"network"};
  run.sets.insert(run.sets.begin(), "model=" + options.arguments[0]);
  if (run.config.empty()) run.config = "910b2";
  return run_workload(run);
}

}  // namespace npu::cli
