// SPDX-License-Identifier: Apache-2.0
// npusim smi: the cards of a running server, or of a configuration, as people look at them.
#include <fmt/format.h>
#include <poll.h>

#include <cstring>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/smi/attachment.hpp"
#include "tools/cli/smi/smi_text.hpp"
#include "tools/cli/stop_signals.hpp"

namespace npu::cli {
namespace {

constexpr int kWatchMilliseconds = 1000;

tl::expected<std::optional<unsigned>, Failure> number_of(const char* option,
                                                         const std::string& text) {
  if (text.empty()) return std::optional<unsigned>{};
  if (const auto value = read_number<unsigned>(text)) return value;
  return bad_input(fmt::format("{}: found '{}'; allowed: 0..{}", option, shortened(text), ~0U));
}

Outcome show(const Options& options, std::optional<int> card, bool again) {
  const auto cards = look_at_cards(card, again);
  if (!cards) return tl::unexpected(cards.error());
  const auto& kind = options.smi.type;
  if (options.smi.json) return print(cards_json(*cards));
  return print(kind.empty() ? summary_text(*cards) : detail_text(*cards, kind));
}

Outcome show_templates(const Options& options) {
  if (!options.sockets.empty()) {
    return bad_input("smi: templates are the configuration's; give --config");
  }
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  return print(template_text(*config));
}

Outcome show_card(const Options& options, std::optional<unsigned> card) {
  std::optional<int> only;
  if (card) only = static_cast<int>(*card);
  return show(options, only, false);
}

Outcome watch(const Options& options, std::optional<int> card, std::optional<unsigned> looks) {
  StopSignals signals;
  for (unsigned look = 0; !looks || look < *looks; ++look) {
    if (look > 0) {
      pollfd stop{signals.file(), POLLIN, 0};
      if (::poll(&stop, 1, kWatchMilliseconds) != 0 && signals.came()) return {};
    }
    // From the second one on an interval lies between the looks anyway.
    if (auto shown = show(options, card, look == 0); !shown) return shown;
  }
  return {};
}

std::string refusal(int code) {
  switch (code) {
    case DSMI_ERROR_NOT_SUPPORT:
      return "the card has no virtual devices (not supported)";
    case DSMI_ERROR_PARAMETER:
      return "a number is out of range";
    case DSMI_ERROR_NO_RESOURCES:
      return "the card has not enough left";
    case DSMI_ERROR_NOT_EXIST:
      return "there is none of that name or number";
    case DSMI_ERROR_INVALID_DEVICE:
      return "there is no such card, or it does not answer";
    case DSMI_ERROR_BUSY:
      return "busy: the card or the device is in use by a client, whose driver it is left to";
    default:
      return fmt::format("code {:#x}", code);
  }
}

bool is_bad_input(int code) {
  return code == DSMI_ERROR_PARAMETER || code == DSMI_ERROR_NOT_EXIST ||
         code == DSMI_ERROR_INVALID_DEVICE;
}

Outcome refused(const std::string& what, int code) {
  const std::string line = what + ": " + refusal(code);
  return is_bad_input(code) ? Outcome(bad_input(line)) : Outcome(failure(line));
}

// Which there are instead.
Outcome no_template(const Options& options, unsigned card) {
  std::string line = fmt::format("smi create-vnpu: card {} has no template '{}'", card,
                                 shortened(options.smi.vnpu_template));
  if (!options.sockets.empty()) {
    return bad_input(line + "; see smi info -t template-info of its configuration");
  }
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  std::string names;
  for (const auto& each : config->cards[card].virtual_functions.templates) {
    names += (names.empty() ? "" : ", ") + each.name;
  }
  return bad_input(line + "; it has " + names);
}

Outcome create(const Options& options, unsigned card, std::optional<unsigned> id) {
  dsmi_create_vdev_res_stru wanted{};
  dsmi_create_vdev_result made{};
  const auto& name = options.smi.vnpu_template;
  if (name.empty() || name.size() >= sizeof wanted.name) {
    return bad_input("smi create-vnpu: give -f TEMPLATE, a name of at most 15 characters");
  }
  std::memcpy(wanted.name, name.data(), name.size());
  const int code = dsmi_create_vdevice(card, id.value_or(~0U), &wanted, &made);
  if (code == DSMI_ERROR_NOT_EXIST) return no_template(options, card);
  if (code != DSMI_OK) return refused("smi create-vnpu", code);
  return print(fmt::format("vNPU {} at {:02x}:{:02x}.{:x}\n", made.vdev_id, made.pcie_bus,
                           made.pcie_device, made.pcie_func));
}

Outcome destroy(unsigned card, std::optional<unsigned> id) {
  if (!id) return bad_input("smi destroy-vnpu: give --vnpu ID");
  const int code = dsmi_destroy_vdevice(card, *id);
  if (code != DSMI_OK) return refused("smi destroy-vnpu", code);
  return print(fmt::format("vNPU {} is gone\n", *id));
}

Outcome check(const Options& options, const std::string& action) {
  const auto& smi = options.smi;
  const bool shows = action == "info" || action == "watch";
  if (!shows && action != "create-vnpu" && action != "destroy-vnpu") {
    return bad_input("smi: unknown '" + shortened(action) +
                     "'; known: info, watch, create-vnpu, destroy-vnpu");
  }
  const bool known = smi.type.empty() || smi.type == "usages" || smi.type == "memory" ||
                     smi.type == "ecc" || smi.type == "pcie" || smi.type == "template-info" ||
                     smi.type == "info-vnpu";
  if (!known) {
    return bad_input("-t: found '" + shortened(smi.type) +
                     "'; allowed: usages, memory, ecc, pcie, template-info, info-vnpu");
  }
  if (!shows && (!smi.type.empty() || smi.json)) {
    return bad_input("smi: -t and --json belong to info and watch");
  }
  if (!smi.looks.empty() && action != "watch") return bad_input("smi: --count belongs to watch");
  if (smi.json && !smi.type.empty()) return bad_input("smi: --json has everything; without -t");
  return {};
}

}  // namespace

Outcome smi_command(const Options& options) {
  if (auto ok = expect_at_most(1, "smi", options.arguments); !ok) return ok;
  const std::string action = options.arguments.empty() ? "info" : options.arguments[0];
  if (auto fits = check(options, action); !fits) return fits;
  const auto card = number_of("-i", options.smi.card);
  if (!card) return tl::unexpected(card.error());
  const auto id = number_of("--vnpu", options.smi.vnpu);
  if (!id) return tl::unexpected(id.error());
  const auto looks = number_of("--count", options.smi.looks);
  if (!looks) return tl::unexpected(looks.error());
  const unsigned which = card->value_or(0);
  if (options.smi.type == "template-info") return show_templates(options);
  if (action == "create-vnpu") {
    return with_driven_cards(options, "smi", [&] { return create(options, which, *id); });
  }
  if (action == "destroy-vnpu") {
    return with_driven_cards(options, "smi", [&] { return destroy(which, *id); });
  }
  if (options.smi.type == "info-vnpu" && options.sockets.empty()) {
    return with_driven_cards(options, "smi", [&] { return show_card(options, *card); });
  }
  return with_cards(options, "smi", [&](bool live) -> Outcome {
    std::optional<int> only;
    if (*card) only = static_cast<int>(**card);
    if (action == "info") return show(options, only, live);
    if (!live) return bad_input("smi watch: give --socket PATH, of a running npusim serve");
    return watch(options, only, *looks);
  });
}

}  // namespace npu::cli
