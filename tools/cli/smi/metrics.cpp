// SPDX-License-Identifier: Apache-2.0
// npusim metrics: what `npusim smi` knows, for Prometheus.
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/smi/attachment.hpp"
#include "tools/cli/smi/metrics_text.hpp"

namespace npu::cli {

Outcome metrics_command(const Options& options) {
  if (auto ok = expect_at_most(0, "metrics", options.arguments); !ok) return ok;
  return with_cards(options, "metrics", [&options](bool live) -> Outcome {
    const auto cards = look_at_cards(std::nullopt, live);
    if (!cards) return tl::unexpected(cards.error());
    return print(metrics_text(*cards, options.metrics_prefix));
  });
}

}  // namespace npu::cli
