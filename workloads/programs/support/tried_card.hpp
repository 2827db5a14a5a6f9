// SPDX-License-Identifier: Apache-2.0
// A card with one stream, for programs that try whether a card does what it should.
#pragma once

#include <memory>

#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

struct TriedCard {
  // Errors are those of open_card() and of Device::create_stream().
  static Result<TriedCard> open(Context& context);

  // Until the context's deadline. Errors are those of Device::copy().
  Status copy(const driver::DmaCommand& command,
              driver::WaitPolicy policy = driver::WaitPolicy::kAdaptive);
  // Some data to the card and back: whether it still works. kWrongData, and the errors of the
  // driver.
  Status round_trip(std::uint64_t seed);

  Context& context;
  std::unique_ptr<driver::Device> device;
  driver::StreamId stream;
};

}  // namespace npu::workloads
