// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/tried_card.hpp"

#include "workloads/programs/support/copy_path.hpp"

namespace npu::workloads {

Result<TriedCard> TriedCard::open(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  const auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  return TriedCard{context, std::move(*device), *stream};
}

Status TriedCard::copy(const driver::DmaCommand& command, driver::WaitPolicy policy) {
  return device->copy(stream, command, policy, deadline_of(context));
}

Status TriedCard::round_trip(std::uint64_t seed) {
  constexpr Bytes kSize = 8_KiB;
  const auto path =
      CopyPath::create(context, *device, stream, abi::DmaOpcode::kHostToDevice, kSize, kSize);
  if (!path) return forward_error(path);
  if (auto ok = (*path)->prepare(0, kSize, seed); !ok) return ok;
  if (auto ok = copy((*path)->command(0, kSize)); !ok) return ok;
  return (*path)->verify(0, kSize, seed, "round trip");
}

}  // namespace npu::workloads
