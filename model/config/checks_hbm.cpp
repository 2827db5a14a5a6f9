// SPDX-License-Identifier: Apache-2.0
// Sanity of DRAM organisation and timings. The relations are those between the parameters of the
// JEDEC standards (JESD235, JESD238): a window of two commands cannot be shorter than its parts.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/config/checks.hpp"

namespace npu::model {
namespace {

// `value` must be at least `bound`.
struct AtLeast {
  const char* key;
  unsigned value;
  const char* bound_text;
  unsigned bound;
  std::vector<std::string> bound_keys;
};

CheckResult check_bank_rules(const HbmTimings& t) {
  const std::vector<AtLeast> rules{
      {"tras_clocks", t.tras, "tRCD (read)", t.trcd_rd, {"trcd_rd_clocks"}},
      {"trc_clocks", t.trc, "tRAS + tRP", t.tras + t.trp, {"tras_clocks", "trp_clocks"}},
      {"tccd_s_clocks", t.tccd_s, "burst_clocks", t.burst_clocks, {"burst_clocks"}},
      {"tccd_l_clocks", t.tccd_l, "tCCD_S", t.tccd_s, {"tccd_s_clocks"}},
      {"trrd_s_clocks", t.trrd_s, "act_clocks", t.act_clocks, {"act_clocks"}},
      {"trrd_l_clocks", t.trrd_l, "tRRD_S", t.trrd_s, {"trrd_s_clocks"}},
      {"tfaw_clocks", t.tfaw, "tRRD_S", t.trrd_s, {"trrd_s_clocks"}},
      {"twtr_l_clocks", t.twtr_l, "tWTR_S", t.twtr_s, {"twtr_s_clocks"}},
  };
  for (const auto& rule : rules) {
    if (rule.value >= rule.bound) continue;
    return BrokenRule{rule.key,
                      fmt::format("{} {} is less than {}, which is {}", rule.key, rule.value,
                                  rule.bound_text, rule.bound),
                      rule.bound_keys};
  }
  return std::nullopt;
}

// What a channel's controller (model/hbm) can hold.
CheckResult check_organisation(const HbmTimings& t) {
  constexpr unsigned kMost = 128;
  constexpr unsigned kBlock = 16;
  const unsigned per_stack = (t.bank_groups * t.banks_per_group + kBlock - 1) / kBlock * kBlock;
  const unsigned banks = t.pseudo_channels * t.stacks * per_stack;
  if (banks <= kMost) return std::nullopt;
  return BrokenRule{"stacks",
                    fmt::format("{} banks in a channel, those of each stack id counted in "
                                "sixteens, are more than {}",
                                banks, kMost),
                    {"pseudo_channels", "bank_groups", "banks_per_group"}};
}

// Between two refreshes of a bank there must be a clock for a burst, else none is ever served.
CheckResult check_time_to_serve(const HbmTimings& t) {
  const unsigned trcd = std::max(t.trcd_rd, t.trcd_wr);
  if (t.trefi <= t.trfc + trcd) {
    return BrokenRule{"trefi_clocks",
                      fmt::format("refresh and opening a row take tRFC + tRCD = {} of every {}",
                                  t.trfc + trcd, t.trefi),
                      {"trfc_clocks", "trcd_rd_clocks", "trcd_wr_clocks"}};
  }
  const unsigned banks = t.stacks * t.bank_groups * t.banks_per_group;
  const unsigned taken = t.trfc_pb + trcd;
  if (t.trefi_pb == 0 || t.trefi_pb * banks > taken) return std::nullopt;
  return BrokenRule{"trefi_pb_clocks",
                    fmt::format("refresh of a bank and opening a row take tRFCpb + tRCD = {} of "
                                "every {}, which is {} for each of {} banks",
                                taken, t.trefi_pb * banks, t.trefi_pb, banks),
                    {"trfc_pb_clocks", "trcd_rd_clocks", "trcd_wr_clocks", "stacks", "bank_groups",
                     "banks_per_group"}};
}

CheckResult check_refresh(const HbmTimings& t) {
  if ((t.trfc_pb == 0) != (t.trefi_pb == 0)) {
    return BrokenRule{"trefi_pb_clocks",
                      "trfc_pb_clocks and trefi_pb_clocks are both 0 or neither",
                      {"trfc_pb_clocks"}};
  }
  if (t.trefi_pb != 0 && t.trefi_pb <= t.trrefd) {
    return BrokenRule{"trefi_pb_clocks",
                      fmt::format("{} leaves no time between refreshes that take tRREFD = {}",
                                  t.trefi_pb, t.trrefd),
                      {"trrefd_clocks"}};
  }
  return check_time_to_serve(t);
}

}  // namespace

BrokenRule with_prefix(const std::string& prefix, BrokenRule rule) {
  if (!rule.key.empty()) rule.key = prefix + rule.key;
  for (auto& key : rule.others) {
    if (!key.empty()) key = prefix + key;
  }
  return rule;
}

CheckResult check_timings(const HbmTimings& timings) {
  if (auto broken = check_organisation(timings)) return broken;
  if (auto broken = check_bank_rules(timings)) return broken;
  return check_refresh(timings);
}

CheckResult check_hbm(const HbmConfig& hbm) {
  const HbmTimings& t = hbm.timings;
  if (auto broken = check_timings(t)) {
    return with_prefix("hbm.timings.", *broken);
  }
  constexpr Bytes kPage = Bytes{2} << 20;  // requirements.md M2
  if (hbm.usable % kPage != 0) {
    return BrokenRule{"hbm.usable_mib", "is no multiple of the 2 MiB page"};
  }
  if (hbm.installed < hbm.usable) {
    return BrokenRule{"hbm.installed_mib",
                      fmt::format("installed_mib {} is less than usable_mib {}",
                                  hbm.installed >> 20, hbm.usable >> 20),
                      {"hbm.usable_mib"}};
  }
  const Bytes rows = Bytes{hbm.channels} * t.pseudo_channels * t.stacks * t.bank_groups *
                     t.banks_per_group * t.row;
  if (hbm.installed % rows != 0) {
    return BrokenRule{"hbm.installed_mib",
                      fmt::format("installed_mib {} is no multiple of {} KiB, a row of every bank",
                                  hbm.installed >> 20, rows >> 10),
                      {"hbm.channels"}};
  }
  if (hbm.interleave_groups > t.bank_groups) {
    return BrokenRule{"hbm.interleave_groups",
                      fmt::format("{} is more than the {} bank groups of a rank",
                                  hbm.interleave_groups, t.bank_groups),
                      {"hbm.timings.bank_groups"}};
  }
  const Bytes most = t.row * hbm.interleave_groups;
  if (hbm.interleave < t.burst || hbm.interleave > most) {
    return BrokenRule{
        "hbm.interleave_bytes",
        fmt::format("{} is not from {} to {}, one burst to a row of each bank group that an "
                    "interleave takes",
                    hbm.interleave, t.burst, most),
        {"hbm.interleave_groups", "hbm.timings.burst_bytes", "hbm.timings.row_bytes"}};
  }
  if (hbm.write_low_percent >= hbm.write_high_percent) {
    return BrokenRule{"hbm.write_low_percent",
                      fmt::format("write_low_percent {} is not below write_high_percent {}",
                                  hbm.write_low_percent, hbm.write_high_percent),
                      {"hbm.write_high_percent"}};
  }
  return std::nullopt;
}

}  // namespace npu::model
