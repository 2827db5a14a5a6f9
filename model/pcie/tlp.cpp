// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/tlp.hpp"

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

constexpr Bytes kShortHeader = 12;
constexpr Bytes kLongHeader = 16;
constexpr Bytes kPasidPrefix = 4;  // PCIe 6.20: End-End TLP prefix
constexpr Bytes kInvalidationData = 8;
constexpr Bytes kTranslationData = 8;  // ATS: one translation completion entry

// Payload is whole double words; byte enables mask the rest.
Bytes whole_dwords(std::uint64_t address, Bytes length) {
  return ceil_div(address % 4 + length, 4) * 4;
}

// Most are one piece, which needs no division.
std::uint32_t pieces_of(Bytes length, Bytes most) {
  return length != 0 && length <= most ? 1 : static_cast<std::uint32_t>(ceil_div(length, most));
}

// Completions of one read request: none larger than MPS, the first ends on a boundary.
std::uint32_t completions_of(std::uint64_t address, Bytes length, Bytes max_payload,
                             Bytes boundary) {
  const Bytes first = max_payload - address % boundary;
  if (length <= first) return 1;
  return static_cast<std::uint32_t>(1 + ceil_div(length - first, max_payload));
}

}  // namespace

TlpHeader tlp_header(const tlm::tlm_generic_payload& payload, const Transaction& info) {
  const std::uint64_t address = payload.get_address() & ~std::uint64_t{3};
  const bool is_long = address >> 32;
  const auto dwords = static_cast<std::uint32_t>(
      whole_dwords(payload.get_address(), payload.get_data_length()) / 4);
  // Fmt: bit 30 with data, bit 29 four double words; 1024 double words are written as 0.
  const std::uint32_t first =
      (payload.is_write() ? 1U << 30 : 0) | (is_long ? 1U << 29 : 0) | (dwords & 0x3FF);
  const std::uint32_t second = std::uint32_t{info.requester} << 16 | 0xF | (dwords > 1 ? 0xF0 : 0);
  const auto low = static_cast<std::uint32_t>(address);
  if (!is_long) return {first, second, low, 0};
  return {first, second, static_cast<std::uint32_t>(address >> 32), low};
}

TlpHeader completion_header(const tlm::tlm_generic_payload& payload, const Transaction& info) {
  constexpr std::uint32_t kCompletion = 0x0A000000, kWithData = 1U << 30;
  const bool has_data = payload.is_read() && info.completion == Completion::kSuccess;
  const Bytes bytes = payload.get_data_length();
  const auto dwords =
      static_cast<std::uint32_t>(whole_dwords(payload.get_address(), bytes) / 4) & 0x3FF;
  return {kCompletion | (has_data ? kWithData | dwords : 0),
          static_cast<std::uint32_t>(bytes & 0xFFF), std::uint32_t{info.requester} << 16, 0};
}

TlpTrain request_train(const tlm::tlm_generic_payload& payload, const Transaction& info,
                       const LinkConfig& link) {
  TlpTrain train;
  const std::uint64_t address = payload.get_address();
  const Bytes length = payload.get_data_length();
  train.uses_credits = info.posted;
  if (info.posted) train.kind = TlpKind::kPosted;
  if (info.kind == TransactionKind::kConfig) {
    if (payload.is_write()) train.payload = 4;
    return train;
  }
  if (info.kind == TransactionKind::kInvalidation) {  // a message with data, PCIe 10.3.1
    train.uses_credits = true;
    train.kind = TlpKind::kPosted;
    train.header = kLongHeader;
    train.payload = kInvalidationData;
    return train;
  }
  if (info.kind == TransactionKind::kPageRequest || info.kind == TransactionKind::kPageResponse) {
    train.header = kLongHeader + kPasidPrefix;  // messages without data, PCIe 10.4.1, 10.4.2
    return train;
  }
  train.header = address >> 32 ? kLongHeader : kShortHeader;
  if (info.pasid != 0) train.header += kPasidPrefix;
  if (info.kind == TransactionKind::kTranslation) return train;
  if (payload.is_write()) {
    train.payload = whole_dwords(address, length);
    train.count = pieces_of(train.payload, link.max_payload);
  } else {
    train.count = pieces_of(length, link.max_read_request);
  }
  return train;
}

TlpTrain completion_train(const tlm::tlm_generic_payload& payload, const Transaction& info,
                          const LinkConfig& link, Bytes boundary) {
  TlpTrain train;
  train.uses_credits = true;
  train.kind = TlpKind::kCompletion;
  if (info.kind == TransactionKind::kInvalidation) {  // a message without data, PCIe 10.3.2
    train.kind = TlpKind::kPosted;
    train.header = kLongHeader;
    return train;
  }
  const bool has_data =
      info.completion == Completion::kSuccess || info.completion == Completion::kPoisoned;
  if (info.kind == TransactionKind::kTranslation) {
    if (has_data) train.payload = kTranslationData;
    return train;
  }
  if (!has_data || payload.is_write()) return train;
  if (info.kind == TransactionKind::kConfig) {
    train.payload = 4;
    return train;
  }
  const std::uint64_t address = payload.get_address();
  const Bytes length = payload.get_data_length();
  train.payload = whole_dwords(address, length);
  const Bytes whole = length / link.max_read_request;
  const Bytes rest = length % link.max_read_request;
  train.count = static_cast<std::uint32_t>(
      whole * completions_of(address, link.max_read_request, link.max_payload, boundary));
  if (rest > 0) train.count += completions_of(address, rest, link.max_payload, boundary);
  return train;
}

}  // namespace npu::model
