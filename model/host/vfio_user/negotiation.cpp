// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/negotiation.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace npu::model::vfio_user {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxText = 64 << 10;  // QEMU sends some 150 bytes

// The text behind the version; an empty object if there is none. Discarded: malformed.
Json parse_text(const std::vector<std::byte>& payload) {
  const std::size_t size = payload.size() - sizeof(VersionHead);
  if (size == 0) return Json::object();
  const auto* text = reinterpret_cast<const char*>(payload.data()) + sizeof(VersionHead);
  const bool terminated =
      text[size - 1] == '\0' && std::find(text, text + size - 1, '\0') == text + size - 1;
  if (size > kMaxText || !terminated) return Json(Json::value_t::discarded);
  return Json::parse(text, text + size - 1, nullptr, false);
}

// Answers a number with min(number, ours), at least 1; false if it is none.
bool agree_on_minimum(const Json& ours_and_theirs, const char* name, std::uint64_t ours,
                      Json& reply, std::uint32_t* agreed) {
  const auto found = ours_and_theirs.find(name);
  if (found == ours_and_theirs.end()) return true;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() == 0) return false;
  const std::uint64_t value = std::min(ours, found->get<std::uint64_t>());
  if (agreed != nullptr) *agreed = static_cast<std::uint32_t>(value);
  reply[name] = value;
  return true;
}

bool agree_on_page_sizes(const Json& proposed, Json& reply) {
  const auto found = proposed.find("pgsizes");
  if (found == proposed.end()) return true;
  if (!found->is_number_unsigned()) return false;
  // Ranges are multiples of 4 KiB here, so larger pages are fine too.
  const std::uint64_t common = found->get<std::uint64_t>() & ~(kPageSize - 1);
  reply["pgsizes"] = common;
  return common != 0;
}

bool agree_on_write_multiple(const Json& proposed, Json& reply, bool& agreed) {
  const auto found = proposed.find("write_multiple");
  if (found == proposed.end()) return true;
  if (!found->is_boolean()) return false;
  agreed = found->get<bool>();
  reply["write_multiple"] = agreed;
  return true;
}

bool agree_on_fds(const Json& proposed, Json& reply) {
  const auto found = proposed.find("max_msg_fds");
  if (found == proposed.end()) return true;
  reply["max_msg_fds"] = kMaxMessageFds;  // what we can receive; we send none
  return found->is_number_unsigned();
}

}  // namespace

int negotiate(const std::vector<std::byte>& payload, Agreement& agreement, std::string& reply) {
  if (payload.size() < sizeof(VersionHead)) return EINVAL;
  auto head = load<VersionHead>(payload);
  if (head.major != kMajorVersion) return EINVAL;
  head.minor = std::min(head.minor, kMinorVersion);
  agreement.minor = head.minor;
  const Json text = parse_text(payload);
  if (!text.is_object()) return EINVAL;
  Json ours = Json::object();
  const auto theirs = text.find("capabilities");
  if (theirs != text.end()) {
    if (!theirs->is_object()) return EINVAL;
    const bool agreed =
        agree_on_fds(*theirs, ours) &&
        agree_on_minimum(*theirs, "max_data_xfer_size", kMaxDataTransfer, ours,
                         &agreement.max_data_transfer) &&
        agree_on_minimum(*theirs, "max_dma_maps", kMaxDmaMaps, ours, &agreement.max_dma_maps) &&
        agree_on_page_sizes(*theirs, ours) &&
        agree_on_write_multiple(*theirs, ours, agreement.write_multiple);
    if (!agreed) return EINVAL;
  }
  reply.assign(reinterpret_cast<const char*>(&head), sizeof head);
  reply += Json{{"capabilities", std::move(ours)}}.dump();
  reply += '\0';
  return 0;
}

}  // namespace npu::model::vfio_user
