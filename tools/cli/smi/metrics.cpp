// SPDX-License-Identifier: Apache-2.0
// npusim metrics: what `npusim smi` knows, for Prometheus.
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/smi/attachment.hpp"
#include "tools/cli/smi/metrics_text.hpp"

namespace npu::cli {

Outcome metrics_command(const Options& options) {
  if (!options.arguments.empty()) {
    return bad_input("metrics: unexpected '" + shortened(options.arguments[0]) + "'");
  }
  return with_cards(options, "metrics", [&options](bool live) -> Outcome {
    const auto cards = look_at_cards(std::nullopt, live);
    if (!cards) return tl::unexpected(cards.error());
    return print(metrics_text(*cards, options.metrics_prefix));
  });
}

}  // namespace npu::cli
